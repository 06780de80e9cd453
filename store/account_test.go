package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

func TestAccounts_HaveNamesOfTheirOwn(t *testing.T) {
	f := open(t)
	a, secret, err := f.CreateAccount(ctx, "acme", new(int64(5)))
	must(t, err)
	if a.Name != "acme" || *a.CreditLimit != 5 || secret == "" || !a.CreatedAt.Equal(f.clock.Now()) {
		t.Errorf("got %+v and secret %q", a, secret)
	}
	_, _, err = f.CreateAccount(ctx, "acme", nil)
	refused(t, err, fence.CodeInvalid)
	_, err = f.ChangeAccount(ctx, a.ID, store.AccountChange{Name: new(store.Studio)})
	refused(t, err, fence.CodeInvalid)
	_, err = f.ChangeAccount(ctx, "acc_0", store.AccountChange{})
	refused(t, err, fence.CodeNotFound)
	for _, change := range []store.AccountChange{{}, {Name: new("acme")}, {Name: new("Acme & Sons")}, {CreditLimit: new(*int64)}} {
		a, err = f.ChangeAccount(ctx, a.ID, change)
		must(t, err)
	}
	list, err := f.Accounts(ctx, f.account, 10)
	must(t, err)
	if len(list) != 1 || list[0].Name != "Acme & Sons" || list[0].CreditLimit != nil || list[0].ID != a.ID {
		t.Errorf("after the first account come %+v", list)
	}
}

func TestWebhookSecret_TheOneBeforeStaysForADay(t *testing.T) {
	f := open(t)
	stands := func() string {
		return f.ask(t, `SELECT webhook_secret || ' ' || coalesce(webhook_secret_before, '') || ' ' || coalesce(webhook_before_until, '') FROM accounts`)[0]
	}
	first, _, _ := strings.Cut(stands(), " ")
	_, second, err := f.ReplaceWebhookSecret(ctx, f.account)
	must(t, err)
	want := fmt.Sprint(second, " ", first, " ", f.clock.Now().Add(24*time.Hour).UnixMilli())
	if got := stands(); got != want || first == second || !strings.HasPrefix(second, "whsec_") {
		t.Errorf("secrets %q, want %q", got, want)
	}
	_, _, err = f.ReplaceWebhookSecret(ctx, "acc_0")
	refused(t, err, fence.CodeNotFound)
}

func TestKeys_AreRevokedWithTheirSessionsAndForGood(t *testing.T) {
	f := open(t)
	_, _, err := f.CreateKey(ctx, store.NewKey{AccountID: "acc_0", Name: "x", Scope: "read"})
	refused(t, err, fence.CodeInvalid)
	k, plaintext, err := f.CreateKey(ctx, store.NewKey{AccountID: f.account, Name: "ci", Scope: "submit"})
	must(t, err)
	if got, err := f.KeyByPlaintext(ctx, plaintext); err != nil || got != k {
		t.Errorf("the key is %+v, %v, want %+v", got, err, k)
	}
	f.withSession(t, k.ID)
	must(t, f.RevokeKey(ctx, k.ID))
	f.clock.Advance(time.Hour)
	must(t, f.RevokeKey(ctx, k.ID))
	refused(t, f.RevokeKey(ctx, "key_0"), fence.CodeNotFound)
	_, err = f.KeyByPlaintext(ctx, plaintext)
	refused(t, err, fence.CodeNotFound)
	list, err := f.Keys(ctx, "", 10)
	must(t, err)
	if len(list) != 2 || list[1].Name != "ci" || list[1].RevokedAt == nil || !list[1].RevokedAt.Equal(k.CreatedAt) || list[0].RevokedAt != nil {
		t.Errorf("the keys are %+v", list)
	}
	if left := f.ask(t, `SELECT key_id FROM sessions`); slices.Contains(left, k.ID) || len(left) != 1 {
		t.Errorf("sessions of %v are left", left)
	}
}

// withSession puts a dashboard's session of this key, and one of another, into
// the database.
func (f *fixture) withSession(t *testing.T, key string) {
	t.Helper()
	db := f.raw(t)
	must(t, exec(db, `INSERT INTO sessions SELECT hex(zeroblob(31)) || printf('%02d', rowid), id, 0, 0 FROM api_keys`))
	must(t, db.Close())
	f.DB = storetest.MustOpen(t, storetest.Options(f.dir, f.clock))
	if got := f.ask(t, `SELECT key_id FROM sessions`); !slices.Contains(got, key) {
		t.Fatalf("sessions of %v", got)
	}
}

// Nobody locks himself out: of two admins who revoke each other, one stays.
func TestKeys_TheLastAdminKeyStays(t *testing.T) {
	f := open(t)
	keys, err := f.Keys(ctx, "", 1)
	must(t, err)
	first := keys[0].ID
	refused(t, f.RevokeKey(ctx, first), store.CodeLastAdminKey)
	_, _, err = f.CreateKey(ctx, store.NewKey{AccountID: f.account, Name: "ci", Scope: "submit"})
	must(t, err)
	refused(t, f.RevokeKey(ctx, first), store.CodeLastAdminKey)
	second, _, err := f.CreateKey(ctx, store.NewKey{AccountID: f.account, Name: "second", Scope: "admin"})
	must(t, err)
	answers := make(chan error, 2)
	for _, id := range []string{first, second.ID} {
		go func() { answers <- f.RevokeKey(ctx, id) }()
	}
	codes := []string{fence.CodeOf(<-answers), fence.CodeOf(<-answers)}
	slices.Sort(codes)
	if !slices.Equal(codes, []string{"", store.CodeLastAdminKey}) {
		t.Errorf("two admins revoked each other: %q", codes)
	}
}
