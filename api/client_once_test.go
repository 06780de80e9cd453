package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"
)

// flaky spoils the first answers of a server that would make a job each time, if
// it were not for the keys.
type flaky struct {
	spoil []func(w http.ResponseWriter)
	keys  []string
}

func (f *flaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	f.keys = append(f.keys, r.Header.Get("Idempotency-Key"))
	if n := len(f.keys) - 1; n < len(f.spoil) {
		f.spoil[n](w)
		return
	}
	answer(w, 201, Job{JobItem: JobItem{ID: "job_1"}})
}

func cutOff(w http.ResponseWriter) {
	w.Header().Set("Content-Length", "1000")
	w.WriteHeader(201)
	fmt.Fprint(w, `{"id":"job_1",`)
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func unavailable(w http.ResponseWriter) {
	answer(w, 0, NewError(503, CodeStoreUnavailable, "Not now."))
}

func gone(http.ResponseWriter) { panic(http.ErrAbortHandler) }

func TestClientKeepsItsKeyOverItsTries(t *testing.T) {
	server := &flaky{spoil: []func(http.ResponseWriter){cutOff, unavailable, gone, cutOff}}
	client := testClient(serve(t, server))
	for range 2 {
		if job, err := client.Submit(t.Context(), JobRequest{}); err != nil || job.ID != "job_1" {
			t.Fatalf("%+v, %v", job, err)
		}
	}
	if len(server.keys) != 6 || len(slices.Compact(server.keys[:5])) != 1 || server.keys[0] == "" || server.keys[5] == server.keys[0] {
		t.Errorf("the keys were %q", server.keys)
	}
}

func TestClientTakesARefusalForAnAnswer(t *testing.T) {
	server := &flaky{spoil: []func(http.ResponseWriter){func(w http.ResponseWriter) { answer(w, 0, NewError(422, CodeKeyReused, "Another body.")) }}}
	var e *Error
	if _, err := testClient(serve(t, server)).Retry(t.Context(), "job_1"); !errors.As(err, &e) || e.Code != CodeKeyReused || len(server.keys) != 1 {
		t.Errorf("%v after %d tries", err, len(server.keys))
	}
}

// An address where nobody has ever answered may be wrong: it is tried once.
func TestClientDoesNotWaitForAServerItNeverHeard(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	client := NewClient(server.URL, testKey, "test")
	client.backoff = func(int) time.Duration { t.Error("it waits"); return 0 }
	var silent *Unreachable
	if _, err := client.Submit(t.Context(), JobRequest{}); !errors.As(err, &silent) {
		t.Errorf("got %v", err)
	}
}

func TestClientGathersShortPages(t *testing.T) {
	var asked []string
	pages := map[string]List[JobItem]{
		"":  {Items: []JobItem{{ID: "job_5"}}, NextCursor: new("a")},
		"a": {Items: []JobItem{}, NextCursor: new("b")},
		"b": {Items: []JobItem{{ID: "job_4"}, {ID: "job_3"}}, NextCursor: new("c")},
		"c": {Items: []JobItem{{ID: "job_2"}}},
	}
	client := testClient(serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		asked = append(asked, q.Get("limit")+q.Get("cursor"))
		answer(w, 200, pages[q.Get("cursor")])
	})))
	list, err := client.Jobs(t.Context(), JobQuery{Limit: 3})
	if err != nil || len(list.Items) != 3 || list.NextCursor == nil || *list.NextCursor != "c" || !slices.Equal(asked, []string{"3", "2a", "2b"}) {
		t.Errorf("three are %+v, %v, asked for by %q", list, err, asked)
	}
	all, err := client.Jobs(t.Context(), JobQuery{})
	if err != nil || len(all.Items) != 4 || all.NextCursor != nil || asked[3] != "500" || asked[6] != "500c" {
		t.Errorf("all are %+v, %v, asked for by %q", all, err, asked)
	}
}
