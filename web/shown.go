package web

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// unshown are the characters that are not seen but change how others are: those
// that control, and those that turn the direction of text. What a form sends back
// is matched as a whole.
var unshown = regexp.MustCompile(`\bvalue="[^"]*"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x{9f}\x{61c}\x{200e}\x{200f}\x{202a}-\x{202e}\x{2066}-\x{2069}]`)

func isUnshown(r rune) bool {
	return unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r' || unicode.Is(unicode.Bidi_Control, r)
}

// shown escapes them in a page, as rendermac does in a terminal: what is named to
// look like a film, evil\u202evom.exe, looks like what it is. Names in Hebrew or
// Arabic need none of them.
func shown(page string) string {
	if !strings.ContainsFunc(page, isUnshown) {
		return page
	}
	return unshown.ReplaceAllStringFunc(page, func(found string) string {
		if strings.HasPrefix(found, "value=") {
			return found
		}
		return fmt.Sprintf(`\u%04x`, []rune(found)[0])
	})
}
