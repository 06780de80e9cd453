package server

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"rendermac/api"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"
)

// codeStatus is the status of each code, as docs/api.md lists them.
var codeStatus = map[string]int{
	api.CodeBadJSON: 400, api.CodeUnauthenticated: 401, api.CodeCreditExhausted: 402,
	api.CodeForbidden: 403, api.CodeBadSignature: 403, api.CodeBadCode: 403, api.CodeBadSignIn: 403, api.CodeNotFound: 404,
	api.CodeJobTerminal: 409, api.CodeJobNotSucceeded: 409, api.CodeJobNotTerminal: 409, api.CodeJobNotQueued: 409,
	api.CodeUploadIncomplete: 409, api.CodePartHeld: 409, api.CodeDeviceRevoked: 409, api.CodeLastAdminKey: 409,
	api.CodeOutputDeleted: 410, api.CodeTooLarge: 413, api.CodeUnsupportedType: 415, api.CodeBadRange: 416,
	api.CodeInvalid: 422, api.CodeDigestMismatch: 422, api.CodeKeyReused: 422, api.CodeTooManyRequests: 429,
	api.CodeInternal: 500, api.CodeStoreUnavailable: 503, api.CodeInsufficientSpace: 507,
}

// ownCodes are those of one operation; what many have follows from its form.
var ownCodes = map[string][]string{
	"completeUpload": {api.CodeUploadIncomplete, api.CodeDigestMismatch},
	"putBlob":        {api.CodeBadSignature, api.CodePartHeld, api.CodeDigestMismatch, api.CodeInsufficientSpace},
	"getBlob":        {api.CodeBadSignature, api.CodeNotFound, api.CodeBadRange},
	"headBlob":       {api.CodeBadSignature, api.CodeNotFound, api.CodeBadRange},
	"createJob":      {api.CodeCreditExhausted},
	"createBatch":    {api.CodeCreditExhausted},
	"cancelJob":      {api.CodeJobTerminal},
	"retryJob":       {api.CodeCreditExhausted, api.CodeJobNotTerminal},
	"changeJob":      {api.CodeJobNotQueued},
	"getOutput":      {api.CodeJobNotSucceeded, api.CodeOutputDeleted},
	"getInput":       {api.CodeJobNotSucceeded, api.CodeOutputDeleted},
	"changeDevice":   {api.CodeDeviceRevoked},
	"revokeKey":      {api.CodeLastAdminKey},
	"pair":           {api.CodeBadCode, api.CodeTooManyRequests},
	"createSignIn":   {api.CodeForbidden},
	"signIn":         {api.CodeForbidden, api.CodeBadSignIn, api.CodeUnauthenticated, api.CodeTooManyRequests, api.CodeInsufficientSpace},
	"signOut":        {api.CodeForbidden, api.CodeInsufficientSpace},
	"connect":        {api.CodeUnauthenticated, api.CodeTooManyRequests},
	"asset":          {api.CodeNotFound},
	"getMetrics":     {api.CodeForbidden},
}

// problemsOf are the codes that an operation may answer with.
func (m *mount) problemsOf(r route, op *huma.Operation) []string {
	codes := append([]string{api.CodeInternal, api.CodeStoreUnavailable}, ownCodes[r.id]...)
	if m.typed[r.id] { // an unknown query parameter, if nothing else
		codes = append(codes, api.CodeInvalid)
	}
	if r.scope != scopeNone {
		codes = append(codes, api.CodeUnauthenticated, api.CodeTooManyRequests)
		if r.scope != scopeRead {
			codes = append(codes, api.CodeForbidden)
		}
		if strings.Contains(r.path, "{id}") {
			codes = append(codes, api.CodeNotFound)
		}
		if r.method != http.MethodGet {
			codes = append(codes, api.CodeInsufficientSpace)
		}
	}
	if op.RequestBody != nil && op.RequestBody.Content[echo.MIMEApplicationJSON] != nil {
		codes = append(codes, api.CodeBadJSON, api.CodeTooLarge, api.CodeUnsupportedType)
	}
	if slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.Name == "Idempotency-Key" }) {
		codes = append(codes, api.CodeKeyReused)
	}
	return codes
}

// describe completes what the document says of a route that was mounted: who may
// use it, each problem with its codes, and an example.
func (m *mount) describe(r route) {
	op := operationAt(m.api.OpenAPI().Paths[r.path], r.method)
	if r.scope != scopeNone {
		op.Security = []map[string][]string{{"key": {r.scope}}}
		if r.id != "createSignIn" {
			op.Security = append(op.Security, map[string][]string{"session": {}})
		}
	}
	delete(op.Responses, "default")
	byStatus := map[int][]string{}
	for _, code := range m.problemsOf(r, op) {
		byStatus[codeStatus[code]] = append(byStatus[codeStatus[code]], code)
	}
	for status, codes := range byStatus {
		op.Responses[strconv.Itoa(status)] = m.problemResponse(status, codes, r.method)
	}
	if r.id == "ready" {
		more := op.Responses["503"].Content[api.ProblemType].Schema
		more.AllOf = append(more.AllOf, degradedSchema)
	}
	exemplify(r, op)
}

// degradedSchema is what api.Degraded adds to a problem.
var degradedSchema = &huma.Schema{
	Type: huma.TypeObject, Required: []string{"health", "away"},
	Properties: map[string]*huma.Schema{
		"health": {Type: huma.TypeString, Enum: []any{"degraded"}},
		"away":   {Type: huma.TypeArray, Description: "what takes no writes just now", Items: &huma.Schema{Type: huma.TypeString, Enum: []any{"database", "artifact store"}}},
	},
}

func (m *mount) problemResponse(status int, codes []string, method string) *huma.Response {
	slices.Sort(codes)
	codes = slices.Compact(codes)
	out := &huma.Response{Description: http.StatusText(status) + ": " + strings.Join(codes, ", ")}
	if method == http.MethodHead {
		return out
	}
	enum := make([]any, len(codes))
	for i, code := range codes {
		enum[i] = code
	}
	out.Content = map[string]*huma.MediaType{api.ProblemType: {Schema: &huma.Schema{AllOf: []*huma.Schema{
		m.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[api.Error](), true, "Error"),
		{Type: huma.TypeObject, Properties: map[string]*huma.Schema{"code": {Type: huma.TypeString, Enum: enum}}},
	}}}}
	if slices.Contains(codes, api.CodeTooManyRequests) || slices.Contains(codes, api.CodeStoreUnavailable) {
		out.Headers = map[string]*huma.Param{"Retry-After": {Description: "seconds to wait, where it is known", Schema: &huma.Schema{Type: huma.TypeString}}}
	}
	return out
}

func operationAt(item *huma.PathItem, method string) *huma.Operation {
	return map[string]*huma.Operation{
		http.MethodGet: item.Get, http.MethodHead: item.Head, http.MethodPost: item.Post,
		http.MethodPut: item.Put, http.MethodPatch: item.Patch, http.MethodDelete: item.Delete,
	}[method]
}

// exemplify gives a route's parameters and body an example: a request that works
// as it stands, once its ids are the server's own. A test sends them all.
func exemplify(r route, op *huma.Operation) {
	for _, p := range op.Parameters {
		if p.In == "path" {
			p.Example = examplePart(r, p.Name)
		}
	}
	text, there := exampleBodies[r.id]
	if op.RequestBody == nil || !there {
		return
	}
	for kind, media := range op.RequestBody.Content {
		if kind == echo.MIMEApplicationJSON {
			media.Example = text
		}
	}
}

// examplePart is a path parameter's example, by what its route is of.
func examplePart(r route, name string) any {
	switch name {
	case "n":
		return 1
	case "path":
		return "css/app.css"
	case "key":
		return "outputs/" + exampleIDs["jobs"] + "/att_01kbd3m8q5w9x2c7e4r6t8y0zb.mp4"
	}
	for _, kind := range slices.Sorted(maps.Keys(exampleIDs)) {
		if strings.Contains(r.path, "/"+kind+"/{id}") {
			return exampleIDs[kind]
		}
	}
	return nil
}
