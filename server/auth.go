package server

import (
	"context"
	"net/http"
	"strings"

	"rendermac/api"
	"rendermac/fence"
	"rendermac/store"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"
)

// Scopes: each holds those before it.
const (
	scopeNone   = "" // no key, or one of the route's own kind
	scopeRead   = "read"
	scopeSubmit = "submit"
	scopeAdmin  = "admin"
)

var rank = map[string]int{scopeNone: 0, scopeRead: 1, scopeSubmit: 2, scopeAdmin: 3}

// call is who makes a request, and through what.
type call struct {
	server  *Server
	key     store.Key // empty where the scope is none
	session bool      // the key is that of the dashboard's cookie
	echo    echo.Context
	once    store.Once // from its Idempotency-Key, if it has one
	made    store.Made // by an earlier request with that key
}

type callKey struct{}

func callOf(ctx context.Context) call {
	c, _ := ctx.Value(callKey{}).(call)
	return c
}

// sees says whether the key may know of what belongs to an account.
func (c call) sees(account string) bool { return c.isAdmin() || c.key.AccountID == account }

// only is the account that the key is kept to; empty for an admin's.
func (c call) only() string {
	if c.isAdmin() {
		return ""
	}
	return c.key.AccountID
}

func (c call) isAdmin() bool { return c.key.Scope == scopeAdmin }

// authorize lets in whoever has a key of this scope, or a session of one.
func (s *Server) authorize(scope string) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		who := call{server: s, echo: humaecho.Unwrap(ctx)}
		header := who.echo.Response().Header()
		header.Set("Cache-Control", "no-store")
		header.Set("X-Content-Type-Options", "nosniff")
		if scope != scopeNone {
			var err error
			if who.key, who.session, err = s.authenticate(who.echo); err == nil && rank[who.key.Scope] < rank[scope] {
				err = refuse(http.StatusForbidden, api.CodeForbidden, "This key's scope is "+who.key.Scope+"; the route needs "+scope+".")
			}
			if err != nil {
				_ = answer(who.echo, s.refusalOf(err)) // a client that has gone hears nothing
				return
			}
		}
		next(huma.WithValue(ctx, callKey{}, who))
	}
}

const maxWrongKeys = 20 // a minute and address; keys, device tokens and sign-ins together

// authenticate asks for every key in the same way, whatever it looks like. Only
// after it has proved wrong does its address count: a script with a bad key locks
// out nobody who shares its address and has a good one. Without a key, a browser's
// session speaks for the one that has opened it.
func (s *Server) authenticate(c echo.Context) (k store.Key, session bool, err error) {
	header := c.Request().Header.Get("Authorization")
	if header == "" && sessionToken(c) != "" {
		k, err = s.bySession(c)
		return k, true, err
	}
	scheme, key, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return store.Key{}, false, unauthenticated("Send an API key: Authorization: Bearer rm_….", `Bearer realm="rendermac"`)
	}
	k, err = s.o.DB.KeyByPlaintext(c.Request().Context(), key)
	if fence.CodeOf(err) == fence.CodeNotFound {
		err = s.wrong(c, unauthenticated("This API key is unknown or was revoked; ask an admin for another.", `Bearer realm="rendermac", error="invalid_token"`))
	}
	return k, false, err
}

// wrong counts a wrong key, device token or sign-in, and answers no, or how long to wait.
func (s *Server) wrong(c echo.Context, no *refusal) *refusal {
	if _, wait := s.wrongKeys.begin(c.RealIP()); wait > 0 {
		return tooMany("wrong keys", wait)
	}
	return no
}

func unauthenticated(detail, challenge string) *refusal {
	return refuse(http.StatusUnauthorized, api.CodeUnauthenticated, detail).with("Www-Authenticate", challenge)
}
