package server

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"rendermac/api"

	"github.com/danielgtaylor/huma/v2"
)

// What the scan lets through means one thing: whatever order its keys are read
// in, and however a reader folds their case, the request is the same.
func FuzzBody(f *testing.F) {
	for _, text := range exampleBodies {
		f.Add([]byte(text))
	}
	for _, text := range []string{
		`{"service":"a","Service":"b"}`, `{"service":"a","\u0073ervice":"b"}`, `{"label\u017f":{},"labels":{"a":"1"}}`, `{"labels":{"a":"1","A":"2"}}`,
		`{"inputs":[{"job_id":"a","JOB_ID":"b"}]}`, `{"params":{"a":{"b":1,"B":2}}}`, `{"priority":1e400}`, `{"priority":-0}`, `[]`, `null`, "\"\xff\"", `{} {}`,
		strings.Repeat(`[`, 40) + strings.Repeat(`]`, 40),
	} {
		f.Add([]byte(text))
	}
	schemas := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	schema := schemas.Schema(reflect.TypeFor[api.JobRequest](), true, "JobRequest")
	f.Fuzz(func(t *testing.T, body []byte) {
		if scanBody(body, schema, schemas) != nil {
			return
		}
		var one, other api.JobRequest
		if json.Unmarshal(body, &one) != nil {
			return // of a kind that the schema refuses
		}
		if err := json.Unmarshal(reversed(body), &other); err != nil {
			t.Fatalf("read backwards, %s is no request: %v", body, err)
		}
		if got, want := asText(other), asText(one); got != want {
			t.Fatalf("%s means %s, and read backwards %s", body, want, got)
		}
	})
}

// reversed is the same JSON with the keys of every object in reverse order.
func reversed(body []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var out bytes.Buffer
	var value func()
	value = func() {
		token, _ := d.Token() // valid JSON: scanBody has said so
		delim, is := token.(json.Delim)
		if !is {
			text, _ := json.Marshal(token)
			out.Write(text)
			return
		}
		var members []string
		for d.More() {
			start := out.Len()
			if delim == '{' {
				key, _ := d.Token()
				text, _ := json.Marshal(key)
				out.Write(append(text, ':'))
			}
			value()
			members = append(members, string(out.Bytes()[start:]))
			out.Truncate(start)
		}
		end, _ := d.Token()
		if delim == '{' {
			slices.Reverse(members)
		}
		out.WriteString(delim.String() + strings.Join(members, ",") + end.(json.Delim).String())
	}
	value()
	return out.Bytes()
}

// asText is a request in words; params by what they mean, not how they are written.
func asText(r api.JobRequest) string {
	var params any
	_ = json.Unmarshal(r.Params, &params)
	r.Params, _ = json.Marshal(params)
	text, _ := json.Marshal(r)
	return string(text)
}
