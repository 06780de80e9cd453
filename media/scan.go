package media

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
)

// paramSet is what the buyer sent, by name.
type paramSet map[string]json.RawMessage

func (s paramSet) has(name string) bool { _, ok := s[name]; return ok }

// text is the param as a string, empty where it is none.
func (s paramSet) text(name string) (text string) {
	_ = json.Unmarshal(s[name], &text)
	return text
}

// plainName keeps a stranger's key out of a location unless it is harmless.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_]{1,64}$`)

func location(name string) string {
	if !plainName.MatchString(name) {
		return "params"
	}
	return "params." + name
}

// scanParams reads the object token by token, since encoding/json would keep
// the last of two equal names silently.
func scanParams(raw json.RawMessage) (paramSet, []Fault) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return paramSet{}, nil
	}
	notObject := []Fault{{"params", "must be a JSON object"}}
	if raw[0] != '{' || !json.Valid(raw) {
		return paramSet{}, notObject
	}
	set, faults := paramSet{}, []Fault(nil)
	dec := json.NewDecoder(bytes.NewReader(raw))
	_, _ = dec.Token()
	for dec.More() {
		key, err := dec.Token()
		name, _ := key.(string)
		var value json.RawMessage
		if err != nil || dec.Decode(&value) != nil {
			return paramSet{}, notObject
		}
		if set.has(name) {
			faults = append(faults, Fault{location(name), "is there twice; give it once"})
		}
		set[name] = value
	}
	return set, faults
}

func sortedNames(s paramSet) []string {
	names := make([]string, 0, len(s))
	for name := range s {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func isControl(r rune) bool { return r < 0x20 || (r >= 0x7f && r < 0xa0) }
