package server

import (
	"bytes"
	"net/http"
	"strings"

	"rendermac/web"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"
)

// home is the front page, for whoever follows the server's address.
func (s *Server) home(c echo.Context) error {
	var page bytes.Buffer
	if err := (web.Home{Version: s.o.Version, URL: s.base(c)}).Render(&page); err != nil {
		return err
	}
	webHeaders(c)
	return c.HTMLBlob(http.StatusOK, page.Bytes())
}

func (s *Server) style(c echo.Context) error {
	text, err := web.Style(c.Param("name"))
	if err != nil {
		return echo.ErrNotFound
	}
	webHeaders(c)
	c.Response().Header().Set("Cache-Control", "max-age=3600")
	return c.Blob(http.StatusOK, "text/css; charset=utf-8", text)
}

func webHeaders(c echo.Context) {
	h := c.Response().Header()
	h.Set("Content-Security-Policy", web.CSP)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
}

func describePage(m *mount, op *huma.Operation) {
	op.Description = "For people, not programs."
	if strings.Contains(op.Path, "{name}") {
		op.Parameters = []*huma.Param{{Name: "name", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}}}
	}
	m.responds(op, "text/*", &huma.Schema{Type: huma.TypeString})
}
