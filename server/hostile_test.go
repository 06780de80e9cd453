package server

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rendermac/api"

	"github.com/getkin/kin-openapi/openapi3"
)

// Hostile requests, made of each route's own example: what follows from one of
// them is a problem that the document has, never a 500, never the value that was
// sent, and no row.

const hostileValue = "s3cretvalue"

// freeText are strings that may have control characters, with the reason.
var freeText = map[string]string{
	"createUpload name": "a file is named as its owner has named it",
	"pair device":       "what a machine says of itself is kept as it says it",
}

// hostileServer lets each request come from an address of its own, so that none
// is refused for those before it.
func hostileServer(t *testing.T) *httpServer {
	return mustServe(t, func(o *Options) { o.TrustedProxies = []string{"127.0.0.0/8"} })
}

func TestHostile_Bodies(t *testing.T) {
	for _, r := range mustServe(t).srv.table() {
		if exampleBodies[r.id] == nil {
			continue
		}
		t.Run(r.id, func(t *testing.T) {
			t.Parallel()
			calm, h := hostileServer(t), hostileServer(t)
			calm.exampleOf(r, calm.mustDocument().Paths.Value(r.path).GetOperation(r.method))
			op := h.mustDocument().Paths.Value(r.path).GetOperation(r.method)
			path, body, _ := h.exampleOf(r, op)
			a := &attack{httpServer: h, op: op, method: r.method, path: path, body: body.([]byte)}
			a.whole()
			a.keys()
			a.values()
			if got, want := h.rowCounts(), calm.rowCounts(); !maps.Equal(got, want) {
				t.Errorf("after %d hostile bodies the rows are %v, want %v", a.n, got, want)
			}
		})
	}
}

type attack struct {
	*httpServer
	op           *openapi3.Operation
	method, path string
	body         []byte
	n            int
}

// refused sends a body; codes are those that it may be answered with, any if none.
func (a *attack) refused(what string, body []byte, codes ...string) {
	a.Helper()
	a.sent(what, body, "application/json", codes...)
}

func (a *attack) sent(what string, body []byte, kind string, codes ...string) {
	a.Helper()
	a.n++
	r := a.do(a.method, a.path, a.admin, body, "Content-Type", kind, "X-Forwarded-For", fmt.Sprintf("203.0.%d.%d", a.n>>8&255, a.n&255))
	shown := body[:min(len(body), 300)]
	if r.StatusCode < 400 || r.StatusCode >= 500 {
		a.Errorf("%s: %s was answered with %d: %s", what, shown, r.StatusCode, r.body)
		return
	}
	a.isDescribed(a.op, r)
	p := into[api.Error](r)
	if len(codes) > 0 && !slices.Contains(codes, p.Code) {
		a.Errorf("%s: %s was refused as %s, want %v", what, shown, p.Code, codes)
	}
	if strings.Contains(string(r.body), hostileValue) {
		a.Errorf("%s: the answer repeats what was sent: %s", what, r.body)
	}
}

// whole replaces the body.
func (a *attack) whole() {
	limit := maxBody
	if a.op.OperationID == "createBatch" {
		limit = 8 << 20
	}
	a.refused("too large", append(bytes.Repeat([]byte(" "), limit+1-len(a.body)), a.body...), api.CodeTooLarge)
	deep := strings.Repeat(`[`, 10_000) + strings.Repeat(`]`, 10_000)
	a.refused("deep", []byte(`{"name":`+deep+`}`), api.CodeBadJSON)
	a.refused("deeper than the decoder goes", []byte(strings.Repeat(`{"a":`, 20_000)+`1`+strings.Repeat(`}`, 20_000)), api.CodeBadJSON)
	for _, text := range []string{`{`, `{"a"}`, `nul`, `{} {}`, "{\"name\":\"\xff\xfe\"}", "\xef\xbb\xbf{}", "{\"a\":\"\x01\"}", `{"a":01}`, `{'a':1}`, "\x00"} {
		a.refused("broken", []byte(text), api.CodeBadJSON)
	}
	for _, text := range []string{`[]`, `"` + hostileValue + `"`, `7`, `true`} {
		a.refused("no object", []byte(text), api.CodeInvalid)
	}
	if a.op.RequestBody.Value.Required {
		a.refused("nothing", nil, api.CodeBadJSON)
		a.refused("null", []byte(`null`))
	}
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonx", ";", "application/xml"} {
		a.sent("as "+kind, a.body, kind, api.CodeUnsupportedType)
	}
}

// keys doubles each key, writes it in another case, and adds one.
func (a *attack) keys() {
	var top map[string]json.RawMessage
	_ = json.Unmarshal(a.body, &top) // our own example
	for key, value := range top {
		twice := append([]byte(fmt.Sprintf(`{%q:%s,`, key, value)), a.body[1:]...)
		a.refused("twice", twice, api.CodeBadJSON)
		a.refused("in another case", bytes.Replace(a.body, []byte(`"`+key+`"`), []byte(`"`+strings.ToUpper(key)+`"`), 1), api.CodeBadJSON)
	}
	for at := range bytes.SplitSeq(a.body, []byte(`{`)) { // objects within: the first key of each, twice
		if key, rest, ok := bytes.Cut(at, []byte(`:`)); ok && len(key) > 2 && key[0] == '"' && len(rest) > 0 {
			a.refused("twice within", bytes.Replace(a.body, append([]byte(`{`), key...), append(append([]byte(`{`), key...), append([]byte(`:1,`), key...)...), 1), api.CodeBadJSON)
		}
	}
	a.refused("unknown", append([]byte(`{"<`+hostileValue+`>":"`+hostileValue+`",`), a.body[1:]...), api.CodeInvalid)
	a.refused("unknown and empty", append([]byte(`{"":1,`), a.body[1:]...), api.CodeInvalid)
}

// values puts at each place of the body what does not belong there.
func (a *attack) values() {
	d := json.NewDecoder(bytes.NewReader(a.body))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		a.Fatal(err)
	}
	a.walk(tree, "", func(v any) []byte {
		text, err := json.Marshal(v)
		if err != nil {
			a.Fatal(err)
		}
		return text
	})
}

// walk visits each value; whole makes the body with another one in its place.
func (a *attack) walk(v any, at string, whole func(any) []byte) {
	if at != "" {
		for _, wrong := range wrongFor(v) {
			if wrong == `1.5` && (at == "requires.min_memory_gb" || at == "jobs.params.fps") {
				continue
			}
			a.refused("wrong at "+at, whole(json.RawMessage(wrong)))
		}
	}
	switch t := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(t)) {
			a.walk(t[key], strings.TrimPrefix(at+"."+key, "."), func(other any) []byte {
				changed := maps.Clone(t)
				changed[key] = other
				return whole(changed)
			})
		}
	case []any:
		for i := range t {
			a.walk(t[i], at, func(other any) []byte {
				changed := slices.Clone(t)
				changed[i] = other
				return whole(changed)
			})
		}
	case string:
		place, _, _ := strings.Cut(at, ".")
		if freeText[a.op.OperationID+" "+place] != "" {
			return
		}
		for _, control := range []string{"\x00", "\x1b[2J", "\n", "\u0085"} {
			a.refused("control character at "+at, whole(t+control))
		}
	}
}

// wrongFor are values that are wrong where v is right. A null is taken for
// absence where the schema lets a thing be absent, so that it is not among them.
func wrongFor(v any) []string {
	huge := []string{`1e400`, `-1e400`, `1e19`, `18446744073709551616`, `-9223372036854775809`, `9223372036854775808`, `1.5`}
	text := `"` + hostileValue + `"`
	switch v.(type) {
	case string:
		return append(huge, `7`, `true`, `[]`, `{}`, `[`+text+`]`, `-0`)
	case json.Number:
		return append(huge, text, `true`, `[]`, `{}`, `"1"`)
	case bool:
		return append(huge, text, `1`, `[]`, `{}`, `"true"`)
	case []any:
		return append(huge, text, `true`, `{}`, `7`)
	case map[string]any:
		return append(huge, text, `true`, `[]`, `7`)
	}
	return nil
}

// rowCounts ends the store, since nobody else may open its file before, and
// counts the rows of each table.
func (h *httpServer) rowCounts() map[string]int {
	h.Helper()
	if err := h.db.Close(); err != nil {
		h.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(h.dir, "rendermac.db"))
	if err != nil {
		h.Fatal(err)
	}
	defer db.Close()
	var list string
	if err := db.QueryRow(`SELECT group_concat(name) FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'`).Scan(&list); err != nil {
		h.Fatal(err)
	}
	counts := map[string]int{}
	for table := range strings.SplitSeq(list, ",") {
		var n int
		if err := db.QueryRow(`SELECT count(*) FROM "` + table + `"`).Scan(&n); err != nil {
			h.Fatal(err)
		}
		counts[table] = n
	}
	return counts
}
