package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rendermac/api"
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
// the schema refuses is found here at once, before a long upload; what one param
// means for another is the server's to judge.
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
	if len(wrong) > 0 {
		return nil, usagef("%s; see rendermac services %s", strings.Join(wrong, "; "), s.service)
	}
	return typed, nil
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
