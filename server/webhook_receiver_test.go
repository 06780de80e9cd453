package server

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"syscall"
	"testing"
	"time"

	"rendermac/api"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// receiver is who webhooks go to: it notes what it hears and answers as it is told.
type receiver struct {
	testing.TB
	url    string
	answer http.HandlerFunc // nil: 200

	mu    sync.Mutex
	heard []hook
}

// hook is a webhook as it arrived.
type hook struct {
	header http.Header
	body   string
	at     time.Time
}

func (h hook) id() string { return h.header.Get("webhook-id") }

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		r.Errorf("a webhook came in part: %v", err)
	}
	r.mu.Lock()
	r.heard = append(r.heard, hook{q.Header.Clone(), string(body), time.Now()})
	r.mu.Unlock()
	if r.answer != nil {
		r.answer(w, q)
	}
}

func (r *receiver) hooks() []hook {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]hook(nil), r.heard...)
}

// hears checks how many webhooks have come, and answers the last.
func (r *receiver) hears(n int) hook {
	r.Helper()
	all := r.hooks()
	if len(all) != n {
		r.Fatalf("%d webhooks came, want %d", len(all), n)
	}
	if n == 0 {
		return hook{}
	}
	return all[n-1]
}

// mustReceive is a receiver on a real socket.
func mustReceive(t testing.TB, answer http.HandlerFunc) *receiver {
	r := &receiver{TB: t, answer: answer}
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	r.url = s.URL + "/hook?token=hush"
	return r
}

// receives is a receiver in the bubble.
func (b *bubble) receives(host string, answer http.HandlerFunc) *receiver {
	b.Helper()
	r := &receiver{TB: b, answer: answer, url: "http://" + host + "/hook?token=hush"}
	w := &wires{arriving: make(chan net.Conn), closed: make(chan struct{})}
	b.hooks.Store(host+":80", w)
	s := &http.Server{Handler: r}
	go s.Serve(w)
	b.Cleanup(func() { s.Close() })
	return r
}

// dialHook reaches the bubble's receivers and nobody else: a real socket would
// hold its clock up.
func (b *bubble) dialHook(_ context.Context, _, address string) (net.Conn, error) {
	if w, ok := b.hooks.Load(address); ok {
		return w.(*wires).dial(&hole{})
	}
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
}

// hang is an answer that never comes.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func answers(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
}

func private(o *Options) { o.PrivateWebhooks = true }

// mustTell submits a job and cancels it, so that url is told.
func (h *httpServer) mustTell(url string) api.Job {
	h.Helper()
	j := h.mustSubmit(h.submit, func(r *api.JobRequest) { r.WebhookURL = &url })
	h.post("/v1/jobs/"+j.ID+"/cancel", h.submit, nil).is(202)
	return j
}

// deliver tries once whatever is due, where no loop runs.
func (h *httpServer) deliver() {
	h.Helper()
	d := h.srv.deliverer
	d.runOnce(context.Background())
	d.tries.Wait()
	for len(d.landed) > 0 {
		d.land(<-d.landed)
	}
}

// delivery is how the job's only webhook stands.
func (h *httpServer) delivery(job string) api.Delivery {
	h.Helper()
	list := into[api.List[api.Delivery]](h.get("/v1/webhooks/deliveries?job="+job, h.admin).is(200))
	if len(list.Items) != 1 {
		h.Fatalf("job %s has %d webhooks", job, len(list.Items))
	}
	return list.Items[0]
}

// secrets are those that sign what is pending.
func (h *httpServer) secrets() []string {
	h.Helper()
	lanes, err := h.db.Lanes(context.Background(), h.account, 1)
	if err != nil || len(lanes) == 0 {
		h.Fatalf("lanes %v, %v", lanes, err)
	}
	first, err := h.db.FirstOf(context.Background(), lanes[0].Name, 1)
	if err != nil || len(first) == 0 {
		h.Fatalf("pending %v, %v", first, err)
	}
	return first[0].Secrets
}

// verified checks a webhook as its receiver would, with the published library,
// under each secret.
func (h *httpServer) verified(w hook, secrets ...string) {
	h.Helper()
	for _, secret := range secrets {
		key, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			h.Fatal(err)
		}
		verify := key.VerifyIgnoringTimestamp // the real clock is not the test's
		if h.wires != nil {
			verify = key.Verify
		}
		if err := verify([]byte(w.body), w.header); err != nil {
			h.Errorf("%v: %v", w.header, err)
		}
	}
}
