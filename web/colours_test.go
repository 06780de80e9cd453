package web

import (
	"io/fs"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var token = regexp.MustCompile(`--([a-z]+): #([0-9a-f]{6});`)

// tokens gives the colours of the first :root in css.
func tokens(css string) map[string]string {
	_, css, _ = strings.Cut(css, ":root {")
	css, _, _ = strings.Cut(css, "}")
	found := map[string]string{}
	for _, m := range token.FindAllStringSubmatch(css, -1) {
		found[m[1]] = m[2]
	}
	return found
}

// luminance is WCAG's, of a colour as six hex digits.
func luminance(colour string) float64 {
	n, err := strconv.ParseUint(colour, 16, 32)
	if err != nil {
		panic(err)
	}
	linear := func(c uint64) float64 {
		v := float64(c&0xff) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(n>>16) + 0.7152*linear(n>>8) + 0.0722*linear(n)
}

func contrast(a, b string) float64 {
	high, low := luminance(a), luminance(b)
	return (max(high, low) + 0.05) / (min(high, low) + 0.05)
}

// Whatever is written in a colour can be read on both grounds: WCAG AA asks
// 4.5 for text of this size.
func TestColours_CanBeReadOnTheirGrounds(t *testing.T) {
	css, err := fs.ReadFile(files, "css/app.css")
	if err != nil {
		t.Fatal(err)
	}
	light, dark, found := strings.Cut(string(css), "@media (prefers-color-scheme: dark)")
	if !found {
		t.Fatal("there are no dark colours")
	}
	for scheme, colours := range map[string]map[string]string{"light": tokens(light), "dark": tokens(dark)} {
		if len(colours) < 13 {
			t.Errorf("%s has but %d colours: the tokens are not where this test reads them", scheme, len(colours))
		}
		for name, colour := range colours {
			if name == "bg" || name == "surface" || name == "line" {
				continue
			}
			for _, ground := range []string{"bg", "surface"} {
				if c := contrast(colour, colours[ground]); c < 4.5 {
					t.Errorf("--%s on --%s has a contrast of %.2f in %s", name, ground, c, scheme)
				}
			}
		}
	}
}
