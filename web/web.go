// Package web is what a browser is shown: embedded templates and styles, no
// build step, and no request to any other host. It renders what it is handed.
package web

import (
	"embed"
	"html/template"
	"io"
	"io/fs"
)

// CSP allows our own style sheet and nothing else.
const CSP = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed templates/*.html css/*.css
var files embed.FS

var templates = template.Must(template.ParseFS(files, "templates/*.html"))

// Home is what the front page says.
type Home struct{ Version, URL string }

// Render writes the front page.
func (h Home) Render(w io.Writer) error { return templates.ExecuteTemplate(w, "home.html", h) }

// Style is a style sheet by its name.
func Style(name string) ([]byte, error) { return fs.ReadFile(files, "css/"+name) }
