package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// paramSchema is as much of a JSON Schema as a command line needs.
type paramSchema struct {
	Properties map[string]property `json:"properties"`
	Required   []string            `json:"required"`
}

type property struct {
	Type        types           `json:"type"`
	Description string          `json:"description"`
	Default     json.RawMessage `json:"default"`
	Enum        []any           `json:"enum"`
	Minimum     *float64        `json:"minimum"`
	Maximum     *float64        `json:"maximum"`
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

// typed is text as the param's own type, or a sentence that says what is wrong.
func (s *paramSchema) typed(key, text string) (value any, fault string) {
	p, ok := s.Properties[key]
	if !ok {
		return nil, fmt.Sprintf("there is no param %q", key)
	}
	value, ok = p.value(text)
	if !ok {
		return nil, fmt.Sprintf("-p %s must be of type %s, not %q", key, strings.Join(p.Type, " or "), text)
	}
	if want := p.limits(value); want != "" {
		return nil, fmt.Sprintf("-p %s must be %s, not %s", key, want, text)
	}
	return value, ""
}

// limits is what value would have to be, or "" where it is.
func (p property) limits(value any) string {
	if p.Enum != nil && !slices.ContainsFunc(p.Enum, func(e any) bool { return fmt.Sprint(e) == fmt.Sprint(value) }) {
		return "one of " + p.choices()
	}
	number, ok := value.(json.Number)
	if !ok {
		return ""
	}
	n, _ := number.Float64() // value has read it
	switch {
	case p.Minimum != nil && p.Maximum != nil && (n < *p.Minimum || n > *p.Maximum):
		return fmt.Sprintf("%s to %s", plainNumber(*p.Minimum), plainNumber(*p.Maximum))
	case p.Minimum != nil && n < *p.Minimum:
		return "at least " + plainNumber(*p.Minimum)
	case p.Maximum != nil && n > *p.Maximum:
		return "at most " + plainNumber(*p.Maximum)
	}
	return ""
}

func plainNumber(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// value is text as p's type; without one it stays text.
func (p property) value(text string) (value any, ok bool) {
	for _, t := range p.Type {
		switch t {
		case "integer", "number":
			if _, err := strconv.ParseFloat(text, 64); err == nil && json.Valid([]byte(text)) {
				return json.Number(text), true
			}
		case "boolean":
			if b, err := strconv.ParseBool(text); err == nil {
				return b, true
			}
		case "object", "array":
			begins := map[string]string{"object": "{", "array": "["}[t]
			if strings.HasPrefix(strings.TrimSpace(text), begins) && json.Valid([]byte(text)) {
				return json.RawMessage(text), true
			}
		default: // string
			return text, true
		}
	}
	return text, len(p.Type) == 0
}
