package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rendermac/api"
)

func TestAccounts_AreMadeListedAndChanged(t *testing.T) {
	h := mustServe(t)
	made := into[api.AccountSecret](h.post("/v1/accounts", h.admin, api.AccountRequest{Name: "Acme & Söhne", CreditLimit: ptr(int64(7))}).is(201))
	if !strings.HasPrefix(made.ID, "acc_") || !strings.HasPrefix(made.WebhookSecret, "whsec_") || *made.CreditLimit != 7 || made.Name != "Acme & Söhne" {
		t.Errorf("made %+v", made)
	}
	first := h.get("/v1/accounts?limit=2", h.admin).is(200)
	list := into[api.List[api.Account]](first)
	if len(list.Items) != 2 || list.NextCursor == nil || strings.Contains(string(first.body), "whsec_") {
		t.Errorf("the first page is %s", first.body)
	}
	second := into[api.List[api.Account]](h.get("/v1/accounts?limit=2&cursor="+*list.NextCursor, h.admin).is(200))
	all := append(list.Items, second.Items...)
	if i := slices.IndexFunc(all, func(a api.Account) bool { return a.ID == made.ID }); len(all) != 3 || all[i] != made.Account && *all[i].CreditLimit != 7 {
		t.Errorf("the accounts are %+v", all)
	}
	at := "/v1/accounts/" + made.ID
	for body, want := range map[string]string{
		`{"name":null}`:                      `"name":"Acme & Söhne","credit_limit":7`,
		`{}`:                                 `"name":"Acme & Söhne","credit_limit":7`,
		`{"name":"acme"}`:                    `"name":"acme","credit_limit":7`,
		`{"credit_limit":null}`:              `"credit_limit":null`,
		`{"name":"Acme","credit_limit":0}`:   `"name":"Acme","credit_limit":0`,
		`{"name":"acme2","credit_limit":12}`: `"name":"acme2","credit_limit":12`,
	} {
		h.do("PATCH", at, h.admin, `{"name":"Acme & Söhne","credit_limit":7}`).is(200)
		if got := string(h.do("PATCH", at, h.admin, body).is(200).body); !strings.Contains(strings.ReplaceAll(got, `\u0026`, "&"), want) {
			t.Errorf("%s was answered with %s, want %s", body, got, want)
		}
	}
	h.do("PATCH", "/v1/accounts/acc_0", h.admin, `{"name":"x"}`).refuses(404, "not_found")
}

func TestAccounts_AndKeysRefuseWhatTheyCannotTake(t *testing.T) {
	h := mustServe(t)
	long := strings.Repeat("x", 101)
	for _, c := range []struct{ method, path, body, at string }{
		{"POST", "/v1/accounts", `{"credit_limit":1}`, "name"},
		{"POST", "/v1/accounts", `{"name":""}`, "name"},
		{"POST", "/v1/accounts", `{"name":"  "}`, "name"},
		{"POST", "/v1/accounts", `{"name":"a\u0007b"}`, "name"},
		{"POST", "/v1/accounts", `{"name":"` + long + `"}`, "name"},
		{"POST", "/v1/accounts", `{"name":"studio"}`, "name"},
		{"POST", "/v1/accounts", `{"name":7}`, "name"},
		{"POST", "/v1/accounts", `{"name":"a","credit_limit":-1}`, "credit_limit"},
		{"POST", "/v1/accounts", `{"name":"a","credit_limit":1.5}`, "credit_limit"},
		{"POST", "/v1/accounts", `{"name":"a","credit_limit":9007199254740992}`, "credit_limit"},
		{"POST", "/v1/accounts", `{"name":"a","credit_limit":"5"}`, "credit_limit"},
		{"POST", "/v1/accounts", `{"name":"a","webhook_secret":"whsec_mine"}`, "webhook_secret"},
		{"PATCH", "/v1/accounts/" + h.otherAccount, `{"name":"studio"}`, "name"},
		{"PATCH", "/v1/accounts/" + h.otherAccount, `{"name":"\u0000"}`, "name"},
		{"PATCH", "/v1/accounts/" + h.otherAccount, `{"credit_limit":-1}`, "credit_limit"},
		{"PATCH", "/v1/accounts/" + h.otherAccount, `{"credit_limit":true}`, "credit_limit"},
		{"POST", "/v1/keys", `{"account_id":"` + h.account + `","scope":"read"}`, "name"},
		{"POST", "/v1/keys", `{"name":"a\nb","account_id":"` + h.account + `","scope":"read"}`, "name"},
		{"POST", "/v1/keys", `{"name":"a","account_id":"acc_0","scope":"read"}`, "account_id"},
		{"POST", "/v1/keys", `{"name":"a","account_id":"` + h.account + `","scope":"root"}`, "scope"},
	} {
		p := h.do(c.method, c.path, h.admin, c.body).refuses(422, "invalid_request")
		if len(p.Errors) != 1 || p.Errors[0].Location != c.at {
			t.Errorf("%s %s: %+v, want one fault at %s", c.method, c.body, p.Errors, c.at)
		}
	}
	if got := len(into[api.List[api.Account]](h.get("/v1/accounts", h.admin).is(200)).Items); got != 2 {
		t.Errorf("%d accounts are there, want the two of before", got)
	}
	h.get("/v1/accounts/"+h.account+"/journal?cursor=acc_0", h.admin).refuses(422, "invalid_request")
}

func TestAccounts_ANewWebhookSecretEachTime(t *testing.T) {
	h := mustServe(t)
	at := "/v1/accounts/" + h.account + "/webhook-secret"
	first, second := into[api.AccountSecret](h.post(at, h.admin, nil).is(201)), into[api.AccountSecret](h.post(at, h.admin, nil).is(201))
	if first.WebhookSecret == second.WebhookSecret || first.ID != h.account || strings.Contains(h.log.String(), second.WebhookSecret) {
		t.Errorf("secrets %+v, then %+v", first, second)
	}
	h.post("/v1/accounts/acc_0/webhook-secret", h.admin, nil).refuses(404, "not_found")
}

func TestKeys_WorkUntilTheyAreRevoked(t *testing.T) {
	h := mustServe(t)
	k := into[api.KeyCreated](h.post("/v1/keys", h.admin, api.KeyRequest{Name: "ci", AccountID: h.otherAccount, Scope: "submit"}).is(201))
	if !strings.HasPrefix(k.Plaintext, "rm_") || k.AccountID != h.otherAccount || k.Scope != "submit" || k.RevokedAt != nil || strings.Contains(h.log.String(), k.Plaintext) {
		t.Errorf("made %+v", k)
	}
	h.mustSubmit(k.Plaintext)
	h.get("/v1/keys", k.Plaintext).refuses(403, "forbidden")
	for range 2 { // repeating it is harmless
		h.do("DELETE", "/v1/keys/"+k.ID, h.admin, nil).is(204)
		h.get("/v1/jobs", k.Plaintext).refuses(401, "unauthenticated")
	}
	h.do("DELETE", "/v1/keys/key_0", h.admin, nil).refuses(404, "not_found")
	r := h.get("/v1/keys?limit=500", h.admin).is(200)
	list := into[api.List[api.Key]](r).Items
	if i := slices.IndexFunc(list, func(l api.Key) bool { return l.ID == k.ID }); i < 0 || list[i].RevokedAt == nil || strings.Contains(string(r.body), k.Plaintext) {
		t.Errorf("the keys are %s", r.body)
	}
}

func TestKeys_NobodyLocksHimselfOut(t *testing.T) {
	h := mustServe(t)
	for _, k := range into[api.List[api.Key]](h.get("/v1/keys", h.admin).is(200)).Items {
		if k.Scope == "admin" && k.AccountID != h.account {
			h.do("DELETE", "/v1/keys/"+k.ID, h.admin, nil).is(204)
		}
	}
	first := into[api.List[api.Key]](h.get("/v1/keys?limit=500", h.admin).is(200)).Items
	own := first[slices.IndexFunc(first, func(k api.Key) bool { return k.Name == "first start" })].ID
	p := h.do("DELETE", "/v1/keys/"+own, h.admin, nil).refuses(409, "last_admin_key")
	if !strings.Contains(p.Detail, "make another one first") {
		t.Errorf("it says %s", p.Detail)
	}
	h.get("/v1/keys", h.admin).is(200)
	next := into[api.KeyCreated](h.post("/v1/keys", h.admin, api.KeyRequest{Name: "next", AccountID: h.account, Scope: "admin"}).is(201))
	h.do("DELETE", "/v1/keys/"+own, next.Plaintext, nil).is(204)
	h.get("/v1/keys", h.admin).refuses(401, "unauthenticated")
}

// The journal tells what a job has moved; another account's is not there.
func TestJournal_OverHTTP(t *testing.T) {
	h := mustServe(t, func(o *Options) { o.Pricing = map[string]int64{"ffmpeg.transcode": 2} })
	at := "/v1/accounts/" + h.otherAccount + "/journal"
	h.mustSubmit(h.otherAccountSubmit)
	h.mustSubmit(h.otherAccountSubmit)
	h.mustSucceed([]byte("film"))
	j := into[api.Journal](h.get(at+"?limit=2", h.otherAccountSubmit).is(200))
	if len(j.Items) != 2 || j.NextCursor == nil || j.Balances.Held != 2 || j.Balances.Spent != 2 || *j.Balances.Available != 1 {
		t.Errorf("the journal is %+v", j)
	}
	if m := j.Items[0]; m.Kind != "capture" || m.Debit != "held" || m.Credit != "spent" || m.Amount != 2 || m.JobID == nil || m.Held != 2 || m.Spent != 2 {
		t.Errorf("the newest movement is %+v", m)
	}
	rest := into[api.Journal](h.get(at+"?cursor="+*j.NextCursor, h.admin).is(200))
	if len(rest.Items) != 1 || rest.NextCursor != nil || rest.Items[0].Kind != "hold" || rest.Balances.Held != j.Balances.Held {
		t.Errorf("the rest is %+v", rest)
	}
	own, missing := h.get("/v1/accounts/"+h.account+"/journal", h.otherAccountSubmit), h.get("/v1/accounts/acc_0/journal", h.otherAccountSubmit)
	own.refuses(404, "not_found")
	if string(own.body) != string(missing.body) {
		t.Errorf("it tells that the account exists: %s, not %s", own.body, missing.body)
	}
	h.get("/v1/accounts/acc_0/journal", h.admin).refuses(404, "not_found")
	empty := into[api.Journal](h.get("/v1/accounts/"+h.account+"/journal", h.read).is(200))
	if empty.Items == nil || len(empty.Items) != 0 || empty.Balances != (api.Balances{}) {
		t.Errorf("an account without movements and limit has %+v", empty)
	}
	short := h.post("/v1/jobs", h.otherAccountSubmit, api.JobRequest{
		Service: "ffmpeg.transcode", Params: []byte(`{"preset":"web-720p"}`), Inputs: []api.Input{{UploadID: ptr(h.mustUpload(h.otherAccountSubmit, "a.mov", []byte("a")).ID)}},
	}).refuses(402, api.CodeCreditExhausted)
	if want := "This costs 2 credits, and the account's limit leaves 1: raise it, submit less, or wait for jobs that end without success."; short.Detail != want {
		t.Errorf("it says %s", short.Detail)
	}
}

// What a studio's admins may do, nobody else may, and he learns nothing by it.
func TestAccounts_AdminRoutesAreForAdmins(t *testing.T) {
	h := mustServe(t)
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/v1/accounts", ""},
		{"POST", "/v1/accounts", `{"name":"mine"}`},
		{"PATCH", "/v1/accounts/" + h.account, `{"credit_limit":null}`},
		{"POST", "/v1/accounts/" + h.account + "/webhook-secret", ""},
		{"GET", "/v1/keys", ""},
		{"POST", "/v1/keys", `{"name":"mine","account_id":"` + h.account + `","scope":"admin"}`},
		{"DELETE", "/v1/keys/key_other_admin", ""},
	} {
		for _, key := range []string{h.read, h.submit, h.otherAccountSubmit} {
			var in any
			if c.body != "" {
				in = c.body
			}
			h.do(c.method, c.path, key, in).refuses(403, "forbidden")
		}
	}
	if n := len(into[api.List[api.Key]](h.get("/v1/keys", h.otherAdmin).is(200)).Items); n != 7 {
		t.Errorf("%d keys are there, want the seven of before", n)
	}
}

// Wrong keys and tokens are slowed down by address; whoever shares it and has a
// good one is not.
func TestWrongKeys_TwentyAMinute(t *testing.T) {
	h := mustServe(t, func(o *Options) { o.TrustedProxies = []string{"127.0.0.0/8"} })
	try := func(key, from string) reply { return h.do("GET", "/v1/jobs", key, nil, "X-Forwarded-For", from) }
	wrong := []string{"rm_unknown", h.revoked, "rmd_x", "", "rm_" + strings.Repeat("x", 4000)}
	for i := range 19 {
		h.do("GET", "/v1/jobs", "", nil, "Authorization", "Bearer "+wrong[i%len(wrong)], "X-Forwarded-For", "2001:db8::1").refuses(401, "unauthenticated")
		h.clock.Advance(time.Second)
	}
	device := func(token, from string) reply {
		return h.do("GET", "/v1/provider/ws", token, nil, "X-Forwarded-For", from)
	}
	device("rmd_unknown", "2001:db8::2").refuses(401, "unauthenticated")
	no := try("rm_unknown", "2001:db8::3") // one network is one
	no.refuses(429, "too_many_requests")
	if got := no.Header.Get("Retry-After"); got != "41" {
		t.Errorf("Retry-After is %s", got)
	}
	device("rmd_unknown", "2001:db8::1").refuses(429, "too_many_requests")
	try(h.read, "2001:db8::1").is(200)
	try("", "2001:db8::1").refuses(401, "unauthenticated") // none is no wrong one
	try("rm_unknown", "2001:db8:0:1::1").refuses(401, "unauthenticated")
	h.clock.Advance(41 * time.Second)
	try("rm_unknown", "2001:db8::1").refuses(401, "unauthenticated")
	try("rm_unknown", "2001:db8::1").refuses(429, "too_many_requests")
}

// Unknown, revoked and malformed keys are told the same.
func TestWrongKeys_AllHaveOneAnswer(t *testing.T) {
	h := mustServe(t)
	want := h.get("/v1/jobs", "rm_unknown")
	for _, key := range []string{h.revoked, "rm_", "x", "rmd_token", "rm_a b"} {
		got := h.get("/v1/jobs", key)
		got.refuses(401, "unauthenticated")
		if string(got.body) != string(want.body) || got.Header.Get("WWW-Authenticate") != want.Header.Get("WWW-Authenticate") {
			t.Errorf("%s is told %s, not %s", key, got.body, want.body)
		}
	}
}

// However many addresses guess, the memory of them is bounded, and those that
// guess now are remembered.
func TestGuesses_RememberOnlySoMany(t *testing.T) {
	var now time.Duration
	g := newGuesses(2, func() time.Duration { return now })
	for i := range 3 * maxNetworks {
		now += time.Millisecond
		g.begin(fmt.Sprintf("2001:db8:%x:%x::1", i>>16, i&0xffff))
	}
	if n := len(g.newer) + len(g.older); n > 2*maxNetworks || n < maxNetworks {
		t.Errorf("%d networks are remembered", n)
	}
	last := "2001:db8:0:752f::2"
	if _, wait := g.begin(last); wait != 0 {
		t.Errorf("its second guess waits %s", wait)
	}
	if _, wait := g.begin(last); wait <= 0 {
		t.Error("its third guess does not wait")
	}
	now += 2 * guessWindow
	g.begin("192.0.2.1")
	now += guessWindow
	g.begin("192.0.2.1")
	if n := len(g.newer) + len(g.older); n != 2 {
		t.Errorf("%d networks are remembered for ever", n)
	}
}

// A clock that is set back makes nobody wait for hours.
func TestPairing_WaitsNoLongerWhenTheClockIsSetBack(t *testing.T) {
	h := mustServe(t)
	for range 5 {
		h.post("/v1/provider/pair", "", api.PairRequest{Code: "AAAA-AAAA"}).refuses(403, "bad_code")
	}
	h.clock.Jump(-3 * time.Hour)
	no := h.post("/v1/provider/pair", "", api.PairRequest{Code: "AAAA-AAAA"})
	no.refuses(429, "too_many_requests")
	if got := no.Header.Get("Retry-After"); got != "60" {
		t.Errorf("Retry-After is %s", got)
	}
	h.clock.Advance(time.Minute)
	h.post("/v1/provider/pair", "", api.PairRequest{Code: "AAAA-AAAA"}).refuses(403, "bad_code")
}
