package web

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// New is where files become jobs.
type New struct {
	Account     string // its id: unfinished uploads are remembered by it
	StoreOrigin string // where the store's URLs lead, if not here
	MaxAttempts int    // of a job that does not say
	Offers      []Offer
}

func (New) template() string { return "new.html" }

// Offer is a service that can be asked for.
type Offer struct {
	Name, Title          string
	Online               int // devices that take it now
	MinInputs, MaxInputs int
	Archive              string // what its one input is a zip of: frames, bundle, or nothing
	Schema               json.RawMessage
	Presets              []OfferPreset
}

// OfferPreset is a named set of params.
type OfferPreset struct {
	Name, Title string
	Own         bool // of this server's config
	Params      json.RawMessage
}

// usual is the order in which services are asked for.
var usual = []string{"ffmpeg.transcode", "ffmpeg.thumbnail", "ffmpeg.sheet", "ffmpeg.audio", "ffmpeg.concat", "ffmpeg.frames", "remotion.render"}

// Choice is the offers, the usual ones first.
func (n New) Choice() []Offer {
	place := func(o Offer) int {
		if at := slices.Index(usual, o.Name); at >= 0 {
			return at
		}
		return len(usual)
	}
	return slices.SortedStableFunc(slices.Values(n.Offers), func(a, b Offer) int { return cmp.Compare(place(a), place(b)) })
}

// Usual is the name of the service's picture, which a service of a later version
// may not have.
func (o Offer) Usual() bool { return slices.Contains(usual, o.Name) }

// joins tells whether one job takes all files.
func (o Offer) joins() bool { return o.MaxInputs > 1 }

// Takes says what the service works on.
func (o Offer) Takes() string {
	switch {
	case o.Archive == "frames":
		return "A zip of numbered images makes one film."
	case o.Archive == "bundle":
		return "A zip of a Remotion bundle makes one film."
	case o.joins():
		return "All files become one film, in the order of the list: " + plural(o.MinInputs, "file", "files") + " to " + Count(o.MaxInputs) + "."
	}
	return "Each file gets a job of its own."
}

// Plain is what comes without a preset: what the schema has for defaults.
func (o Offer) Plain() (OfferPreset, error) {
	fields, err := o.fields()
	params := map[string]any{}
	for _, f := range fields {
		if strings.HasSuffix(f.Name, "codec") {
			params[f.Name] = f.Default
		}
	}
	raw, _ := json.Marshal(params) // texts only
	return OfferPreset{Params: raw}, err
}

// Films tells whether its presets make pictures rather than sound alone.
func (o Offer) Films() bool {
	return slices.ContainsFunc(o.Presets, func(p OfferPreset) bool { return !p.Scene().Sound })
}
