package web

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Field is a param of a service in the form, as its JSON Schema describes it.
type Field struct {
	ID, Name, Label, Unit string
	Kind                  string // choice, number, whole, yes, json, rate or text
	Help, Default         string
	Options               []string
	Min, Max, Pattern     string
	Required              bool
}

// fieldOf is one of the job itself.
func fieldOf(name, kind, label, placeholder, help string) Field {
	return Field{ID: strings.ReplaceAll(name, ".", "-"), Name: name, Kind: kind, Label: label, Default: placeholder, Help: help}
}

// FieldGroup is fields that belong together.
type FieldGroup struct {
	Title  string
	Fields []Field
}

type paramSchema struct {
	Properties map[string]struct {
		Type        json.RawMessage `json:"type"`
		Description string          `json:"description"`
		Default     any             `json:"default"`
		Enum        []string        `json:"enum"`
		Minimum     *float64        `json:"minimum"`
		Maximum     *float64        `json:"maximum"`
		Pattern     string          `json:"pattern"`
	} `json:"properties"`
	Required []string `json:"required"`
}

// Needed are the fields that a job cannot be without.
func (o Offer) Needed() (needed []Field, err error) {
	fields, err := o.fields()
	return slices.DeleteFunc(fields, func(f Field) bool { return !f.Required }), err
}

// Groups are the other fields, in the order in which people think of them.
func (o Offer) Groups() ([]FieldGroup, error) {
	fields, err := o.fields()
	var groups []FieldGroup
	for _, f := range fields {
		if f.Required {
			continue
		}
		title := wordsOfParam(f.Name).group
		if len(groups) == 0 || groups[len(groups)-1].Title != title {
			groups = append(groups, FieldGroup{Title: title})
		}
		last := &groups[len(groups)-1]
		last.Fields = append(last.Fields, f)
	}
	return groups, err
}

// fields are all but the preset, which is chosen from a list of its own.
func (o Offer) fields() ([]Field, error) {
	var schema paramSchema
	if err := json.Unmarshal(o.Schema, &schema); err != nil {
		return nil, fmt.Errorf("the schema of %s: %w", o.Name, err)
	}
	delete(schema.Properties, "preset")
	var fields []Field
	for name, p := range schema.Properties {
		said := wordsOfParam(name)
		f := Field{
			ID: strings.ReplaceAll(o.Name, ".", "-") + "-" + name, Name: name, Label: said.label, Unit: said.unit, Help: Sentence(p.Description),
			Options: p.Enum, Pattern: p.Pattern, Min: limit(p.Minimum), Max: limit(p.Maximum),
			Required: slices.Contains(schema.Required, name), Kind: kindOf(string(p.Type), p.Enum != nil),
		}
		if p.Default != nil {
			f.Default = fmt.Sprint(p.Default)
		}
		fields = append(fields, f)
	}
	slices.SortFunc(fields, func(a, b Field) int { return compareParams(a.Name, b.Name) })
	return fields, nil
}

// kindOf is how a value of such a type is asked for.
func kindOf(jsonType string, isEnum bool) string {
	switch {
	case isEnum:
		return "choice"
	case strings.HasPrefix(jsonType, "["):
		return "rate" // a number, or one that ends in k or M
	}
	kinds := map[string]string{`"number"`: "number", `"integer"`: "whole", `"boolean"`: "yes", `"object"`: "json"}
	if kind := kinds[jsonType]; kind != "" {
		return kind
	}
	return "text"
}

func limit(n *float64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}
