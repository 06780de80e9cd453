package media

import (
	"encoding/json"
	"reflect"
)

// schema derives the JSON Schema that says the same as decode does.
func (l fieldList) schema(title string) json.RawMessage {
	properties, required := map[string]any{}, []string(nil)
	for _, f := range l {
		properties[f.name] = f.schema()
		if f.required {
			required = append(required, f.name)
		}
	}
	whole := map[string]any{"title": title, "type": "object", "additionalProperties": false, "properties": properties}
	if required != nil {
		whole["required"] = required
	}
	raw, err := json.Marshal(whole)
	if err != nil {
		panic(err)
	}
	return raw
}

func (f *field) schema() map[string]any {
	s := map[string]any{"description": f.help}
	switch {
	case f.isBitrate:
		s["type"] = []string{"integer", "string"}
		s["pattern"] = bitrateText.String()
	case f.isObject():
		s["type"] = "object"
	case f.kind == reflect.String:
		s["type"] = "string"
	case f.kind == reflect.Bool:
		s["type"] = "boolean"
	case f.kind == reflect.Float64:
		s["type"] = "number"
	default:
		s["type"] = "integer"
	}
	if f.pattern != nil {
		s["pattern"] = f.pattern.String()
	}
	if f.enum != nil {
		s["enum"] = f.enum
	}
	if f.min != 0 || f.max != 0 {
		s["minimum"], s["maximum"] = f.min, f.max
	}
	if f.def != "" {
		s["default"] = f.defaultJSON()
	}
	return s
}
