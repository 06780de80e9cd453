package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"rendermac/api"
	"rendermac/store"

	"github.com/danielgtaylor/huma/v2"
)

const (
	keyHeader = "Idempotency-Key"
	maxKey    = 255
)

// made answers a request that makes something, or had it made before.
type made[T any] struct {
	Replayed string `header:"Idempotency-Replayed" doc:"true where an earlier request with this Idempotency-Key has made it"`
	Body     T
}

func madeOf[T any](m store.Made, v T) *made[T] {
	out := &made[T]{Body: v}
	if m.Replayed {
		out.Replayed = "true"
	}
	return out
}

// keyed makes a route honour Idempotency-Key. The route that a key belongs to is
// the path as it was asked for: one key may retry two jobs.
func keyed(m *mount, op *huma.Operation) {
	least, most := 1, maxKey
	op.Parameters = append(op.Parameters, &huma.Param{
		Name: keyHeader, In: "header", Schema: &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &most},
		Description: "Printable characters. The same key and body within 24 h make nothing new: the answer is what the first request has made, as it is now, with Idempotency-Replayed: true. Another body is 422 idempotency_key_reused. Errors are not kept.",
	})
	op.Middlewares = append(op.Middlewares, func(ctx huma.Context, next func(huma.Context)) {
		c := callOf(ctx.Context())
		if err := c.recall(ctx.Operation()); err != nil {
			_ = answer(c.echo, m.server.refusalOf(err)) // a client that has gone hears nothing
			return
		}
		next(huma.WithValue(ctx, callKey{}, c))
	})
}

// recall looks up the key before the request itself is looked at: what was made once
// is answered though the same request would be refused by now.
func (c *call) recall(op *huma.Operation) error {
	r := c.echo.Request()
	given := r.Header.Values(keyHeader)
	if len(given) == 0 {
		return nil
	}
	if len(given) > 1 || !isKey(given[0]) {
		return invalid(api.Fault{Location: "header." + keyHeader, Message: "must be one key of 1 to 255 printable characters"})
	}
	body, no := bounded(c.echo, bodyLimit(op))
	if no != nil {
		return no
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	sum := sha256.Sum256(body)
	c.once = store.Once{
		AccountID: c.key.AccountID, Route: r.Method + " " + r.URL.Path, Key: given[0],
		BodyHash: hex.EncodeToString(sum[:]), Status: op.DefaultStatus,
	}
	var err error
	c.made, err = c.server.o.DB.Recall(r.Context(), c.once)
	return err
}

func isKey(key string) bool {
	n := utf8.RuneCountInString(key)
	return n >= 1 && n <= maxKey && utf8.ValidString(key) && !strings.ContainsFunc(key, func(r rune) bool { return !unicode.IsPrint(r) })
}
