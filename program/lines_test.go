package program

import (
	"strings"
	"testing"
)

func TestLinesAreCutHoweverTheyArrive(t *testing.T) {
	var got []string
	l := Lines(func(s string) { got = append(got, s) })
	for _, piece := range []string{"a", "b\nc\r\n\n", "\xff\n", strings.Repeat("x", 3000) + "\n"} {
		l.Write([]byte(piece))
	}
	if len(got) != 4 || got[0] != "ab" || got[1] != "c" || got[2] != "?" || len(got[3]) != longestLine {
		t.Errorf("lines are %q", got)
	}
}
