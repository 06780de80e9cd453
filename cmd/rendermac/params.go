package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"rendermac/api"
	"rendermac/media"
)

// pairs reads key=value arguments of a flag.
func pairs(flag string, args []string) (map[string]string, error) {
	var all map[string]string
	for _, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		if !ok || key == "" {
			return nil, usagef("%s must be key=value, not %q", flag, arg)
		}
		if all == nil {
			all = map[string]string{}
		}
		all[key] = value
	}
	return all, nil
}

// typedParams gives each -p the type that the service's schema says. All that
// the schema refuses is found here at once, before a long upload, and what one
// param means for another where this build knows the service as the server does.
func (s *submission) typedParams(ctx context.Context) (map[string]any, error) {
	given, err := pairs("-p", s.params)
	if err != nil {
		return nil, err
	}
	service, err := findService(ctx, s.client, s.service)
	if err != nil {
		return nil, err
	}
	schema, err := readSchema(service.Params)
	if err != nil {
		return nil, fmt.Errorf("the server's schema of %s cannot be read: %w", s.service, err)
	}
	typed, wrong := map[string]any{}, []string{}
	if s.preset != "" {
		typed["preset"] = s.preset
		wrong = append(wrong, presetFault(service, s.preset)...)
	}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		value, fault := schema.typed(key, given[key])
		if fault != "" {
			wrong = append(wrong, fault)
		}
		typed[key] = value
	}
	for _, key := range schema.Required {
		if _, ok := typed[key]; !ok {
			wrong = append(wrong, fmt.Sprintf("%s needs -p %s=…", s.service, key))
		}
	}
	if len(wrong) == 0 {
		wrong = pairFaults(service, typed)
	}
	if len(wrong) > 0 {
		return nil, usagef("%s; see rendermac services %s", strings.Join(wrong, "; "), s.service)
	}
	return typed, nil
}

// pairFaults is which params exclude each other. The server has the last word,
// after the upload; a preset of its own is taken for the params that it sets.
func pairFaults(service *api.Service, typed map[string]any) (wrong []string) {
	ours, ok := media.Lookup(service.Name)
	if !ok || !sameParams(ours.Schema(), service.Params) {
		return nil
	}
	all := map[string]any{}
	for _, p := range service.Presets {
		known := slices.ContainsFunc(ours.Presets(), func(o media.Preset) bool { return o.Name == p.Name })
		if p.Name == typed["preset"] && !known {
			_ = json.Unmarshal(p.Params, &all) // what cannot be read is the server's to judge
		}
	}
	own := len(all) > 0
	maps.Copy(all, typed)
	if own {
		delete(all, "preset")
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return nil
	}
	_, faults := ours.Resolve(raw)
	for _, f := range faults {
		wrong = append(wrong, "-p "+strings.TrimPrefix(f.Location, "params.")+" "+f.Message)
	}
	return wrong
}

// sameParams tells whether two schemas are alike but for the names of presets.
func sameParams(a, b json.RawMessage) bool {
	var both [2]struct {
		Properties map[string]any `json:"properties"`
		Required   []string       `json:"required"`
	}
	for i, text := range []json.RawMessage{a, b} {
		if json.Unmarshal(text, &both[i]) != nil {
			return false
		}
		delete(both[i].Properties, "preset")
	}
	return reflect.DeepEqual(both[0], both[1])
}

// presetFault is one sentence where the service has no such preset.
func presetFault(service *api.Service, preset string) []string {
	var names []string
	for _, p := range service.Presets {
		if p.Name == preset {
			return nil
		}
		names = append(names, p.Name)
	}
	if len(names) == 0 {
		return []string{fmt.Sprintf("%s has no presets, so not %q", service.Name, preset)}
	}
	return []string{fmt.Sprintf("%s has no preset %q: choose one of %s", service.Name, preset, strings.Join(names, ", "))}
}

// findService is the service of this name; the error names those that are there.
func findService(ctx context.Context, client *api.Client, name string) (*api.Service, error) {
	services, err := client.Services(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for i, s := range services {
		if s.Name == name {
			return &services[i], nil
		}
		names = append(names, s.Name)
	}
	return nil, usagef("there is no service %q here: choose one of %s", name, strings.Join(names, ", "))
}
