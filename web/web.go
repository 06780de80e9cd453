// Package web is what a browser is shown: embedded templates, styles and
// modules, no build step, and no request to any other host but the store's. It
// renders what it is handed, and holds every word that is read there.
package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed templates/*.html templates/*/*.html css/*.css js/*.js img/*.svg
var files embed.FS

// CSP allows our own scripts and styles, none of them inline, and the files of
// the store: its origin where it has one of its own.
func CSP(store string) string {
	if store != "" {
		store = " " + store
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'" + store +
		"; media-src 'self'" + store + "; connect-src 'self'" + store +
		"; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}

// Asset is a style sheet or a module.
type Asset struct {
	Type, ETag string
	Text       []byte
}

var types = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

// AssetByPath finds css/app.css, js/live.js and their neighbours.
func AssetByPath(name string) (Asset, error) {
	kind, is := types[path.Ext(name)]
	if !is {
		return Asset{}, fs.ErrNotExist
	}
	text, err := readAsset(name)
	digest := sha256.Sum256(text)
	return Asset{Type: kind, ETag: `W/"` + hex.EncodeToString(digest[:8]) + `"`, Text: text}, err
}

// readAsset puts what all pages share before a page's own style sheet: the first
// frame waits for one answer, not for three.
func readAsset(name string) ([]byte, error) {
	own, err := fs.ReadFile(files, name)
	if err != nil || path.Ext(name) != ".css" || name == "css/app.css" {
		return own, err
	}
	app, err := fs.ReadFile(files, "css/app.css")
	if err != nil {
		return nil, err
	}
	parts, err := fs.ReadFile(files, "css/parts.css")
	return slices.Concat(app, parts, own), err
}

// Page is one of the pages that stand in the frame.
type Page interface {
	template() string // its file, which defines "content"
}

var pages = parse()

// parse makes a set for each page: the frame, the parts, and the page's own,
// which are its file and those in the folder of its name.
func parse() map[string]*template.Template {
	shared := template.Must(template.New("").Funcs(words).ParseFS(files, "templates/frame.html", "templates/parts.html"))
	sets := map[string]*template.Template{}
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil { // the pattern is ours
		panic(err)
	}
	for _, name := range names {
		set := template.Must(template.Must(shared.Clone()).ParseFS(files, name))
		own, err := fs.Glob(files, strings.TrimSuffix(name, ".html")+"/*.html")
		if err != nil { // so is this one
			panic(err)
		}
		if len(own) > 0 {
			set = template.Must(set.ParseFS(files, own...))
		}
		sets[path.Base(name)] = set
	}
	return sets
}

// Render writes a page in its frame.
func Render(w io.Writer, f Frame, p Page) error {
	var page strings.Builder
	if err := pages[p.template()].ExecuteTemplate(&page, "frame", framed{f, p}); err != nil {
		return err
	}
	_, err := io.WriteString(w, shown(page.String()))
	return err
}
