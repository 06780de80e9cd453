package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

func TestF18_TheFileIsReadThroughGarbage(t *testing.T) {
	f := open(t)
	first, second := storetest.MustPair(t, f.DB, "a"), storetest.MustPair(t, f.DB, "b")
	must(t, f.Close())
	long := strings.Repeat("x", 1<<17)
	text := "\n" + first.DeviceID + "\n" + long + "\n\x00\xff\ndev_unknown\n2026-12-01T08:00:00Z dev_00000000000000000000000000\n2026-12-01T08:00:00Z " + second.DeviceID + "\r\n2026-12-01T08:0"
	path := filepath.Join(f.dir, "revoked")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	f.DB = storetest.MustOpen(t, storetest.Options(f.dir, f.clock))
	for _, token := range []string{first.Token, second.Token} {
		if known, err := f.KnowsToken(ctx, token); known || err != nil {
			t.Errorf("a token works: %v, %v", known, err)
		}
	}
	third := storetest.MustPair(t, f.DB, "c")
	_, err := f.Revoke(ctx, third.DeviceID)
	must(t, err)
	got, err := os.ReadFile(path)
	must(t, err)
	if want := text + "\n2026-12-01T08:00:00Z " + third.DeviceID + "\n"; string(got) != want {
		t.Errorf("the file ends %q", got[max(0, len(got)-200):])
	}
}

// The last admin key never stands in the file, and what could not be written
// there is written by the same request again, or by the next start.
func TestF18_AKeyIsNotedAfterItsRevocation(t *testing.T) {
	f := open(t)
	keys, err := f.Keys(ctx, "", 10)
	must(t, err)
	refused(t, f.RevokeKey(ctx, keys[0].ID), store.CodeLastAdminKey)
	path := filepath.Join(f.dir, "revoked")
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Fatalf("the refused revocation was noted: %v", err)
	}
	k, plaintext, err := f.CreateKey(ctx, store.NewKey{AccountID: f.account, Name: "k", Scope: "read"})
	must(t, err)
	must(t, os.Mkdir(path, 0o700)) // nothing can be appended to a folder
	refused(t, f.RevokeKey(ctx, k.ID), store.CodeUnavailable)
	_, err = f.KeyByPlaintext(ctx, plaintext)
	refused(t, err, fence.CodeNotFound)
	must(t, os.Remove(path))
	for name, again := range map[string]func(){
		"the request again": func() { must(t, f.RevokeKey(ctx, k.ID)) },
		"the next start":    func() { f.reopen(t, time.Second) },
	} {
		_ = os.Remove(path)
		again()
		if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), k.ID) {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}
