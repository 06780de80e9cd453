package webtest

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"rendermac/api"
)

// The key that the page shows once is one that the API takes, until it is revoked.
func TestSettings_AnAccountAndItsKey(t *testing.T) {
	s := mustStudio(t)
	p := s.open("/settings")
	p.WaitText("first start")
	p.Axe()

	p.Expect("POST .*/v1/accounts answered 422")
	p.Click("New account")
	p.Type("#new-account-name", "studio")
	p.Type("#new-account-limit", "5,000")
	p.Click("Make the account")
	p.WaitText("Is another account's.")
	p.Type("#new-account-name", "Acme")
	p.Click("Make the account")
	p.WaitText("The webhook secret of Acme")
	secret := p.Text("#made-secret [data-secret]")
	p.Press("Escape")
	p.WaitText(secret) // only its own button closes it
	p.Click("I have kept it")
	p.WaitText("5,000 left of 5,000")

	p.Click("New webhook secret of Acme…")
	p.Click("Make a new secret")
	p.WaitText("The one before it signs as well for 24 hours.")
	if again := p.Text("#made-secret [data-secret]"); !strings.HasPrefix(secret, "whsec_") || !strings.HasPrefix(again, "whsec_") || again == secret {
		t.Errorf("the secret is %q, and then %q", secret, again)
	}
	p.Click("I have kept it")

	p.Click("Change Acme…")
	p.Type("#change-account-name", "Acme Film")
	p.Type("#change-account-limit", "")
	p.Click("Save")
	p.WaitGone("#change-account")
	p.WaitFor(`#accounts [data-name="Acme Film"][data-limit=""]`)

	p.Click("New key")
	p.Type("#new-key-name", "render scripts")
	p.Choose("#new-key-account", "Acme Film")
	p.Click("Make the key")
	p.WaitText("It is shown once, now.")
	p.Axe()
	key := p.Text("#made-key [data-secret]")
	p.Click("#made-key [data-called]")
	if copied := p.Clipboard(); copied != key {
		t.Errorf("copied was %q, not the key", copied)
	}
	p.Click("I have kept it")
	p.Until(`!document.documentElement.outerHTML.includes("rm_")`)
	client := api.NewClient(s.url, key, "test")
	_, err := client.Services(t.Context())
	must(t, err)

	p.Click("Revoke render scripts…")
	p.WaitText("It belongs to Acme Film.")
	p.Click("Revoke the key")
	p.WaitGone("Revoke render scripts…")
	var no *api.Error
	if _, err := client.Services(t.Context()); !errors.As(err, &no) || no.Code != api.CodeUnauthenticated {
		t.Errorf("with the revoked key: %v", err)
	}
}

func TestSettings_TheSessionsOwnKeyIsRevokedKnowingly(t *testing.T) {
	s := mustStudio(t)
	p := s.open("/settings")
	p.Expect("DELETE .*/v1/keys/.* answered 409")
	p.Click("Revoke first start…")
	p.WaitText("revoking it signs you out")
	p.Click("Revoke the key")
	p.WaitText("This is the last admin key: make another one first")
	p.Click("Keep it")

	_, err := s.client.CreateKey(t.Context(), api.KeyRequest{Name: "spare", AccountID: s.account(), Scope: "admin"})
	must(t, err)
	p.Click("Revoke first start…")
	p.Click("Revoke the key")
	p.WaitPath("/sign-in")
}

// account is the one that the first start has made.
func (s *studio) account() string {
	s.Helper()
	list, err := s.client.Accounts(s.Context())
	must(s, err)
	return list[0].ID
}

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
