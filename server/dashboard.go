package server

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"rendermac/web"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

// shower makes what a page shows to whoever asks for it. A page that says itself
// what is wrong with what was asked for comes with the error.
type shower func(context.Context, call) (web.Page, error)

var compressed = middleware.GzipWithConfig(middleware.GzipConfig{MinLength: 1000})

// dashboard mounts what a browser is shown.
func dashboard(handle echo.HandlerFunc) endpoint { return plain(compressed(handle), describePage) }

// page is a page of the dashboard. Whoever has no session signs in first and
// comes back.
func (s *Server) page(title, at string, show shower) echo.HandlerFunc {
	return func(c echo.Context) error {
		key, session, err := s.authenticate(c)
		if isUnauthenticated(err) {
			c.Response().Header().Set("Cache-Control", "no-store")
			return c.Redirect(http.StatusSeeOther, "/sign-in?next="+url.QueryEscape(c.Request().URL.RequestURI()))
		}
		if err != nil {
			return err
		}
		who := call{server: s, key: key, session: session, echo: c}
		_, newest, err := s.o.DB.EventIDs(c.Request().Context()) // before the page: what happens meanwhile is told to it
		if err != nil {
			return err
		}
		frame := s.frame(who, title, at)
		frame.Event = newest
		content, err := show(c.Request().Context(), who)
		if err != nil {
			no := s.refusalOf(err)
			if content != nil {
				return s.render(c, no.GetStatus(), frame, content)
			}
			frame.Title = no.Title
			return s.render(c, no.GetStatus(), frame, web.Fault{Title: no.Title, Detail: no.Detail})
		}
		return s.render(c, http.StatusOK, frame, content)
	}
}

// isAstray tells of a browser at an address where nothing is.
func isAstray(err error, r *http.Request) bool {
	var h *echo.HTTPError
	return errors.As(err, &h) && h.Code == http.StatusNotFound && r.Method == http.MethodGet &&
		!strings.HasPrefix(r.URL.Path, "/v1/") && strings.Contains(r.Header.Get("Accept"), "text/html")
}

func (s *Server) nowhere(c echo.Context) error {
	return s.page("Not found", "", func(context.Context, call) (web.Page, error) { return nil, notFound("page") })(c)
}

func isUnauthenticated(err error) bool {
	r, is := err.(*refusal)
	return is && r.GetStatus() == http.StatusUnauthorized
}

func (s *Server) frame(who call, title, at string) web.Frame {
	host := strings.TrimPrefix(strings.TrimPrefix(s.base(who.echo), "https://"), "http://")
	return web.Frame{
		Title: title, At: at, Installation: host, Key: who.key.Name, Scope: who.key.Scope, Version: s.o.Version, Query: who.echo.QueryParam("q"),
	}
}

func (s *Server) render(c echo.Context, status int, frame web.Frame, content web.Page) error {
	var text bytes.Buffer
	if err := web.Render(&text, frame, content); err != nil {
		return err
	}
	s.webHeaders(c)
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.HTMLBlob(status, text.Bytes())
}

func (s *Server) asset(c echo.Context) error {
	a, err := web.AssetByPath(c.Param("*"))
	if err != nil {
		return echo.ErrNotFound
	}
	s.webHeaders(c)
	h := c.Response().Header()
	h.Set("Cache-Control", "no-cache") // asked for again after an upgrade; 304 costs nothing
	h.Set("Etag", a.ETag)
	if c.Request().Header.Get("If-None-Match") == a.ETag {
		return c.NoContent(http.StatusNotModified)
	}
	return c.Blob(http.StatusOK, a.Type, a.Text)
}

func (s *Server) webHeaders(c echo.Context) {
	h := c.Response().Header()
	h.Set("Content-Security-Policy", web.CSP(s.o.StoreOrigin))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer") // a form's post would say "Origin: null": everything is sent by fetch
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

func describePage(m *mount, op *huma.Operation) {
	op.Description = "For people, not programs."
	for _, name := range []string{"id", "path"} {
		if strings.Contains(op.Path, "{"+name+"}") {
			op.Parameters = append(op.Parameters, &huma.Param{Name: name, In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}})
		}
	}
	m.responds(op, "text/*", &huma.Schema{Type: huma.TypeString})
}
