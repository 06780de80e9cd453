package config

import (
	"math"
	"strings"
)

// nearest is the known key, or section of keys, that name was most likely meant
// to be: by its whole name, or by the last part where the section is missing.
func nearest(name string, keys []key) string {
	best, least := "", math.MaxInt
	for _, k := range keys {
		for known := k.name; known != ""; known = parent(known) {
			last := known[strings.LastIndex(known, ".")+1:]
			if d := min(distance(name, known), distance(name, last)); d < least {
				best, least = known, d
			}
		}
	}
	return best
}

func parent(name string) string { return name[:max(0, strings.LastIndex(name, "."))] }

// distance is the number of letters to change, insert or leave out (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
