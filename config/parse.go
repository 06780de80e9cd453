package config

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// form is what a setting's type asks of its text: the YAML tag it must have ("" is
// any) and how to say so.
type form struct{ tag, words string }

// price is the setting of one service's price.
type price struct {
	of      map[string]int64
	service string
}

// limit is a setting that may be null: then it stays zero.
type limit struct{ into any }

func formOf(into any) form {
	switch p := into.(type) {
	case limit:
		return formOf(p.into)
	case *string:
		return form{"!!str", "text"}
	case *int, price:
		return form{"!!int", "a whole number"}
	case *bool:
		return form{"!!bool", "true or false"}
	case *time.Duration:
		return form{"!!str", "a duration such as 90s, 5m, 24h or 7d"}
	case *int64:
		return form{"", "a size such as 64MiB or 2TiB"}
	case *map[string]SharedRoot:
		return form{"!!map", "names with a path and accounts each, such as {media: {path: /Volumes/Media}}"}
	case *map[string]Preset:
		return form{"!!map", presetWords}
	case *[]netip.Prefix:
		return form{"!!str", "a list of addresses or networks such as 10.0.0.0/8"}
	}
	panic(fmt.Sprintf("config: no setting can be a %T", into))
}

// parse reads text into a setting.
func parse(text string, into any) (err error) {
	switch p := into.(type) {
	case limit:
		if text == "" {
			return nil
		}
		return parse(text, p.into)
	case *string:
		*p = text
	case *int:
		*p, err = strconv.Atoi(text)
	case price:
		p.of[p.service], err = strconv.ParseInt(text, 10, 64)
	case *bool:
		if *p = text == "true"; !*p && text != "false" {
			err = errors.New("neither")
		}
	case *time.Duration:
		*p, err = ParseDuration(text)
	case *int64:
		*p, err = parseSize(text)
	case *map[string]SharedRoot:
		*p, err = parseRoots(text)
	case *map[string]Preset:
		*p, err = parsePresets(text)
	case *[]netip.Prefix:
		*p, err = parsePrefixes(text)
	}
	if err != nil {
		return errors.New("must be " + formOf(into).words)
	}
	return nil
}

// ParseDuration reads a duration as Go writes it, which may begin with days of 24
// hours each: 7d, 1d12h.
func ParseDuration(text string) (time.Duration, error) {
	days, rest, has := strings.Cut(text, "d")
	if !has {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseUint(days, 10, 32)
	if err != nil || n > math.MaxInt64/uint64(day) {
		return 0, errors.New("the days are no number")
	}
	d := time.Duration(n) * day
	if rest == "" {
		return d, nil
	}
	more, err := time.ParseDuration(rest)
	if err == nil && (more < 0 || strings.ContainsAny(rest[:1], "+-") || d+more < d) {
		err = strconv.ErrRange
	}
	return d + more, err
}

const day = 24 * time.Hour

var units = []struct {
	suffix string
	shift  uint
}{{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}, {"B", 0}, {"", 0}}

// parseSize reads 64MiB, 2TiB, or a plain number of bytes.
func parseSize(text string) (int64, error) {
	for _, u := range units {
		digits, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil {
			return 0, err
		}
		if n < 0 || n > math.MaxInt64>>u.shift {
			return 0, strconv.ErrRange
		}
		return n << u.shift, nil
	}
	return 0, strconv.ErrSyntax
}

// parsePrefixes reads addresses and networks with commas between them.
func parsePrefixes(text string) ([]netip.Prefix, error) {
	var prefixes []netip.Prefix
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		if addr, err := netip.ParseAddr(part); err == nil {
			prefixes = append(prefixes, netip.PrefixFrom(addr, addr.BitLen()))
			continue
		}
		prefix, err := netip.ParsePrefix(part)
		if err != nil {
			return nil, err
		}
		prefixes = append(prefixes, prefix)
	}
	return prefixes, nil
}
