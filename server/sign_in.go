package server

import (
	"context"
	"net/http"

	"rendermac/api"
	"rendermac/fence"
	"rendermac/store"
	"rendermac/web"

	"github.com/labstack/echo/v4"
)

// cookied answers with nothing but a cookie.
type cookied struct {
	SetCookie string `header:"Set-Cookie" doc:"the session, as rendermac_PORT; HttpOnly, SameSite=Strict"`
}

// createSignIn makes a link for the key that asks. A session makes none: whoever
// had got hold of one would never be signed out.
func (s *Server) createSignIn(ctx context.Context, c call, _ *struct{}) (*body[api.SignIn], error) {
	if c.session {
		return nil, refuse(http.StatusForbidden, api.CodeForbidden, "A session makes no sign-in links; ask with an API key, as rendermac dashboard does.")
	}
	link, err := s.o.DB.CreateSignIn(ctx, c.key.ID)
	if err != nil {
		return nil, err
	}
	return answerWith(api.SignIn{URL: s.base(c.echo) + "/sign-in#" + link.Token, ExpiresAt: link.ExpiresAt}), nil
}

// signIn opens a session by a link's token or by a key. Another site may not do it
// either: who follows its link would work in somebody else's account.
func (s *Server) signIn(ctx context.Context, c call, in *struct{ Body api.SessionRequest }) (*cookied, error) {
	if (in.Body.Token == "") == (in.Body.Key == "") {
		return nil, invalid(api.Fault{Location: "token", Message: "must be there, or else key must: one of the two"})
	}
	if sessionToken(c.echo) != "" || c.echo.Request().Header.Get("Origin") != "" {
		if no := s.crossSite(c.echo); no != nil {
			return nil, no
		}
	}
	before := sessionToken(c.echo)
	session, err := s.openSession(ctx, in.Body)
	switch fence.CodeOf(err) {
	case fence.CodeNotFound:
		return nil, s.wrong(c.echo, unauthenticated("This API key is unknown or was revoked; look whether it is whole, or ask an admin for another.", `Bearer realm="rendermac"`))
	case store.CodeBadSignIn:
		return nil, s.wrong(c.echo, s.refusalOf(err))
	}
	if err != nil {
		return nil, err
	}
	s.o.Log.Info("signed in", "key", session.Key.ID, "from", c.echo.RealIP())
	if before != "" { // the browser forgets it
		if err := s.endSession(ctx, before); err != nil {
			return nil, err
		}
	}
	return &cookied{s.keepCookie(c.echo, session.Token, store.SessionTTL)}, nil
}

func (s *Server) openSession(ctx context.Context, r api.SessionRequest) (store.SignedIn, error) {
	if r.Token != "" {
		return s.o.DB.RedeemSignIn(ctx, r.Token)
	}
	return s.o.DB.OpenSession(ctx, r.Key)
}

// signOut ends the browser's session, if it has one, and takes the cookie back.
func (s *Server) signOut(ctx context.Context, c call, _ *struct{}) (*cookied, error) {
	if token := sessionToken(c.echo); token != "" {
		if no := s.crossSite(c.echo); no != nil {
			return nil, no
		}
		if _, open, err := s.signedIn(c.echo); err != nil {
			return nil, err
		} else if open {
			if err := s.endSession(ctx, token); err != nil {
				return nil, err
			}
		}
	}
	return &cookied{s.keepCookie(c.echo, "", 0)}, nil
}

// endSession ends the session's streams as well.
func (s *Server) endSession(ctx context.Context, token string) error {
	defer s.feed.doubt()
	return s.o.DB.CloseSession(ctx, token)
}

// signInPage knows whether there is a session; a link's token, behind the #, only the
// browser sees.
func (s *Server) signInPage(c echo.Context) error {
	key, signedIn, err := s.signedIn(c)
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, s.frame(call{server: s, echo: c}, "Sign in", ""), web.SignIn{SignedIn: signedIn, Key: key.Name})
}
