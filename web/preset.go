package web

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Preset is one with all the services that take it.
type Preset struct {
	OfferPreset
	Services []string
}

// Yields says what comes of it, or else what it sets.
func (p Preset) Yields() string {
	if said := p.OfferPreset.Yields(); said != "" {
		return said
	}
	var params map[string]any
	if json.Unmarshal(p.Params, &params) != nil {
		return ""
	}
	var sets []string
	for _, name := range slices.Sorted(maps.Keys(params)) {
		sets = append(sets, fmt.Sprintf("%s %v", name, params[name]))
	}
	return "Sets " + strings.Join(sets, ", ")
}
