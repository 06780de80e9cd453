package server

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rendermac/api"
	"rendermac/store"
)

// shown is a page of the dashboard as one with this key sees it.
func (h *httpServer) shown(path, key string) string {
	h.Helper()
	return string(h.get(path, key).is(200).body)
}

// turn reads ids from a list of the page, and where it goes on.
func turn(t *testing.T, text, section, kind string) (ids []string, next string) {
	t.Helper()
	_, part, found := strings.Cut(text, `<section id="`+section+`"`)
	if !found {
		t.Fatalf("the page has no %s", section)
	}
	part, _, _ = strings.Cut(part, "</section>")
	for _, m := range regexp.MustCompile(`data-id="(`+kind+`_\w+)"`).FindAllStringSubmatch(part, -1) {
		ids = append(ids, m[1])
	}
	if m := regexp.MustCompile(`href="([^"#]+)[^"]*">More`).FindStringSubmatch(part); m != nil {
		next = html.UnescapeString(m[1])
	}
	return ids, next
}

func TestDashboard_SettingsTurnThroughEveryList(t *testing.T) {
	h := mustServe(t)
	var keys, accounts []string
	for n := range 2*keysShown + 5 {
		k, _, err := h.db.CreateKey(t.Context(), store.NewKey{AccountID: h.account, Name: fmt.Sprint("key ", n), Scope: "read"})
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, k.ID)
	}
	gone := keys[keysShown]
	if err := h.db.RevokeKey(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	for n := range accountsShown {
		a, _, err := h.db.CreateAccount(t.Context(), fmt.Sprint("client ", n), nil)
		if err != nil {
			t.Fatal(err)
		}
		accounts = append(accounts, a.ID)
	}
	walk := func(path, section, kind string) (all []string) {
		for path != "" {
			ids, next := turn(t, h.shown(path, h.admin), section, kind)
			all, path = append(all, ids...), next
		}
		return all
	}
	slices.Reverse(keys)
	keys = slices.DeleteFunc(keys, func(id string) bool { return id == gone })
	got := slices.DeleteFunc(walk("/settings", "api-keys", "key"), func(id string) bool { return id < "key_0" || id > "key_a" }) // but for those of before
	if !slices.Equal(got[:len(keys)], keys) {
		t.Errorf("the keys are %v, want %v", got, keys)
	}
	if got := walk("/settings?revoked=1", "api-keys", "key"); !slices.Contains(got, gone) || !slices.Contains(got, "key_revoked") || len(got) != 2 {
		t.Errorf("the revoked keys are %v", got)
	}
	got = walk("/settings", "accounts", "acc")
	for _, id := range accounts {
		if !slices.Contains(got, id) {
			t.Errorf("account %s is on no page", id)
		}
	}

	// One list turns and the other stays.
	text := h.shown("/settings", h.admin)
	_, more := turn(t, text, "accounts", "acc")
	want, _ := turn(t, text, "api-keys", "key")
	first, both := turn(t, h.shown(more, h.admin), "api-keys", "key")
	if !slices.Equal(first, want) || !strings.Contains(both, "accounts=") || !strings.Contains(both, "keys=") {
		t.Errorf("after accounts have turned, the keys are %v and go on at %s", first, both)
	}
}

func TestDashboard_SettingsRefuseWhatIsNoPlaceInThem(t *testing.T) {
	h := mustServe(t)
	keys := sealCursor("listKeys", "key_read")
	for _, path := range []string{"/settings?keys=x", "/settings?keys=" + keys, "/settings?accounts=" + keys, "/settings?deliveries=x", "/settings?state=lost", "/settings/accounts/" + h.account + "?before=x"} {
		if text := string(h.get(path, h.admin).is(422).body); !strings.Contains(text, "Go to the overview") {
			t.Errorf("%s shows %s", path, text)
		}
	}
	h.shown("/settings?keys=x&accounts=x&state=lost", h.read) // whoever sees no lists is in none of them
}

func TestDashboard_TheJournalTurns(t *testing.T) {
	h := mustServe(t, func(o *Options) { o.Pricing = map[string]int64{"ffmpeg.transcode": 2} })
	for range movementsShown + 3 {
		h.mustSubmit(h.submit)
	}
	path := "/settings/accounts/" + h.account
	first := h.shown(path, h.read)
	if n := strings.Count(first, "Held for a job"); n != movementsShown {
		t.Errorf("the first page has %d movements", n)
	}
	m := regexp.MustCompile(`href="([^"]+)">Older`).FindStringSubmatch(first)
	if m == nil {
		t.Fatal("the first page leads to no second")
	}
	second := h.shown(html.UnescapeString(m[1]), h.read)
	if n := strings.Count(second, "Held for a job"); n != 3 || strings.Contains(second, "Older") || !strings.Contains(second, "Newest") {
		t.Errorf("the second page has %d movements", n)
	}
}

func TestDashboard_SettingsTellOfDeliveriesByState(t *testing.T) {
	h := mustServe(t)
	job := h.mustSubmit(h.submit, func(r *api.JobRequest) { r.WebhookURL = ptr("https://hooks.example/done") })
	h.post("/v1/jobs/"+job.ID+"/cancel", h.submit, nil).is(202)
	for _, path := range []string{"/settings", "/settings?state=pending"} {
		if text := h.shown(path, h.admin); !strings.Contains(text, "https://hooks.example/done") || !strings.Contains(text, "Not tried yet") || !strings.Contains(text, `data-again="2"`) {
			t.Errorf("%s does not tell of the delivery: %s", path, text)
		}
	}
	if text := h.shown("/settings?state=failed", h.admin); !strings.Contains(text, "None is failed.") || strings.Contains(text, "data-again") {
		t.Errorf("among the failed ones stands %s", text)
	}
}
