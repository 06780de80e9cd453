package webtest

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

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
	p.Press("Escape", "Escape", "Escape") // the browser itself heeds the second one
	p.WaitText(secret)                    // only its own button closes it
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
	at := p.reach("close it", "I have kept it")
	p.run("end a double click on what was there before", chromedp.MouseClickXY(at.X, at.Y, chromedp.ClickCount(2)))
	p.Click("#made-key [data-called]")
	p.Until(`document.querySelector("#made-key #said").textContent === "Copied the key"`)
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

// A key whose answer was lost is there, and nobody can use it: it is said what to do,
// and can be done.
func TestSettings_AKeyThatNobodyHasSeen(t *testing.T) {
	s := mustStudio(t)
	p := s.through(func(r *http.Response) {
		if r.Request.Method == "POST" && r.Request.URL.Path == "/v1/keys" {
			breakOff(r)
		}
	}).open("/settings")
	p.Click("New key")
	p.Type("#new-key-name", "render scripts")
	p.Choose("#new-key-account", "studio")
	p.Expect("POST .*/v1/keys failed")
	p.Click("Make the key")
	p.WaitText("No answer came from the server. The key may have been made all the same, and nobody has seen it.")
	p.Click("Cancel")
	p.Click("Revoke render scripts…")
	p.Click("Revoke the key")
	p.WaitGone("Revoke render scripts…")
	p.Click("Revoked")
	p.WaitFor(`#api-keys [data-name="render scripts"]`)
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
