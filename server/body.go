package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"rendermac/api"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"
)

const (
	maxBody     = 1 << 20
	maxNesting  = 32
	bodyTimeout = 30 * time.Second
)

// readBody reads a typed route's body and scans it before huma decodes it: huma
// takes duplicate keys, and keys in another case.
func (m *mount) readBody(ctx huma.Context, next func(huma.Context)) {
	wanted := ctx.Operation().RequestBody
	if wanted == nil {
		next(ctx)
		return
	}
	c := humaecho.Unwrap(ctx)
	body, no := bounded(c, bodyLimit(ctx.Operation()))
	if no == nil && (len(body) > 0 || wanted.Required) {
		no = m.scan(c, body, wanted.Content[echo.MIMEApplicationJSON].Schema)
	}
	if no != nil {
		_ = answer(c, no) // a client that has gone hears nothing
		return
	}
	c.Request().Body = io.NopCloser(bytes.NewReader(body))
	next(ctx)
}

// bodyLimit is how large a body the route takes.
func bodyLimit(op *huma.Operation) int64 { return max(maxBody, op.MaxBodyBytes) }

// bounded reads the body, limited in size and time. The deadline of a body that came
// is taken back: it would end the request while its handler works. That of another
// stays, for net/http reads on before it answers, as slowly as the client sends.
func bounded(c echo.Context, limit int64) ([]byte, *refusal) {
	conn := http.NewResponseController(c.Response())
	_ = conn.SetReadDeadline(time.Now().Add(bodyTimeout)) // a connection without deadlines only waits longer
	body, err := io.ReadAll(http.MaxBytesReader(c.Response(), c.Request().Body, limit))
	if err == nil {
		_ = conn.SetReadDeadline(time.Time{})
	} else {
		c.Response().Header().Set("Connection", "close")
	}
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, tooLarge(limit)
	case err != nil:
		return nil, badJSON("The body broke off; send it again.")
	}
	return body, nil
}

func badJSON(detail string) *refusal { return refuse(http.StatusBadRequest, api.CodeBadJSON, detail) }

func (m *mount) scan(c echo.Context, body []byte, schema *huma.Schema) *refusal {
	if given := c.Request().Header.Get(echo.HeaderContentType); given != "" {
		kind, _, err := mime.ParseMediaType(given)
		if err != nil || kind != echo.MIMEApplicationJSON {
			return refusalOfStatus(http.StatusUnsupportedMediaType)
		}
	}
	return scanBody(body, schema, m.api.OpenAPI().Components.Schemas)
}

func scanBody(body []byte, schema *huma.Schema, schemas huma.Registry) *refusal {
	if !json.Valid(body) || !utf8.Valid(body) {
		return badJSON("The body is not valid JSON.")
	}
	s := scanner{json.NewDecoder(bytes.NewReader(body)), schemas}
	s.UseNumber()
	return s.value(schema, 0)
}

// scanner walks the tokens of valid JSON beside the schema they should follow.
type scanner struct {
	*json.Decoder
	schemas huma.Registry
}

func (s scanner) value(schema *huma.Schema, depth int) *refusal {
	token, err := s.Token()
	if err != nil {
		return badJSON("The body is not valid JSON.")
	}
	if schema != nil && schema.Ref != "" {
		schema = s.schemas.SchemaFromRef(schema.Ref)
	}
	if schema == nil {
		schema = &huma.Schema{}
	}
	switch t := token.(type) {
	case json.Number:
		if f, err := t.Float64(); err != nil || math.IsInf(f, 0) {
			return badJSON("The body holds a number that is out of range.")
		}
	case json.Delim:
		if depth == maxNesting {
			return badJSON("The body is nested too deeply.")
		}
		if t == '{' {
			return s.object(schema, depth+1)
		}
		return s.array(schema, depth+1)
	}
	return nil
}

func (s scanner) array(schema *huma.Schema, depth int) *refusal {
	for s.More() {
		if no := s.value(schema.Items, depth); no != nil {
			return no
		}
	}
	_, _ = s.Token()
	return nil
}

// object refuses what encoding/json would take for the same key: a key that is
// there twice, or in another case than the one it has.
func (s scanner) object(schema *huma.Schema, depth int) *refusal {
	seen := map[string]bool{}
	for s.More() {
		token, _ := s.Token()
		key, _ := token.(string)
		name := strings.ToLower(strings.Map(fold, key))
		if seen[name] || name != key && schema.Properties[name] != nil {
			return badJSON("A key of the body is there twice or in another case than its own; write each once, as it is documented.")
		}
		seen[name] = true
		if no := s.value(schema.Properties[key], depth); no != nil {
			return no
		}
	}
	_, _ = s.Token()
	return nil
}

// fold gives all runes that differ by case only the same one, as encoding/json
// does when it matches keys.
func fold(r rune) rune {
	for {
		next := unicode.SimpleFold(r)
		if next <= r {
			return next
		}
		r = next
	}
}
