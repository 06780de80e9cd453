// Package media is the catalogue of named services: for each its typed
// params (schema, defaults, validation and help come from one struct), its
// presets, the command line the agent runs, and what the result must be.
// No argument, filter or path ever comes from outside as text to execute.
package media

import (
	"encoding/json"
	"sort"

	"rendermac/media/probe"
)

// Fault is one thing wrong with the params, e.g. at "params.width".
type Fault struct {
	Location string `json:"location"`
	Message  string `json:"message"`
}

// Preset is a named set of params.
type Preset struct {
	Name   string          `json:"name"`
	Title  string          `json:"title"`
	Params json.RawMessage `json:"params"`
}

// Output is how the result is named and served.
type Output struct{ Ext, ContentType string }

// Service is one entry of the catalogue.
type Service struct {
	Name, Title          string
	MinInputs, MaxInputs int
	Archive              string // what its one input is a zip of: "" none, or Frames or Bundle
	Program              string // what runs it on the device: "" is ffmpeg, Remotion the user's own

	schema  json.RawMessage
	presets []Preset
	resolve func(json.RawMessage) (json.RawMessage, []Fault)
	accept  func(json.RawMessage) (json.RawMessage, []Fault)
	with    func(Preset) (*Service, *Fault)
	needs   func(json.RawMessage, []*InputMedia) []string
	output  func(json.RawMessage) Output
	plan    func(json.RawMessage, []Input, Env) (Plan, error)
	expect  func(json.RawMessage, []*InputMedia) Expectation
}

var services = map[string]*Service{}

// Lookup finds a service by name.
func Lookup(name string) (*Service, bool) {
	s, ok := services[name]
	return s, ok
}

// All lists the services by name.
func All() []*Service {
	all := make([]*Service, 0, len(services))
	for _, s := range services {
		all = append(all, s)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all
}

// Schema is the JSON Schema of the params.
func (s *Service) Schema() json.RawMessage { return s.schema }

// Presets lists the presets in the order in which they are documented.
func (s *Service) Presets() []Preset { return s.presets }

// Resolve applies the preset, the explicit params over it and the defaults
// under it, and lists every fault.
func (s *Service) Resolve(params json.RawMessage) (json.RawMessage, []Fault) {
	return s.resolve(params)
}

// Accept takes params that were resolved elsewhere, by a preset that need not be
// known here, and changes nothing; its faults are what this build cannot do.
func (s *Service) Accept(resolved json.RawMessage) (json.RawMessage, []Fault) {
	return s.accept(resolved)
}

// Needs lists the features a device must have for these params. What only some
// inputs need (tone-mapping) is listed where an input is known to need it; an
// input that the server could not read (nil) is left to Plan on the device.
func (s *Service) Needs(resolved json.RawMessage, in ...*probe.Media) []string {
	needs := s.needs(resolved, fromProbes(in))
	sort.Strings(needs)
	return needs
}

// Output names the kind of file that the params make.
func (s *Service) Output(resolved json.RawMessage) Output { return s.output(resolved) }

// Plan builds the command line. Its error is one sentence for runner_failed.
func (s *Service) Plan(resolved json.RawMessage, in []Input, env Env) (Plan, error) {
	short, err := cutShort(resolved, in)
	if err != nil {
		return Plan{}, err
	}
	p, err := s.plan(resolved, in, env)
	if err != nil {
		return Plan{}, err
	}
	return p.warning(short), nil
}

// Expect says what the verifier must find. The server's own reading of an input
// counts; where there is none (nil), what the agent's ffprobe said of it.
func (s *Service) Expect(resolved json.RawMessage, in []*probe.Media, inputMedia []json.RawMessage) Expectation {
	inputs := fromProbes(in)
	for i, raw := range inputMedia {
		if i < len(inputs) && inputs[i] != nil {
			continue
		}
		var m InputMedia
		if json.Unmarshal(raw, &m) != nil || len(m.Streams) == 0 {
			continue
		}
		for len(inputs) <= i {
			inputs = append(inputs, nil)
		}
		inputs[i] = &m
	}
	return s.expect(resolved, inputs)
}
