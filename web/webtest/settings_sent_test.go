package webtest

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"rendermac/api"
)

func TestSettings_AWebhookIsSentAgainAndGarbageRemoved(t *testing.T) {
	s := mustStudio(t, "webhooks: {allow_private: true}", "retention: {uploads_max_bytes: 1B}")
	var takes atomic.Bool
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !takes.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(receiver.Close)
	p := s.open("/settings")
	p.WaitText("No webhooks yet.")

	job := s.submit(s.film("interview.mov", 0.2, "64x64"), "web-1080p", func(r *api.JobRequest) { r.WebhookURL = &receiver.URL })
	_, err := s.client.Cancel(t.Context(), job.ID)
	must(t, err)
	p.WaitFor(`a[href="/jobs/` + job.ID + `"]`)
	p.WaitText("The receiver answered 500: it must answer 2xx")
	p.WaitText("1 of 10")
	p.Axe()
	p.Click("Delivered")
	p.WaitText("None is delivered.")
	takes.Store(true)
	p.Click("Pending")
	p.WaitPath("/settings?state=pending")
	p.Click("Send job.cancelled of job " + job.ID + " again")
	p.WaitText("None is pending.")
	p.Click("All")
	p.WaitPath("/settings")
	p.WaitText("The receiver answered 200")
	p.WaitFor("#webhooks .s-succeeded")

	uploads := `document.querySelectorAll("#storage dd[title]")[1].title`
	p.Until(uploads + ` !== "0 bytes"`)
	p.Click("Look what would be removed")
	p.WaitText("What is removed cannot be brought back")
	p.Axe()
	p.Click("Remove it now")
	p.WaitText("were freed.")
	p.Click("Close")
	p.Until(uploads + ` === "0 bytes"`)
}

// Nothing that a key may not do is on the page, and what it may see is its own.
func TestSettings_BelowAdmin(t *testing.T) {
	s := mustStudio(t, "pricing: {ffmpeg.transcode: 20}")
	job := s.submit(s.film("interview.mov", 0.2, "64x64"), "web-1080p")
	key, err := s.client.CreateKey(t.Context(), api.KeyRequest{Name: "wall screen", AccountID: s.account(), Scope: "read"})
	must(t, err)
	p := s.openAs(key.Plaintext, "/settings")
	p.WaitText("20 credits by jobs that have not ended")
	p.WaitText("For the web, up to 1920×1080")
	if n := p.Count("#accounts, #api-keys, #webhooks, #storage, #backups, main button, dialog form:not([method])"); n > 0 {
		t.Errorf("a reader is shown %d things of an admin's", n)
	}
	p.Axe()
	p.Click("Journal of its credits")
	p.WaitFor(`a[href="/jobs/` + job.ID + `"]`)
	p.WaitText("Held for a job")
	p.Axe()
}
