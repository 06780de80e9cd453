package qualify

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"rendermac/api"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// hooks is who is told of the day's jobs: a real receiver of webhooks.
type hooks struct {
	url string

	mu      sync.Mutex
	heard   map[string]hook // by webhook-id
	odd     []string
	welcome map[string]bool // by webhook-id: what comes to /gone and is taken
}

type hook struct {
	header http.Header
	body   string
}

func newHooks(t testing.TB) *hooks {
	h := &hooks{heard: map[string]hook{}, welcome: map[string]bool{}}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	h.url = s.URL
	return h
}

func (h *hooks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // cut off with its server
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	id := r.Header.Get("webhook-id")
	if before, again := h.heard[id]; again && before.body != string(body) {
		h.odd = append(h.odd, fmt.Sprintf("webhook %s says %s, and said %s", id, body, before.body))
	}
	h.heard[id] = hook{r.Header.Clone(), string(body)}
	if r.URL.Path == "/gone" && !h.welcome[id] {
		w.WriteHeader(http.StatusGone)
	}
}

func (d *day) toBeTold(r *api.JobRequest) { r.WebhookURL = &d.hooks.url }

// hookScript tells someone who wants no more of it, and then does.
func (d *day) hookScript() {
	gone := d.hooks.url + "/gone"
	job := d.submit(asUsual, d.ofClip(), func(r *api.JobRequest) { nobodys(r); r.WebhookURL = &gone }, "cancelled")
	d.cancel(job)
	var told api.Delivery
	until(d, "the webhook is given up", func() bool {
		list := must(insist(d, "list webhooks", func() (out api.List[api.Delivery], err error) {
			return out, d.call(http.MethodGet, "/v1/webhooks/deliveries?state=failed&job="+d.id(job), nil, &out)
		}))(d)
		if len(list.Items) == 1 {
			told = list.Items[0]
		}
		return told.ID != ""
	})
	d.hooks.mu.Lock()
	d.hooks.welcome[told.ID] = true
	d.hooks.mu.Unlock()
	must(insist(d, "redeliver", func() (out api.Delivery, err error) {
		return out, d.call(http.MethodPost, "/v1/webhooks/deliveries/"+told.ID+"/redeliver", nil, &out)
	}))(d)
	d.ended(job)
}

// heardOf holds what the receiver has heard against the outbox: whatever was
// finalized was told, signed, and of each only what its row says.
func (d *day) heardOf() (all []string) {
	d.Helper()
	d.hooks.mu.Lock()
	defer d.hooks.mu.Unlock()
	all = append(all, d.hooks.odd...)
	for _, row := range d.list(`SELECT w.id || ' ' || a.webhook_secret || ' ' || w.body FROM webhook_deliveries w JOIN accounts a ON a.id = w.account_id`) {
		field := strings.SplitN(row, " ", 3)
		key, err := standardwebhooks.NewWebhook(field[1])
		if err != nil {
			d.Fatal(err)
		}
		heard, ok := d.hooks.heard[field[0]]
		switch err := key.VerifyIgnoringTimestamp([]byte(heard.body), heard.header); {
		case !ok:
			all = append(all, "nobody was told: "+field[0])
		case err != nil || heard.body != field[2]:
			all = append(all, fmt.Sprintf("webhook %s came otherwise than it was queued (%v): %s", field[0], err, heard.body))
		}
	}
	return all
}
