package web

import "time"

// Account is who jobs and keys belong to, and where its credits are.
type Account struct {
	ID, Name  string
	Limit     *int64 // nil: none
	Left      *int64 // of the limit; nil: without limit
	Held      int64
	Spent     int64
	CreatedAt time.Time
}

// Balance says what may still be used.
func (a Account) Balance() string {
	switch {
	case a.Limit == nil || a.Left == nil:
		return "No limit"
	case *a.Left < 0:
		return thousands(-*a.Left) + " over its limit of " + thousands(*a.Limit)
	}
	return thousands(*a.Left) + " left of " + thousands(*a.Limit)
}

// Accounts is a page of them, the oldest first.
type Accounts struct {
	Rows []Account
	Paging
}

// Paging leads through a list; an address that is empty leads nowhere.
type Paging struct{ First, Next string }

// Key is an API key as it can be seen after it was made.
type Key struct {
	ID, Name  string
	Account   string
	Scope     string
	CreatedAt time.Time
	RevokedAt *time.Time
	Own       bool // it has opened this session
}

// May says what a key's scope lets it do.
func (k Key) May() string { return scopes[k.Scope] }

var scopes = map[string]string{
	"read":   "see its account's jobs",
	"submit": "see and submit its account's jobs",
	"admin":  "everything, for all accounts",
}

// Keys is a page of them, the newest first.
type Keys struct {
	Revoked bool // whether these are the revoked ones
	Rows    []Key
	Paging
}

// Choices lead to those that work, and to the others.
func (k Keys) Choices() []choice {
	return []choice{{"In use", "/settings#api-keys", !k.Revoked}, {"Revoked", "/settings?revoked=1#api-keys", k.Revoked}}
}
