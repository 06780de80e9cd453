package web

import (
	"strings"
	"testing"
)

// A name cannot turn itself round: what does so is shown, and nothing else is changed.
func TestRender_ShowsWhatTurnsANameRound(t *testing.T) {
	var page strings.Builder
	hebrew := "ראיון עם הבמאי.mov"
	f := Frame{Title: "Fault", Query: "evil\u202evom", Installation: hebrew}
	if err := Render(&page, f, Fault{Title: "evil\u202evom.exe.mov", Detail: "a\u2066b\x1b\u0085"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`evil\u202evom.exe.mov`, `a\u2066b\u001b\u0085`, hebrew, "value=\"evil\u202evom\""} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	for r := rune(0); r < 0x3000; r++ {
		if isUnshown(r) != unshown.MatchString(string(r)) {
			t.Errorf("%U is looked for, and not found", r)
		}
	}
}
