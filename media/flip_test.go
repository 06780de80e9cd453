package media

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"rendermac/media/probe"
)

// results are files that services have made, with what was expected of them.
type resultFile struct {
	name   string
	data   []byte
	expect Expectation
	probed *probe.Media
}

var madeResults []resultFile // once for all tests here, none of which is parallel

func someResults(t *testing.T) []resultFile {
	t.Helper()
	if madeResults != nil {
		return madeResults
	}
	var all []resultFile
	for _, c := range []struct{ name, sample, params string }{
		{"mp4", "01_normal_h264_aac.mp4", `{"width":160,"quality":20,"duration_s":1}`},
		{"mov with timecode", "09_tmcd.mov", `{"preset":"prores-proxy","duration_s":1}`},
		{"m4a", "01_normal_h264_aac.mp4", `{"preset":"podcast-m4a","duration_s":1}`},
	} {
		path := sample(t, c.sample)
		r := transcode(t, c.params, path)
		data, err := os.ReadFile(r.path)
		if err != nil {
			t.Fatal(err)
		}
		e := service(t).Expect(mustResolve(t, c.params), []*probe.Media{probed(path)}, nil)
		all = append(all, resultFile{c.name, data, e, r.probed})
	}
	madeResults = all
	return all
}

// verdict is what the verifier makes of bytes.
func (r resultFile) verdict(data []byte) (*probe.Media, error) {
	m, err := probe.File(bytes.NewReader(data), int64(len(data)))
	if err == nil {
		err = r.expect.Check(m)
	}
	return m, err
}

// part is a box of a file, by its path.
type part struct {
	path       string
	start, end int
}

// containers are the boxes in which others lie, and how long their own head is.
var containers = map[string]int{"moov": 8, "trak": 8, "edts": 8, "mdia": 8, "minf": 8, "dinf": 8, "stbl": 8, "dref": 16, "stsd": 16}

func partsOf(data []byte, from, to int, in string) (list []part) {
	for at := from; at+8 <= to; {
		size := int(binary.BigEndian.Uint32(data[at:]))
		typ := string(data[at+4 : at+8])
		p := part{strings.TrimPrefix(in+"/"+typ, "/"), at, at + size}
		list = append(list, p)
		if head := containers[typ]; head > 0 {
			list = append(list, partsOf(data, at+head, at+size, p.path)...)
		}
		at += size
	}
	return list
}

// place names the innermost box of an offset, and how far in it lies.
func place(parts []part, at int) string {
	found := part{}
	for _, p := range parts {
		if p.start <= at && at < p.end {
			found = p
		}
	}
	return fmt.Sprintf("%s+%d", found.path[strings.LastIndexByte(found.path, '/')+1:], at-found.start)
}

// facts are what expectations judge, as far as they tell differences.
func facts(m *probe.Media) string {
	var out strings.Builder
	fmt.Fprintln(&out, m.Container, m.Faststart)
	for _, s := range m.Streams {
		fmt.Fprintln(&out, s.Kind, s.Codec, s.Tag, s.Profile, s.Width, s.Height, s.Rotation, s.BitDepth, s.Chroma, s.Frames, s.SampleRate, s.Color)
	}
	return out.String()
}

func sameLengths(a, b *probe.Media) bool {
	for i, s := range a.Streams {
		if s.Kind != "timecode" && math.Abs(s.DurationS-b.Streams[i].DurationS) > slackS(s.FPS) {
			return false
		}
	}
	return true
}

// A bit of the index that is another one is seen, or changes nothing that was
// promised: what no player looks at, and what only a decoder can tell. All bits
// are tried with RENDERMAC_SOAK, one in eleven otherwise.
func TestFlip_NoBitOfTheIndexMakesAnotherFilm(t *testing.T) {
	seed, step := rand.Uint64(), 11
	if os.Getenv("RENDERMAC_SOAK") != "" {
		step = 1
	}
	for _, r := range someResults(t) {
		t.Run(r.name, func(t *testing.T) {
			parts := partsOf(r.data, 0, len(r.data), "")
			moov := parts[slices.IndexFunc(parts, func(p part) bool { return p.path == "moov" })]
			unseen := map[string]int{}
			for bit := 8*moov.start + int(seed%uint64(step)); bit < 8*moov.end; bit += step {
				r.data[bit/8] ^= 1 << (bit % 8)
				m, err := r.verdict(r.data)
				r.data[bit/8] ^= 1 << (bit % 8)
				if err != nil {
					continue
				}
				if facts(m) != facts(r.probed) || !sameLengths(m, r.probed) {
					t.Errorf("bit %d at %s flipped makes another film that passes (seed %d):\n%s", bit%8, place(parts, bit/8), seed, facts(m))
				}
				at, _, _ := strings.Cut(place(parts, bit/8), "+")
				unseen[at]++
			}
			for _, table := range []string{"stts", "stsz", "stsc", "stco", "co64"} {
				if unseen[table] > 0 {
					t.Errorf("%d bits of %s flipped unseen (seed %d)", unseen[table], table, seed)
				}
			}
			t.Logf("bits unseen, by box: %v", unseen)
		})
	}
}

// A result that lost its tail, at the border of a box or anywhere, is refused.
func TestFlip_NoPrefixPasses(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	for _, r := range someResults(t) {
		cuts := []int{len(r.data) - 1}
		for _, p := range partsOf(r.data, 0, len(r.data), "") {
			cuts = append(cuts, p.start, p.start+8, p.end-1)
		}
		for range 300 {
			cuts = append(cuts, random.IntN(len(r.data)))
		}
		for _, cut := range cuts {
			if _, err := r.verdict(r.data[:cut]); err == nil {
				t.Errorf("%s cut to %d of %d bytes passed (seed %d)", r.name, cut, len(r.data), seed)
			}
		}
	}
}
