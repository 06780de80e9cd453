// Package api is RenderMac's HTTP wire, version 1: the bodies that clients send
// and receive, the codes of its problem documents, and the client that the
// command line uses. JSON is snake_case, times are RFC 3339 UTC, and an absent
// value is null, never left out.
package api

// List is one page of a list. NextCursor asks for the page after it.
type List[T any] struct {
	Items      []T     `json:"items" nullable:"false"`
	NextCursor *string `json:"next_cursor" doc:"pass it as ?cursor= for the next page; null on the last. A page that looks through many may be short, even empty: go on while it is not null"`
}
