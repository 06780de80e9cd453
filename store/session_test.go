package store_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

// newKey is a key that may be revoked.
func (f *fixture) newKey(t *testing.T) (store.Key, string) {
	t.Helper()
	k, plaintext, err := f.CreateKey(ctx, store.NewKey{AccountID: f.account, Name: "laptop", Scope: "submit"})
	must(t, err)
	return k, plaintext
}

func (f *fixture) newLink(t *testing.T, keyID string) store.SignIn {
	t.Helper()
	link, err := f.CreateSignIn(ctx, keyID)
	must(t, err)
	return link
}

// actsAs fails the test unless the session is this key's.
func (f *fixture) actsAs(t *testing.T, token string, want store.Key) {
	t.Helper()
	if got, err := f.KeyBySession(ctx, token); err != nil || got != want {
		t.Errorf("the session acts as %+v, %v, want %+v", got, err, want)
	}
}

func TestSignIn_ALinkWorksOnceAndForFifteenMinutes(t *testing.T) {
	f := open(t)
	k, _ := f.newKey(t)
	link, late := f.newLink(t, k.ID), f.newLink(t, k.ID)
	f.clock.Advance(store.SignInTTL - time.Millisecond)
	s, err := f.RedeemSignIn(ctx, link.Token)
	must(t, err)
	if s.Key != k || !s.ExpiresAt.Equal(f.clock.Now().Add(store.SessionTTL)) {
		t.Errorf("signed in as %+v until %v", s.Key, s.ExpiresAt)
	}
	f.actsAs(t, s.Token, k)
	f.clock.Advance(time.Millisecond)
	for token, why := range map[string]string{link.Token: "was used", late.Token: "older than 15 minutes", "rml_x": "is wrong", "": "is wrong", s.Token: "is wrong"} {
		_, err := f.RedeemSignIn(ctx, token)
		refused(t, err, store.CodeBadSignIn)
		if !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), "rendermac dashboard") {
			t.Errorf("%q is refused with %q, which does not say that it %s, and what to do", token, err, why)
		}
	}
	_, err = f.CreateSignIn(ctx, "key_0")
	refused(t, err, fence.CodeNotFound)
}

// Of many who redeem one link at the same time, one gets in.
func TestSignIn_OneOfManyAtOnceGetsIn(t *testing.T) {
	f := open(t)
	k, _ := f.newKey(t)
	link := f.newLink(t, k.ID)
	var all sync.WaitGroup
	opened := make(chan string, 16)
	for range cap(opened) {
		all.Go(func() {
			if s, err := f.RedeemSignIn(ctx, link.Token); err == nil {
				opened <- s.Token
			} else if fence.CodeOf(err) != store.CodeBadSignIn {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(opened) != 1 {
		t.Errorf("%d got in", len(opened))
	}
	if rows := f.ask(t, `SELECT count(*) FROM sessions`); rows[0] != "1" {
		t.Errorf("%s sessions", rows[0])
	}
}

func TestSignIn_ASessionLastsThirtyDaysOrUntilItIsClosed(t *testing.T) {
	f := open(t)
	k, plaintext := f.newKey(t)
	_, err := f.OpenSession(ctx, "rm_wrong")
	refused(t, err, fence.CodeNotFound)
	first, err := f.OpenSession(ctx, plaintext)
	must(t, err)
	second, err := f.OpenSession(ctx, plaintext)
	must(t, err)
	must(t, f.CloseSession(ctx, first.Token))
	must(t, f.CloseSession(ctx, first.Token))
	_, err = f.KeyBySession(ctx, first.Token)
	refused(t, err, fence.CodeNotFound)
	f.clock.Advance(store.SessionTTL - time.Millisecond)
	f.actsAs(t, second.Token, k)
	f.clock.Advance(time.Millisecond)
	_, err = f.KeyBySession(ctx, second.Token)
	refused(t, err, fence.CodeNotFound)
	for _, none := range []string{"", "rms_x", plaintext} {
		_, err := f.KeyBySession(ctx, none)
		refused(t, err, fence.CodeNotFound)
	}
}

// With a key go its sessions and its links, even one that waits to be redeemed.
func TestSignIn_EndsWithItsKey(t *testing.T) {
	f := open(t)
	k, plaintext := f.newKey(t)
	s, err := f.OpenSession(ctx, plaintext)
	must(t, err)
	link := f.newLink(t, k.ID)
	must(t, f.RevokeKey(ctx, k.ID))
	_, err = f.KeyBySession(ctx, s.Token)
	refused(t, err, fence.CodeNotFound)
	_, err = f.RedeemSignIn(ctx, link.Token)
	refused(t, err, store.CodeBadSignIn)
	_, err = f.OpenSession(ctx, plaintext)
	refused(t, err, fence.CodeNotFound)
	_, err = f.CreateSignIn(ctx, k.ID)
	refused(t, err, fence.CodeNotFound)
}

// A session whose key was revoked past the server is none either.
func TestSignIn_ASessionOfARevokedKeyIsNone(t *testing.T) {
	f := open(t)
	k, plaintext := f.newKey(t)
	s, err := f.OpenSession(ctx, plaintext)
	must(t, err)
	link := f.newLink(t, k.ID)
	db := f.raw(t)
	must(t, exec(db, `UPDATE api_keys SET revoked_at = 1 WHERE id = '`+k.ID+`'`))
	must(t, db.Close())
	f.DB = storetest.MustOpen(t, storetest.Options(f.dir, f.clock))
	_, err = f.KeyBySession(ctx, s.Token)
	refused(t, err, fence.CodeNotFound)
	_, err = f.RedeemSignIn(ctx, link.Token)
	refused(t, err, fence.CodeNotFound)
}

func TestSignIn_NothingOfBeforeOutlivesARestore(t *testing.T) {
	f := open(t)
	k, plaintext := f.newKey(t)
	s, err := f.OpenSession(ctx, plaintext)
	must(t, err)
	link := f.newLink(t, k.ID)
	f.restore(t, f.backup(t))
	_, err = f.KeyBySession(ctx, s.Token)
	refused(t, err, fence.CodeNotFound)
	_, err = f.RedeemSignIn(ctx, link.Token)
	refused(t, err, store.CodeBadSignIn)
	again, err := f.OpenSession(ctx, plaintext)
	must(t, err)
	f.actsAs(t, again.Token, k)
}

// What is of no use any more goes, however much it is; a link stays for a day, so
// that it can be said why it does not work.
func TestSignIn_OldRowsAreForgotten(t *testing.T) {
	f := open(t)
	k, plaintext := f.newKey(t)
	db := f.raw(t)
	for _, table := range []string{"sessions", "sign_in_links"} {
		must(t, exec(db, `WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
			INSERT INTO `+table+` (token_hash, key_id, created_at, expires_at) SELECT printf('%064d', i), '`+k.ID+`', 0, 1 FROM n`))
	}
	must(t, db.Close())
	f.DB = storetest.MustOpen(t, storetest.Options(f.dir, f.clock))
	late := f.newLink(t, k.ID)
	f.clock.Advance(time.Hour)
	s, err := f.OpenSession(ctx, plaintext)
	must(t, err)
	must(t, f.ForgetSessions(ctx))
	want := []string{store.HashSecret(late.Token), store.HashSecret(s.Token)}
	slices.Sort(want)
	if left := f.ask(t, `SELECT token_hash FROM sessions UNION ALL SELECT token_hash FROM sign_in_links ORDER BY 1`); !slices.Equal(left, want) {
		t.Errorf("%d rows are left: %.3v, want %v", len(left), left, want)
	}
	f.actsAs(t, s.Token, k)
	f.clock.Advance(24 * time.Hour)
	must(t, f.ForgetSessions(ctx))
	_, err = f.RedeemSignIn(ctx, late.Token)
	refused(t, err, store.CodeBadSignIn)
	if left := f.ask(t, `SELECT token_hash FROM sign_in_links`); len(left) != 0 {
		t.Errorf("links are left after a day: %v", left)
	}
}

// No row has what a browser or a link holds.
func TestSignIn_TokensAreInNoRow(t *testing.T) {
	f := open(t)
	k, plaintext := f.newKey(t)
	link := f.newLink(t, k.ID)
	s, err := f.OpenSession(ctx, plaintext)
	must(t, err)
	for _, row := range f.ask(t, `SELECT token_hash || key_id FROM sessions UNION ALL SELECT token_hash || key_id FROM sign_in_links`) {
		if strings.Contains(row, link.Token) || strings.Contains(row, s.Token) {
			t.Errorf("a row holds a token: %s", row)
		}
	}
	if link.Token == s.Token || !strings.HasPrefix(link.Token, "rml_") || !strings.HasPrefix(s.Token, "rms_") {
		t.Errorf("tokens %q and %q cannot be told apart", link.Token, s.Token)
	}
}
