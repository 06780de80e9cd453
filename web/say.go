package web

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// words are what templates say things with.
var words = template.FuncMap{
	"bytes": Bytes, "duration": Duration, "count": Count, "plural": plural,
	"percent": percent, "short": Short, "rfc3339": rfc3339, "state": stateOf, "bar": barOf, "join": strings.Join,
	"field": fieldOf, "list": list, "credits": credits, "thousands": thousands,
}

// Bytes says a size as the Finder does, in powers of ten.
func Bytes(n int64) string {
	if n < 1000 {
		return plural(int(n), "byte", "bytes")
	}
	v, unit := float64(n), 0
	for ; v >= 999.5 && unit < 4; unit++ {
		v /= 1000
	}
	digits := 0
	if v < 9.95 && unit > 1 {
		digits = 1
	}
	return strconv.FormatFloat(v, 'f', digits, 64) + " " + []string{"", "kB", "MB", "GB", "TB"}[unit]
}

// Duration says how long something takes, in its two largest units.
func Duration(d time.Duration) string {
	if d < time.Second {
		return "under 1 s"
	}
	s := int64(d.Round(time.Second) / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return two(s/60, "min", s%60, "s")
	case s < 86400:
		return two(s/3600, "h", s%3600/60, "min")
	}
	return two(s/86400, "d", s%86400/3600, "h")
}

// Long says a span that somebody has set, in words: 30 days, 36 hours.
func Long(d time.Duration) string {
	for _, unit := range []struct {
		length    time.Duration
		one, many string
	}{{24 * time.Hour, "day", "days"}, {time.Hour, "hour", "hours"}, {time.Minute, "minute", "minutes"}} {
		if d >= unit.length && d%unit.length == 0 {
			return plural(int(d/unit.length), unit.one, unit.many)
		}
	}
	return Duration(d)
}

func two(a int64, unitA string, b int64, unitB string) string {
	if b == 0 {
		return fmt.Sprintf("%d %s", a, unitA)
	}
	return fmt.Sprintf("%d %s %d %s", a, unitA, b, unitB)
}

// Seconds says how long a film or a sound is: 4:12, or 1:02:03.
func Seconds(s float64) string {
	n := int64(math.Round(s))
	if n < 3600 {
		return fmt.Sprintf("%d:%02d", n/60, n%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", n/3600, n/60%60, n%60)
}

// Count writes a number with its thousands apart: 12,480.
func Count(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}

func thousands(n int64) string { return Count(int(n)) }

func credits(n int64) string { return plural(int(n), "credit", "credits") }

func percent(share float64) string {
	if share > 0 && share < 0.01 {
		return "under 1 %"
	}
	return strconv.Itoa(int(math.Floor(share*100))) + " %"
}

// Short keeps the beginning and the end of an id: job_01kb…y0za.
func Short(id string) string {
	kind, rest, _ := strings.Cut(id, "_")
	if utf8.RuneCountInString(rest) < 12 {
		return id
	}
	return kind + "_" + rest[:4] + "…" + rest[len(rest)-4:]
}

func list(items ...string) []string { return items }

func rfc3339(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Sentence begins a text with a capital letter.
func Sentence(text string) string {
	first, n := utf8.DecodeRuneInString(text)
	if n == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + text[n:]
}

// fullSentence makes one of "the Mac was not heard of".
func fullSentence(text string) string {
	if text == "" {
		return ""
	}
	return Sentence(strings.TrimSuffix(text, ".")) + "."
}
