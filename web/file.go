package web

import (
	"strings"
	"time"
)

// File is an input or the output.
type File struct {
	Name, Path  string // the path under a shared root, where it came by one
	Number      int    // of an input, from 1 on
	JobID       string // whose output it is
	Bytes       int64
	SHA256      string // empty: nobody has read it yet
	ContentType string // of what Source answers with
	Source      string // the address of its bytes; empty where the API gives none
	Media       *Media
	Warnings    []string
	Deleted     *time.Time // by retention
}

// Media is what a file holds; what is unknown is empty or 0.
type Media struct {
	ByAgent   bool // an agent has said it, of what the server cannot read
	Container string
	Seconds   float64
	Oddity    string
	Tracks    []Track
}

// Track is one stream of a file.
type Track struct {
	Kind, Codec, Tag, Profile   string
	Width, Height               int // as displayed
	Rotation, BitDepth          int
	Chroma                      string
	FPS                         float64
	SampleRate, Channels        int
	Primaries, Transfer, Matrix string
	Cover                       bool
}

// There tells whether its bytes can be had.
func (f File) There() bool { return f.Source != "" && f.Deleted == nil }

// Save is where a browser gets it to keep, wherever the store is.
func (f File) Save() string { return f.Source + "?download=true" }

// Brief says a file in one line.
func (f File) Brief() string {
	all := factsOf(&f)
	var said []string
	for _, name := range []string{"Container", "Picture", "Frame rate", "Duration", "Size"} {
		if all[name] != "" {
			said = append(said, all[name])
		}
	}
	return strings.Join(said, " · ")
}

// ShortDigest is a digest's beginning.
func (f File) ShortDigest() string { return f.SHA256[:min(len(f.SHA256), 12)] }

func (m Media) track(kind string) *Track {
	for i, t := range m.Tracks {
		if t.Kind == kind && !t.Cover {
			return &m.Tracks[i]
		}
	}
	return nil
}
