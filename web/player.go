package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Player shows a file, where it is something to see or to hear.
type Player struct {
	File
	Kind  string // picture, video or audio
	Type  string // as a <source> takes it: with codecs, so that a browser knows before it loads
	Named string // what it is, for those whose browser cannot play it
	Out   bool   // the job has made it
}

// maxPlayersIn bounds how many inputs are loaded at once: the others are a click away.
const maxPlayersIn = 2

// Players show the inputs that the API gives, and the output.
func (j Job) Players() (list []Player) {
	for _, f := range j.Inputs {
		p := f.Player()
		if p == nil || len(list) == maxPlayersIn || slices.ContainsFunc(list, func(o Player) bool { return o.same(f) }) {
			continue
		}
		list = append(list, *p)
	}
	if j.Output != nil {
		if p := j.Output.Player(); p != nil {
			p.Out = true
			list = append(list, *p)
		}
	}
	return list
}

// At tells the players of a page apart: one stays in place while others come.
func (p Player) At() string {
	if p.Out {
		return "out"
	}
	return fmt.Sprint("in-", p.Number)
}

// same tells whether two inputs are one file: another job's output, or the same bytes.
func (p Player) same(f File) bool {
	return p.Source == f.Source || p.SHA256 != "" && p.SHA256 == f.SHA256
}

// Player is nil where there is nothing that any browser could show.
func (f File) Player() *Player {
	if !f.There() {
		return nil
	}
	kind, _, _ := strings.Cut(f.ContentType, "/")
	switch kind {
	case "image":
		return &Player{File: f, Kind: "picture", Named: strings.ToUpper(strings.TrimPrefix(f.ContentType, "image/")) + " pictures"}
	case "video", "audio":
		return playerOf(f, kind)
	}
	return nil
}

func playerOf(f File, kind string) *Player {
	p := &Player{File: f, Kind: kind, Type: f.ContentType, Named: f.ContentType}
	if f.Media == nil {
		return p
	}
	var codecs, names []string
	for _, kind := range []string{"video", "audio"} {
		if t := f.Media.track(kind); t != nil {
			names = append(names, codecName(t.Codec))
			if codec := t.parameter(); codec != "" {
				codecs = append(codecs, codec)
			}
		}
	}
	if len(names) > 0 {
		p.Named = strings.Join(names, " and ") + " in " + f.Media.Container
	}
	if f.Media.track("video") == nil && f.Media.track("audio") != nil {
		p.Kind = "audio"
	}
	// What plays mp4 plays mov, though not every browser says so.
	if p.Type == "video/quicktime" {
		p.Type = "video/mp4"
	}
	if len(codecs) > 0 {
		p.Type += `; codecs="` + strings.Join(codecs, ", ") + `"`
	}
	return p
}

// parameter is how RFC 6381 names a codec; of what the file does not say here, its
// level, it is an ordinary one. Empty is what needs none: the type says it.
func (t Track) parameter() string {
	switch t.Codec {
	case "h264":
		return map[string]string{
			"Constrained Baseline": "avc1.42e01f", "Baseline": "avc1.42001f", "Main": "avc1.4d0028", "High": "avc1.640028",
			"High 10": "avc1.6e0028", "High 4:2:2": "avc1.7a0028", "High 4:4:4 Predictive": "avc1.f40028",
		}[t.Profile]
	case "hevc":
		if t.BitDepth > 8 {
			return cmp.Or(t.Tag, "hvc1") + ".2.4.L120.90"
		}
		return cmp.Or(t.Tag, "hvc1") + ".1.6.L120.90"
	case "av1":
		return "av01.0.08M.08"
	case "aac":
		return "mp4a.40.2"
	case "vp8", "vp9", "opus", "flac", "mp3", "vorbis":
		return t.Codec
	case "pcm":
		return ""
	}
	return t.Tag // of ProRes, DNxHD, ALAC: browsers that know it play it
}
