package server

import (
	"cmp"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"rendermac/api"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"
)

// echoPath turns a path of the table into echo's form. A key has slashes in it.
var echoPath = strings.NewReplacer("{key}", "*", "{path}", "*", "{", ":", "}", "")

// newAPI is huma without its own routes: its page loads another host, and its
// hooks would add $schema to every answer.
func newAPI(e *echo.Echo, version string) huma.API {
	c := huma.DefaultConfig("RenderMac", cmp.Or(version, "dev"))
	c.OpenAPIPath, c.DocsPath, c.SchemasPath, c.CreateHooks = "", "", "", nil
	c.RejectUnknownQueryParameters = true // a misspelt filter must not list everything
	c.Info.Description = "A job names a service and its inputs; a paired Mac runs it; the output is verified before it is published."
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"key":     {Type: "http", Scheme: "bearer", Description: "an API key, rm_…"},
		"session": {Type: "apiKey", In: "cookie", Name: "rendermac_PORT", Description: "the dashboard's session; what changes something also needs an Origin that is the server's own"},
		"device":  {Type: "http", Scheme: "bearer", Description: "a device token, rmd_…"},
	}
	return humaecho.New(e, c)
}

// writeDocument makes the OpenAPI document of what was mounted.
func (m *mount) writeDocument() (err error) {
	m.document, err = json.Marshal(m.api.OpenAPI())
	return err
}

func serveDocument(m *mount, op huma.Operation) {
	plain(func(c echo.Context) error {
		return c.JSONBlob(http.StatusOK, m.document)
	}, func(m *mount, op *huma.Operation) {
		m.responds(op, echo.MIMEApplicationJSON, &huma.Schema{Type: huma.TypeObject})
	})(m, op)
}

// responds documents the answer of a route whose type huma does not know.
func (m *mount) responds(op *huma.Operation, kind string, schema *huma.Schema) {
	ok := &huma.Response{Description: http.StatusText(op.DefaultStatus)}
	if kind != "" {
		ok.Content = map[string]*huma.MediaType{kind: {Schema: schema}}
	}
	problem := m.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[api.Error](), true, "Error")
	op.Responses = map[string]*huma.Response{
		strconv.Itoa(op.DefaultStatus): ok,
		"default": {
			Description: "Error",
			Content:     map[string]*huma.MediaType{api.ProblemType: {Schema: problem}},
		},
	}
}

func describeText(m *mount, op *huma.Operation) {
	m.responds(op, "text/plain", &huma.Schema{Type: huma.TypeString})
}

func describeDevice(m *mount, op *huma.Operation) {
	op.Security = []map[string][]string{{"device": {}}}
	m.responds(op, "", nil)
}

func describeBlob(m *mount, op *huma.Operation) {
	describeSigned(op)
	for name, what := range map[string]string{
		"If-Match": "an ETag: 412 where the object is another one", "Range": "bytes=…: only these are answered, with 206", "If-Range": "an ETag: the range only of this very object, else the whole",
		"If-None-Match": "an ETag: nothing but 304 where the object is still this one",
	} {
		op.Parameters = append(op.Parameters, &huma.Param{Name: name, In: "header", Description: what, Schema: &huma.Schema{Type: huma.TypeString}})
	}
	slices.SortFunc(op.Parameters[3:], func(a, b *huma.Param) int { return strings.Compare(a.Name, b.Name) })
	m.responds(op, "*/*", &huma.Schema{Type: huma.TypeString, Format: "binary"})
	header := func(what string) *huma.Param {
		return &huma.Param{Description: what, Schema: &huma.Schema{Type: huma.TypeString}}
	}
	etag := header("the object's SHA-256, in quotes")
	op.Responses["200"].Headers = map[string]*huma.Param{"ETag": etag}
	op.Responses["206"] = &huma.Response{
		Description: "Partial Content: what Range asks for; several ranges as multipart/byteranges", Content: op.Responses["200"].Content,
		Headers: map[string]*huma.Param{"ETag": etag, "Content-Range": header("which bytes, of how many")},
	}
	op.Responses["304"] = &huma.Response{Description: "Not Modified: If-None-Match names this object", Headers: map[string]*huma.Param{"ETag": etag}}
	op.Responses["412"] = &huma.Response{Description: "Precondition Failed: If-Match names another object"}
}

func describePut(m *mount, op *huma.Operation) {
	describeSigned(op)
	op.RequestBody = &huma.RequestBody{
		Description: "the part's bytes, exactly as many as were announced", Required: true,
		Content: map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
	}
	m.responds(op, "", nil)
}

func describeSigned(op *huma.Operation) {
	op.Description = "The signature in the URL is the whole permission; take the URL as it was given."
	op.Parameters = []*huma.Param{
		{Name: "key", In: "path", Required: true, Description: "the object's key, slashes included", Schema: &huma.Schema{Type: huma.TypeString}},
		{Name: "sig", In: "query", Required: true, Schema: &huma.Schema{Type: huma.TypeString}},
		{Name: "expires", In: "query", Required: true, Schema: &huma.Schema{Type: huma.TypeString}},
	}
}
