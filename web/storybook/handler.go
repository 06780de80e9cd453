package main

import (
	"bytes"
	"embed"
	"html/template"
	"io"
	"net/http"
	"strings"

	"rendermac/web"
)

//go:embed index.html
var indexText string

var index = template.Must(template.New("index").Parse(indexText))

// scripts bring pages to states that only a browser knows. A story has that of its
// name, which goes when the state is there.
//
//go:embed canned/*.js
var scripts embed.FS

func handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		show(w, func(w io.Writer) error { return index.Execute(w, stories) })
	})
	for _, s := range stories {
		mux.HandleFunc("GET /stories/"+s.Name, func(w http.ResponseWriter, _ *http.Request) {
			show(w, s.render)
		})
	}
	mux.HandleFunc("GET /assets/{path...}", asset)
	mux.Handle("GET /canned/", http.FileServerFS(scripts))
	mux.HandleFunc("GET /v1/events", nothingHappens)
	mux.HandleFunc("GET /v1/jobs/{id}/output", output)
	mux.HandleFunc("GET /v1/jobs/{id}/inputs/{n}", input)
	mux.HandleFunc("GET /v1/jobs/{id}/attempts/{n}/log", attemptLog)
	return mux
}

func (s story) render(w io.Writer) error {
	if err := web.Render(w, s.Frame, s.Page); err != nil {
		return err
	}
	script := "canned/" + strings.ReplaceAll(s.Name, "/", "-") + ".js"
	if _, err := scripts.Open(script); err != nil {
		return nil
	}
	_, err := io.WriteString(w, `<script type="module" src="/`+script+`" data-canned></script>`)
	return err
}

// show answers with a page under the CSP that it has in the product.
func show(w http.ResponseWriter, render func(io.Writer) error) {
	var page bytes.Buffer
	if err := render(&page); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Security-Policy", web.CSP(""))
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	page.WriteTo(w)
}

func asset(w http.ResponseWriter, r *http.Request) {
	a, err := web.AssetByPath(r.PathValue("path"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", a.Type)
	w.Write(a.Text)
}

// nothingHappens is a stream of events without any, so that pages say "live".
func nothingHappens(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	http.NewResponseController(w).Flush()
	<-r.Context().Done()
}
