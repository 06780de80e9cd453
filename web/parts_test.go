package web

import (
	"fmt"
	"strings"
	"testing"
)

// A bar that the server has drawn stands where live.js moves it to.
func TestBar_IsDividedAsInTheBrowser(t *testing.T) {
	live, err := AssetByPath("js/live.js")
	if err != nil {
		t.Fatal(err)
	}
	var shares []string
	for _, p := range phases {
		shares = append(shares, fmt.Sprintf("%s: [%g, %g]", p.name, p.from, p.to-p.from))
	}
	if want := "const phases = { " + strings.Join(shares, ", ") + " };"; !strings.Contains(string(live.Text), want) {
		t.Errorf("live.js does not have %s", want)
	}
}
