package media

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// field is one param: a struct field and what its tags say. A zero value means
// "not given", so a range that takes zero is a default of zero, or a pointer.
type field struct {
	index      []int
	name, help string
	kind       reflect.Kind
	isBitrate  bool
	required   bool
	enum       []string
	pattern    *regexp.Regexp // of text; form says it in words
	form       string
	min, max   float64
	def        string
}

// maxObject is how many bytes of JSON an object may be.
const maxObject = 256 << 10

type fieldList []field

// fieldsOf reads the tags json, help, required, enum, pattern and form, min, max
// and default of a struct. The fields of one that is embedded count as its own,
// but for those that it has under the same name.
func fieldsOf(params any) fieldList {
	var list fieldList
	for _, sf := range reflect.VisibleFields(reflect.TypeOf(params).Elem()) {
		if sf.Anonymous {
			continue
		}
		f := field{index: sf.Index, help: sf.Tag.Get("help"), def: sf.Tag.Get("default"), kind: sf.Type.Kind()}
		if f.kind == reflect.Pointer {
			f.kind = sf.Type.Elem().Kind()
		}
		f.name, _, _ = strings.Cut(sf.Tag.Get("json"), ",")
		f.isBitrate = sf.Type == reflect.TypeFor[bitrate]()
		_, f.required = sf.Tag.Lookup("required")
		if p := sf.Tag.Get("pattern"); p != "" {
			f.pattern, f.form = regexp.MustCompile(p), sf.Tag.Get("form")
		}
		if e := sf.Tag.Get("enum"); e != "" {
			f.enum = strings.Split(e, ",")
		}
		f.min, _ = strconv.ParseFloat(sf.Tag.Get("min"), 64)
		f.max, _ = strconv.ParseFloat(sf.Tag.Get("max"), 64)
		list = append(list, f)
	}
	return list
}

func (l fieldList) find(name string) *field {
	for i := range l {
		if l[i].name == name {
			return &l[i]
		}
	}
	return nil
}

// without leaves out params of an embedded struct that mean nothing to a service.
func (l fieldList) without(names []string) fieldList {
	return slices.DeleteFunc(l, func(f field) bool { return slices.Contains(names, f.name) })
}

// bySender leaves out what only presets say: it has no help, and a job cannot
// ask for it.
func (l fieldList) bySender() fieldList {
	return slices.DeleteFunc(slices.Clone(l), func(f field) bool { return f.help == "" })
}

// sendable is of params what a job could ask for.
func (l fieldList) sendable(params json.RawMessage) json.RawMessage {
	all, _ := scanParams(params)
	maps.DeleteFunc(all, func(name string, _ json.RawMessage) bool { return l.find(name) == nil })
	return marshal(all)
}

func (l fieldList) allow(name, value string) {
	if f := l.find(name); f != nil {
		f.enum = append(f.enum, value)
	}
}

// decode puts what was sent over what is in params already.
func (l fieldList) decode(params any, sent paramSet) []Fault {
	v, faults := reflect.ValueOf(params).Elem(), []Fault(nil)
	for _, name := range sortedNames(sent) {
		f := l.find(name)
		if f == nil {
			faults = append(faults, Fault{location(name), "is no param of this service" + l.suggestion(name)})
			continue
		}
		if msg := f.set(v.FieldByIndex(f.index), sent[name]); msg != "" {
			faults = append(faults, Fault{location(name), msg})
		}
	}
	return faults
}

// missing are the required params that neither the buyer nor a preset gave.
func (l fieldList) missing(params any, sent paramSet) (faults []Fault) {
	v := reflect.ValueOf(params).Elem()
	for _, f := range l {
		if f.required && v.FieldByIndex(f.index).IsZero() && !sent.has(f.name) {
			faults = append(faults, Fault{location(f.name), "is required"})
		}
	}
	return faults
}

func (l fieldList) suggestion(name string) string {
	for _, f := range l {
		if strings.EqualFold(strings.ReplaceAll(f.name, "_", ""), strings.NewReplacer("_", "", "-", "").Replace(name)) {
			return "; did you mean " + f.name + "?"
		}
	}
	return ""
}

// set decodes one value; the answer is what is wrong with it, or "".
func (f *field) set(v reflect.Value, raw json.RawMessage) string {
	fresh := reflect.New(v.Type())
	if string(raw) == "null" || json.Unmarshal(raw, fresh.Interface()) != nil {
		return "must be " + f.kindName()
	}
	value := fresh.Elem()
	if f.kind == reflect.String {
		if strings.ContainsFunc(value.String(), isControl) {
			return "must not hold control characters"
		}
		if f.enum != nil && !slices.Contains(f.enum, value.String()) {
			return "must be one of " + strings.Join(f.enum, ", ")
		}
		if f.pattern != nil && !f.pattern.MatchString(value.String()) {
			return "must be " + f.form
		}
	}
	if f.isObject() {
		if raw[0] != '{' {
			return "must be " + f.kindName()
		}
		if len(raw) > maxObject {
			return fmt.Sprintf("must be at most %d bytes of JSON", maxObject)
		}
	}
	if n, ok := number(reflect.Indirect(value)); ok && (n < f.min || n > f.max || math.IsNaN(n)) {
		return fmt.Sprintf("must be from %s to %s", plain(f.min), plain(f.max))
	}
	v.Set(value)
	return ""
}

// isObject is a JSON object of any content (json.RawMessage).
func (f *field) isObject() bool { return f.kind == reflect.Slice }

func (f *field) kindName() string {
	switch {
	case f.isObject():
		return "a JSON object"
	case f.isBitrate:
		return `bits per second, a whole number or text like "160k" or "4M"`
	case f.kind == reflect.Bool:
		return "true or false"
	case f.kind == reflect.Float64:
		return "a number"
	case f.kind == reflect.String:
		return "text"
	}
	return "a whole number"
}

func number(v reflect.Value) (float64, bool) {
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		return float64(v.Int()), true
	case reflect.Float64:
		return v.Float(), true
	}
	return 0, false
}

func (l fieldList) fillDefaults(params any) {
	v := reflect.ValueOf(params).Elem()
	for _, f := range l {
		if f.def != "" && v.FieldByIndex(f.index).IsZero() {
			if msg := f.set(v.FieldByIndex(f.index), f.defaultJSON()); msg != "" {
				panic(f.name + ": the default " + msg)
			}
		}
	}
}

func (f *field) defaultJSON() json.RawMessage {
	if f.kind == reflect.String {
		return json.RawMessage(strconv.Quote(f.def))
	}
	return json.RawMessage(f.def)
}

func plain(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
