package server

import (
	"crypto/sha256"
	"encoding/base64"
	"reflect"

	"rendermac/api"
)

// A cursor is the id after which a list goes on, bound to the list's route: what
// is no cursor of this list is refused, and never a wrong page.

const cursorSum = 4 // bytes of digest before the id

func sealCursor(route, id string) string {
	sum := sha256.Sum256([]byte(route + "\x00" + id))
	return base64.RawURLEncoding.EncodeToString(append(sum[:cursorSum:cursorSum], id...))
}

func openCursor(route, text string) (id string, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) <= cursorSum {
		return "", false
	}
	id = string(raw[cursorSum:])
	return id, sealCursor(route, id) == text
}

// open takes a request's cursor apart before its handler sees it.
func (p *Paging) open(route string) error {
	if p.Cursor == "" {
		return nil
	}
	id, ok := openCursor(route, p.Cursor)
	if !ok {
		return invalid(api.Fault{Location: "query.cursor", Message: "is no cursor of this list: take next_cursor as it was given, or leave it out for the first page"})
	}
	p.Cursor = id
	return nil
}

// seal closes the cursor of an answer that has one.
func (b *body[T]) seal(route string) {
	answer := reflect.ValueOf(b.Body)
	if answer.Kind() != reflect.Struct {
		return
	}
	next := answer.FieldByName("NextCursor")
	if !next.IsValid() {
		return
	}
	if cursor, is := next.Interface().(*string); is && cursor != nil {
		*cursor = sealCursor(route, *cursor)
	}
}
