package config

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Variables that are no settings: who is spoken to and where data is, and what an
// agent tells its guard.
var (
	clientVariables = []string{"RENDERMAC_DATA", "RENDERMAC_URL", "RENDERMAC_API_KEY"}
	ownVariables    = []string{"RENDERMAC_GUARD"}
)

// Strays says of each variable that looks like ours and sets nothing what was
// most likely meant.
func Strays(services []string) (sentences []string) {
	known := slices.Clone(clientVariables)
	for _, k := range withPrices(services) {
		known = append(known, k.env())
	}
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "RENDERMAC_") || slices.Contains(known, name) || slices.Contains(ownVariables, name) {
			continue
		}
		near := slices.MinFunc(known, func(a, b string) int { return distance(name, a) - distance(name, b) })
		sentences = append(sentences, fmt.Sprintf("environment %s sets nothing: did you mean %s?", name, near))
	}
	slices.Sort(sentences)
	return sentences
}
