package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Preset is one of a server's own: params by name, for one service.
type Preset struct {
	Service, Title string
	Params         json.RawMessage // an object
}

const presetWords = "names with params each, such as {review: {service: ffmpeg.transcode, quality: 40}}"

// parsePresets reads them as JSON: so does the environment give them.
func parsePresets(text string) (map[string]Preset, error) {
	var all map[string]map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return nil, err
	}
	presets := map[string]Preset{}
	for name, params := range all {
		p := Preset{Service: "ffmpeg.transcode", Title: "A preset of this server's own"}
		for key, into := range map[string]*string{"service": &p.Service, "title": &p.Title} {
			if raw, ok := params[key]; ok && (bytes.Equal(raw, []byte("null")) || json.Unmarshal(raw, into) != nil) {
				return nil, errors.New(key + " is no text")
			}
			delete(params, key)
		}
		if params == nil {
			params = map[string]json.RawMessage{}
		}
		p.Params, _ = json.Marshal(params) // it was JSON
		presets[name] = p
	}
	return presets, nil
}

// presets reads the section from a file as JSON, and notes the line of each name
// and param.
func (r *reader) presets(section string, n *yaml.Node) (text string, lines map[string]int, err error) {
	all, lines := map[string]map[string]any{}, map[string]int{}
	for i := 0; i < len(n.Content); i += 2 {
		at, value := n.Content[i], n.Content[i+1]
		name := section + "." + at.Value
		if lines[name] > 0 {
			return "", nil, r.fault(at, "%s stands on line %d already: remove one", name, lines[name])
		}
		if value.Kind != yaml.MappingNode {
			return "", nil, r.fault(value, "%s must hold params by name, and may hold service and title", name)
		}
		lines[name] = at.Line
		if all[at.Value], err = r.preset(name, value, lines); err != nil {
			return "", nil, err
		}
	}
	raw, err := json.Marshal(all) // sorted by name
	return string(raw), lines, err
}

func (r *reader) preset(name string, n *yaml.Node, lines map[string]int) (map[string]any, error) {
	params := map[string]any{}
	for i := 0; i < len(n.Content); i += 2 {
		at, node := n.Content[i], n.Content[i+1]
		key := name + "." + at.Value
		if lines[key] > 0 {
			return nil, r.fault(at, "%s stands on line %d already: remove one", key, lines[key])
		}
		lines[key] = at.Line
		var value any
		err := node.Decode(&value)
		if _, bad := json.Marshal(value); err != nil || bad != nil {
			return nil, r.fault(node, "%s must be a value that JSON has too", key)
		}
		if _, text := value.(string); !text && (at.Value == "service" || at.Value == "title") {
			return nil, r.fault(node, "%s must be text", key)
		}
		params[at.Value] = value
	}
	return params, nil
}

// checkPresets asks those who know the services; what is wrong is named by its
// own line.
func (l *layers) checkPresets(c *Config, check func(name string, p Preset) (param, fault string)) error {
	if check == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(c.Presets)) {
		param, fault := check(name, c.Presets[name])
		if fault == "" {
			continue
		}
		source, section := l.source(key{name: "presets"}), l.entries["presets"]
		place, line := "presets."+name, section.lines["presets."+name]
		if param != "" {
			place += "." + param
			line = max(line, section.lines[place])
		}
		if source == at(l.file, section) {
			source = at(l.file, entry{line: line})
		}
		return fmt.Errorf("%s: %s %s", source, place, fault)
	}
	return nil
}
