package store_test

import (
	"strings"
	"testing"

	"rendermac/store"
)

// Whatever people type, a code is eight letters that no two ways of typing it
// tell apart, and nothing else is one.
func FuzzPairingCode(f *testing.F) {
	for _, typed := range []string{"K7QD-2MXP", "k7qd2mxp", " K7QD - 2MXP ", "K7QD-2MX", "K7QD-2MXP9", "O0I1-LU00", "K7QD\u20112MXP", "ſ7QD-2MXP", "ſ222222", "\xff", "K7QD-2MXP\x00", "--------"} {
		f.Add(typed)
	}
	f.Fuzz(func(t *testing.T, typed string) {
		code, ok := store.NormalCode(typed)
		if !ok {
			return
		}
		if len(code) != 8 || strings.Trim(code, "23456789ABCDEFGHJKMNPQRSTVWXYZ") != "" {
			t.Fatalf("%q was taken as the code %q", typed, code)
		}
		letters := strings.NewReplacer("-", "", " ", "").Replace(typed)
		for _, way := range []string{code, strings.ToLower(code), code[:4] + "-" + code[4:], " " + code[:4] + " " + strings.ToLower(code[4:]), letters} {
			if again, ok := store.NormalCode(way); !ok || again != code {
				t.Fatalf("%q is %q, and typed as %q it is %q", typed, code, way, again)
			}
		}
		if !strings.EqualFold(letters, code) || len(letters) != 8 {
			t.Fatalf("%q was taken as %q, whose letters it does not have", typed, code)
		}
	})
}
