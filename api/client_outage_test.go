package api

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

// outages is what was told of them.
type outages struct {
	mu   sync.Mutex
	said []string
}

func (o *outages) note(err error, atMost time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	text := "over"
	if err != nil {
		text = fmt.Sprint(hasCode(err, CodeStoreUnavailable), " ", atMost)
	}
	o.said = append(o.said, text)
}

// However many tries fail in an outage, it is told once, and that it is over.
func TestAnOutageIsToldOnce(t *testing.T) {
	server, told := newUploads(), &outages{}
	server.meddle = func(w http.ResponseWriter, _ *http.Request, _, try int, _ func()) bool {
		if try > 4 {
			return false
		}
		answer(w, 0, NewError(503, CodeStoreUnavailable, "The store is away."))
		return true
	}
	client, path := testClient(serve(t, server)), fileOf(t, "0123")
	for range 2 { // the second is not disturbed
		if _, err := client.ResumeUpload(t.Context(), path, Resume{Waits: told.note}, func(int64) {}); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(told.said, []string{"true 0s", "over"}) {
		t.Errorf("told: %q", told.said)
	}
}
