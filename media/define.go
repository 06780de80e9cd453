package media

import (
	"encoding/json"
	"fmt"
	"strings"
)

// definition is what the file of a service states; P is its params struct.
type definition[P any] struct {
	name, title          string
	minInputs, maxInputs int
	archive              string // what its one input is a zip of: "" none, or Frames or Bundle
	program              string // what runs it: "" is ffmpeg
	presets              []presetOf[P]
	// without and only keep what P has from another service to what this one
	// can do: params that it does not have, and of others the values that it does.
	without []string
	only    map[string][]string
	// settle brings preset and explicit params together and refuses pairs
	// that exclude each other; sent names the params that the buyer sent.
	settle func(p *P, sent paramSet) []Fault
	needs  func(p *P, in []*InputMedia) []string
	output func(p *P) Output
	plan   func(p *P, in []Input, env Env) (Plan, error)
	expect func(p *P, in []*InputMedia) Expectation
}

type presetOf[P any] struct {
	name, title string
	params      P
}

// define puts a service into the catalogue.
func define[P any](d definition[P]) *Service {
	s := d.service()
	services[d.name] = s
	return s
}

// service is what d states. The params of a service are one struct; its "preset"
// field, if it has one, takes the names of the presets.
func (d definition[P]) service() *Service {
	all := fieldsOf(new(P)).without(d.without)
	for name, values := range d.only {
		all.find(name).enum = values
	}
	fields := all.bySender()
	for _, p := range d.presets {
		fields.allow("preset", p.name)
	}
	return &Service{
		Name: d.name, Title: d.title, MinInputs: d.minInputs, MaxInputs: d.maxInputs, Program: d.program, Archive: d.archive,
		schema: fields.schema(d.title), presets: listed(fields, d.presets),
		resolve: d.resolver(fields),
		accept:  d.resolver(all),
		with:    func(own Preset) (*Service, *Fault) { return d.with(fields, own) },
		needs:   func(raw json.RawMessage, in []*InputMedia) []string { return d.needs(read[P](raw), in) },
		output:  func(raw json.RawMessage) Output { return d.output(read[P](raw)) },
		plan: func(raw json.RawMessage, in []Input, env Env) (Plan, error) {
			if len(in) < d.minInputs || len(in) > d.maxInputs {
				return Plan{}, fmt.Errorf("%s takes %d to %d inputs, this job has %d", d.name, d.minInputs, d.maxInputs, len(in))
			}
			return d.planned(read[P](raw), in, env)
		},
		expect: func(raw json.RawMessage, in []*InputMedia) Expectation { return d.expect(read[P](raw), in) },
	}
}

// planned plans for software too where the plan is for VideoToolbox, which may
// refuse the very file. Where the job asks for hardware there is no such plan.
func (d definition[P]) planned(p *P, in []Input, env Env) (Plan, error) {
	plan, err := d.plan(p, in, env)
	plan.Program = d.program
	if err != nil || !plan.InHardware() {
		return plan, err
	}
	env.Refused = true
	if software, err := d.plan(p, in, env); err == nil {
		software.Warnings = append([]string{"encoded in software: the hardware encoder refused this file"}, software.Warnings...)
		plan.Software = &software
	}
	return plan, nil
}

func (d definition[P]) resolver(fields fieldList) func(json.RawMessage) (json.RawMessage, []Fault) {
	return func(raw json.RawMessage) (json.RawMessage, []Fault) {
		sent, faults := scanParams(raw)
		p := new(P)
		for _, preset := range d.presets {
			if sent.text("preset") == preset.name {
				*p = preset.params
			}
		}
		faults = append(faults, fields.decode(p, sent)...)
		faults = append(faults, fields.missing(p, sent)...)
		for _, f := range faults { // pairs are judged without what is wrong alone
			delete(sent, strings.TrimPrefix(f.Location, "params."))
		}
		if faults = append(faults, d.settle(p, sent)...); len(faults) > 0 {
			return nil, faults
		}
		fields.fillDefaults(p)
		return marshal(p), nil
	}
}

func marshal(params any) json.RawMessage {
	raw, err := json.Marshal(params)
	if err != nil {
		panic(err) // a params struct holds numbers, strings and booleans
	}
	return raw
}

// read takes params that Resolve made; anything it does not know it ignores,
// for they may have been stored by a newer version.
func read[P any](resolved json.RawMessage) *P {
	p := new(P)
	_ = json.Unmarshal(resolved, p)
	return p
}

func listed[P any](fields fieldList, presets []presetOf[P]) []Preset {
	list := make([]Preset, 0, len(presets))
	for _, p := range presets {
		list = append(list, Preset{Name: p.name, Title: p.title, Params: fields.sendable(marshal(p.params))})
	}
	return list
}
