package server

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"rendermac/api"
	"rendermac/artifact/artifacttest"
)

func TestWebhook_IsSignedAndWhole(t *testing.T) {
	h := mustServe(t, private)
	r := mustReceive(t, nil)
	j := h.mustTell(r.url)
	secrets := h.secrets()
	h.deliver()
	got := r.hears(1)
	h.verified(got, secrets...)
	d := h.delivery(j.ID)
	for name, want := range map[string]string{
		"webhook-id": d.ID, "webhook-timestamp": strconv.FormatInt(h.clock.Now().Unix(), 10),
		"Content-Type": "application/json", "User-Agent": "rendermac/test", "Referer": "", "Cookie": "", "Authorization": "", "Accept-Encoding": "",
	} {
		if got := got.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	var body struct {
		Type      string
		Timestamp time.Time
		Data      map[string]any
	}
	if err := json.Unmarshal([]byte(got.body), &body); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"job_id": j.ID, "account_id": h.account, "status": "cancelled", "failure_code": "buyer_cancelled", "labels": nil, "output_name": "clip.mp4"}
	if body.Type != "job.cancelled" || !body.Timestamp.Equal(h.clock.Now()) || fmt.Sprint(body.Data) != fmt.Sprint(want) {
		t.Errorf("the body is %s", got.body)
	}
	if d.State != "delivered" || d.Tries != 1 || *d.LastStatus != 200 || d.LastError != nil || d.NextTryAt != nil || !d.DeliveredAt.Equal(h.clock.Now()) || d.URL != r.url || d.AccountID != h.account {
		t.Errorf("the delivery is %+v", d)
	}
	h.deliver()
	r.hears(1)
	if strings.Contains(h.log.String(), "hush") {
		t.Errorf("the log has the URL's secret: %s", h.log)
	}
}

// What a receiver may do, and what comes of it at the first try.
func TestWebhook_AnswersThatDoNotCount(t *testing.T) {
	hijacked := func(say string, linger int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			conn.(*net.TCPConn).SetLinger(linger)
			fmt.Fprint(conn, say)
			conn.Close()
		}
	}
	elsewhere := mustReceive(t, nil)
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		state  string
		status int
		says   string
	}{
		"201":               {answers(201), "delivered", 201, ""},
		"204":               {answers(204), "delivered", 204, ""},
		"500":               {answers(500), "pending", 500, "answered 500"},
		"404":               {answers(404), "pending", 404, "answered 404"},
		"410":               {answers(410), "failed", 410, "answered 410"},
		"a redirect":        {http.RedirectHandler(elsewhere.url, http.StatusTemporaryRedirect).ServeHTTP, "pending", 307, "answered 307, and a redirect is not followed"},
		"a lost redirect":   {answers(302), "pending", 302, "answered 302"},
		"a bad redirect":    {hijacked("HTTP/1.1 302 x\r\nLocation: ::hush\r\nContent-Length: 0\r\n\r\n", 5), "pending", 302, "answered 302"},
		"an endless body":   {func(w http.ResponseWriter, _ *http.Request) { forever(w) }, "delivered", 200, ""},
		"endless headers":   {hijacked("HTTP/1.1 200 OK\r\n"+strings.Repeat("x: y\r\n", 1<<15), 5), "pending", 0, "could not be reached"},
		"half an answer":    {hijacked("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", 5), "pending", 200, "could not be reached"},
		"no answer":         {hijacked("", 5), "pending", 0, "could not be reached"},
		"a reset":           {hijacked("", 0), "pending", 0, "could not be reached"},
		"another protocol":  {hijacked("SSH-2.0-x\r\n"+strings.Repeat("\x1b[2J", 9999), 5), "pending", 0, "could not be reached"},
		"switching":         {hijacked("HTTP/1.1 101 x\r\n\r\n", 5), "pending", 101, "answered 101"},
		"only preliminary":  {hijacked("HTTP/1.1 103 x\r\n\r\n", 5), "pending", 0, "could not be reached"},
		"success with more": {hijacked("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 500 x\r\n\r\n", 5), "delivered", 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := mustServe(t, private)
			r := mustReceive(t, c.answer)
			j := h.mustTell(r.url)
			h.deliver()
			r.hears(1)
			d := h.delivery(j.ID)
			if d.State != c.state || d.Tries != 1 || (d.NextTryAt != nil) != (c.state == "pending") || (d.DeliveredAt != nil) != (c.state == "delivered") {
				t.Errorf("the delivery is %+v", d)
			}
			if got := d.LastStatus; (got == nil) != (c.status == 0) || got != nil && *got != c.status {
				t.Errorf("the last status is %v, want %d", got, c.status)
			}
			if says := orEmpty(d.LastError); (says == "") != (c.says == "") || !strings.Contains(says, c.says) || strings.Contains(says, "hush") || len(says) > maxReason {
				t.Errorf("the last error is %q, want %q in it", says, c.says)
			}
		})
	}
	elsewhere.hears(0)
}

func forever(w http.ResponseWriter) {
	for {
		if _, err := w.Write(make([]byte, 1<<10)); err != nil {
			return
		}
	}
}

// Each try says the same, but for its own time.
func TestWebhook_ADisappearedReceiverGetsTheSameLater(t *testing.T) {
	h := mustServe(t, private)
	r := &receiver{TB: t, answer: answers(503)}
	address := artifacttest.FreeAddress(t)
	listen := func() *httptest.Server {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		s := httptest.NewUnstartedServer(r)
		s.Listener.Close()
		s.Listener = listener
		s.Start()
		t.Cleanup(s.Close)
		return s
	}
	first := listen()
	j := h.mustTell(first.URL + "/?token=hush")
	secrets := h.secrets()
	h.deliver()
	once := r.hears(1)
	first.Close()
	next := func() {
		t.Helper()
		h.deliver() // too early
		h.clock.Advance(h.delivery(j.ID).NextTryAt.Sub(h.clock.Now()))
		h.deliver()
	}
	next()
	if d := h.delivery(j.ID); d.State != "pending" || d.Tries != 2 || d.LastStatus != nil || !strings.Contains(*d.LastError, "refused") {
		t.Fatalf("while it was away: %+v", d)
	}
	r.answer = nil
	listen()
	next()
	again := r.hears(2)
	h.verified(again, secrets...)
	if again.id() != once.id() || again.body != once.body || again.header.Get("webhook-timestamp") != strconv.FormatInt(h.clock.Now().Unix(), 10) {
		t.Errorf("the tries differ:\n%v\n%v", once, again)
	}
	if d := h.delivery(j.ID); d.State != "delivered" || d.Tries != 3 || d.LastError != nil {
		t.Errorf("in the end: %+v", d)
	}
}

func TestWebhook_RedeliveredOnceMore(t *testing.T) {
	h := mustServe(t, private)
	r := mustReceive(t, answers(410))
	j := h.mustTell(r.url)
	h.deliver()
	gone := h.delivery(j.ID)
	if gone.State != "failed" {
		t.Fatalf("the delivery is %+v", gone)
	}
	r.answer = nil
	for n := 2; n < 4; n++ { // of a failed one, and of a delivered one
		d := into[api.Delivery](h.post("/v1/webhooks/deliveries/"+gone.ID+"/redeliver", h.admin, nil).is(202))
		if d.State != "pending" || d.Tries != 0 || !d.NextTryAt.Equal(h.clock.Now()) || d.DeliveredAt != nil || d.ID != gone.ID {
			t.Errorf("begun anew it is %+v", d)
		}
		h.deliver()
		if again := r.hears(n); again.id() != gone.ID || again.body != r.hooks()[0].body {
			t.Errorf("another webhook came: %v", again)
		}
		if d := h.delivery(j.ID); d.State != "delivered" || d.Tries != 1 {
			t.Errorf("redelivered it is %+v", d)
		}
	}
	h.post("/v1/webhooks/deliveries/whd_0/redeliver", h.admin, nil).refuses(404, "not_found")
}

// The answer to a try that was under way counts for nothing once the delivery
// has begun anew, were it the first.
func TestWebhook_RedeliveredWhileItIsTried(t *testing.T) {
	for name, before := range map[string]int{"the first try": 0, "the second": 1} {
		t.Run(name, func(t *testing.T) {
			h := mustServe(t, private)
			r := mustReceive(t, answers(500))
			j := h.mustTell(r.url)
			for range before {
				h.deliver()
				h.clock.Advance(time.Minute)
			}
			r.answer = func(http.ResponseWriter, *http.Request) {
				h.post("/v1/webhooks/deliveries/"+h.delivery(j.ID).ID+"/redeliver", h.admin, nil).is(202)
			}
			h.deliver()
			if d := h.delivery(j.ID); d.State != "pending" || d.Tries != 0 {
				t.Errorf("a late answer counted: %+v", d)
			}
			r.answer = nil
			h.deliver()
			r.hears(before + 2)
			if d := h.delivery(j.ID); d.State != "delivered" || d.Tries != 1 {
				t.Errorf("the delivery is %+v", d)
			}
		})
	}
}

func TestWebhook_List(t *testing.T) {
	h := mustServe(t, private)
	good, bad := mustReceive(t, nil), mustReceive(t, answers(410))
	jobs := []api.Job{h.mustTell(good.url), h.mustTell(bad.url), h.mustTell(good.url)}
	h.deliver()
	jobs = append(jobs, h.mustTell(good.url))
	list := func(query string) (of []string) {
		t.Helper()
		for cursor := ""; ; {
			page := into[api.List[api.Delivery]](h.get("/v1/webhooks/deliveries?limit=2&"+query+cursor, h.admin).is(200))
			for _, d := range page.Items {
				of = append(of, d.JobID)
			}
			if page.NextCursor == nil {
				return of
			}
			cursor = "&cursor=" + *page.NextCursor
		}
	}
	for query, want := range map[string][]int{
		"": {3, 2, 1, 0}, "state=pending": {3}, "state=delivered": {2, 0}, "state=failed": {1}, "job=" + jobs[1].ID: {1}, "job=x": {},
		"account=" + h.account: {3, 2, 1, 0}, "account=" + h.otherAccount: {}, "state=failed&job=" + jobs[0].ID: {},
	} {
		var ids []string
		for _, n := range want {
			ids = append(ids, jobs[n].ID)
		}
		if got := list(query); fmt.Sprint(got) != fmt.Sprint(ids) {
			t.Errorf("%s lists %v, want %v", query, got, ids)
		}
	}
	h.get("/v1/webhooks/deliveries?state=lost", h.admin).refuses(422, "invalid_request")
}
