package main

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
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

// typedParams gives each -p the type that the service's schema says. A name that
// the service does not have is found here, before a long upload; the values are
// the server's to judge.
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
		return nil, err
	}
	typed := map[string]any{}
	if s.preset != "" {
		if !slices.ContainsFunc(service.Presets, func(p api.Preset) bool { return p.Name == s.preset }) {
			return nil, usagef("%s has no preset %q; see rendermac services %s", s.service, s.preset, s.service)
		}
		typed["preset"] = s.preset
	}
	for key, text := range given {
		p, ok := schema.Properties[key]
		if !ok {
			return nil, usagef("%s has no param %q; see rendermac services %s", s.service, key, s.service)
		}
		if typed[key], err = p.value(key, text); err != nil {
			return nil, err
		}
	}
	return typed, nil
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

// paramSchema is as much of a JSON Schema as a command line needs.
type paramSchema struct {
	Properties map[string]property `json:"properties"`
}

type property struct {
	Type        types           `json:"type"`
	Description string          `json:"description"`
	Default     json.RawMessage `json:"default"`
	Enum        []any           `json:"enum"`
}

// types is a schema's type: a word, or a list of them.
type types []string

func (t *types) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*t = types{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(t))
}

func readSchema(text json.RawMessage) (*paramSchema, error) {
	schema := &paramSchema{}
	return schema, json.Unmarshal(text, schema)
}

// value is text as p's type; without one it stays text.
func (p property) value(key, text string) (any, error) {
	for _, t := range p.Type {
		switch t {
		case "integer", "number":
			if _, err := strconv.ParseFloat(text, 64); err == nil && json.Valid([]byte(text)) {
				return json.Number(text), nil
			}
		case "boolean":
			if b, err := strconv.ParseBool(text); err == nil {
				return b, nil
			}
		case "object", "array":
			if json.Valid([]byte(text)) {
				return json.RawMessage(text), nil
			}
		default: // string
			return text, nil
		}
	}
	if len(p.Type) > 0 {
		return nil, usagef("-p %s must be of type %s, not %q", key, strings.Join(p.Type, " or "), text)
	}
	return text, nil
}
