package media

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Catalogue is the services as a server offers them: with its own presets. The
// zero value has none. What such a preset resolves to needs nothing of it later.
type Catalogue struct{ own map[string]*Service }

// Lookup finds a service by name.
func (c Catalogue) Lookup(name string) (*Service, bool) {
	if s, ok := c.own[name]; ok {
		return s, true
	}
	return Lookup(name)
}

// All lists the services by name.
func (c Catalogue) All() []*Service {
	all := All()
	for i, s := range all {
		if own, ok := c.own[s.Name]; ok {
			all[i] = own
		}
	}
	return all
}

var presetName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// Add takes a preset up. A fault's location is "", "service", or a param.
func (c *Catalogue) Add(service string, own Preset) *Fault {
	if !presetName.MatchString(own.Name) {
		return &Fault{"", "must be named with 1 to 64 letters, digits, - and _, and begin with a letter or digit"}
	}
	for _, s := range All() {
		if slices.ContainsFunc(s.presets, func(p Preset) bool { return p.Name == own.Name }) {
			return &Fault{"", "is a preset that RenderMac has: give yours another name"}
		}
	}
	s, ok := c.Lookup(service)
	if !ok {
		return &Fault{"service", fmt.Sprintf("is %q: no service has this name; rendermac services lists them", service)}
	}
	s, fault := s.with(own)
	if fault != nil {
		return fault
	}
	if c.own == nil {
		c.own = map[string]*Service{}
	}
	c.own[service] = s
	return nil
}

// with is the same service with one preset more, whose params must be right by
// themselves, as a job's are.
func (d definition[P]) with(fields fieldList, own Preset) (*Service, *Fault) {
	if fields.find("preset") == nil {
		return nil, &Fault{"service", "is " + d.name + ", which takes no presets"}
	}
	sent, faults := scanParams(own.Params)
	if len(sent) == 0 && faults == nil {
		return nil, &Fault{"", "sets no params of " + d.name}
	}
	if sent.has("preset") {
		return nil, &Fault{"preset", "cannot stand in a preset: name the params themselves"}
	}
	params, tried := new(P), new(P)
	faults = append(faults, fields.decode(params, sent)...)
	fields.decode(tried, sent)
	if len(faults) == 0 {
		faults = d.settle(tried, sent)
	}
	if len(faults) > 0 {
		return nil, &Fault{strings.TrimPrefix(strings.TrimPrefix(faults[0].Location, "params"), "."), faults[0].Message}
	}
	d.presets = append(slices.Clone(d.presets), presetOf[P]{own.Name, own.Title, *params})
	return d.service(), nil
}
