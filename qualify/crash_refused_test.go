package qualify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rendermac/api"
)

// call is a request of which the command line's client knows nothing.
func (d *day) call(method, path string, body, answer any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	key, err := os.ReadFile(filepath.Join(d.data(), "admin.key"))
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(context.Background(), method, d.url+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(key)))
	r.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return &api.Unreachable{URL: d.url, Cause: err}
	}
	defer got.Body.Close()
	if got.StatusCode >= 300 {
		e := new(api.Error)
		_ = json.NewDecoder(got.Body).Decode(e)
		e.Status = got.StatusCode
		return e
	}
	if err := json.NewDecoder(got.Body).Decode(answer); err != nil {
		return &api.Unreachable{URL: d.url, Cause: err}
	}
	return nil
}

// refusedUpload announces a digest that the bytes do not have: they are dropped,
// and the upload stays open for the right ones.
func (d *day) refusedUpload() {
	d.Helper()
	text := bytes.Repeat([]byte("no film "), crashPart/4)
	wrong := sha([]byte("another"))
	created := must(insist(d, "announce", func() (out api.UploadCreated, err error) {
		return out, d.call(http.MethodPost, "/v1/uploads", api.UploadRequest{Name: "x", Bytes: int64(len(text)), SHA256: &wrong}, &out)
	}))(d)
	var refused *api.Error
	deadline := time.Now().Add(patience)
	for !errors.As(d.tryToComplete(created.ID, text), &refused) || refused.Code != "digest_mismatch" {
		if d.Failed() {
			return
		}
		if time.Now().After(deadline) {
			d.Fatalf("the wrong digest is not refused as such: %v", refused)
		}
	}
	now := must(insist(d, "look at an upload", func() (out api.Upload, err error) {
		return out, d.call(http.MethodGet, "/v1/uploads/"+created.ID, nil, &out)
	}))(d)
	if len(now.Held) > 0 {
		d.Errorf("refused bytes are still held: %v", now.Held)
	}
}

// tryToComplete puts what is missing and completes; it answers what the server
// says in the end.
func (d *day) tryToComplete(id string, text []byte) error {
	d.Helper()
	now := must(insist(d, "look at an upload", func() (out api.Upload, err error) {
		return out, d.call(http.MethodGet, "/v1/uploads/"+id, nil, &out)
	}))(d)
	for _, p := range now.Parts {
		r, err := http.NewRequestWithContext(context.Background(), http.MethodPut, d.url+strings.TrimPrefix(p.URL, d.url), bytes.NewReader(cut(text, crashPart)[p.Number-1]))
		if err != nil {
			d.Fatal(err)
		}
		for name, value := range p.Headers {
			r.Header.Set(name, value)
		}
		if answer, err := http.DefaultClient.Do(r); err == nil {
			answer.Body.Close()
		}
	}
	var done api.UploadDone
	_, _, err := insist(d, "complete", func() (bool, error) {
		return true, d.call(http.MethodPost, "/v1/uploads/"+id+"/complete", struct{}{}, &done)
	})
	if err == nil {
		d.Errorf("an upload was completed with another digest than announced")
	}
	return err
}
