package media

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"rendermac/media/mediatest"
)

// canaries are what no run may touch: a file, and an address.
type canaries struct {
	file, address string
	asked         atomic.Int32
}

func newCanaries(tb testing.TB) *canaries {
	tb.Helper()
	c := &canaries{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.asked.Add(1)
		http.ServeFile(w, r, c.file)
	}))
	tb.Cleanup(srv.Close)
	c.file, c.address = mediatest.Clip(tb, "canary.mp4", "-f", "lavfi", "-i", "color=red:s=64x64:r=25:d=0.4", "-f", "lavfi", "-i", "sine=d=0.4",
		"-c:v", "libx264", "-preset", "ultrafast"), srv.URL+"/canary.mp4"
	return c
}

// lures are files that name another one; %s is its name or address.
var lures = map[string]string{
	"m3u8":            "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:1,\n%s\n#EXT-X-ENDLIST\n",
	"m3u8 with a map": "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXT-X-MAP:URI=\"%[1]s\"\n#EXTINF:1,\n%[1]s\n#EXT-X-ENDLIST\n",
	"m3u8 with a key": "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXT-X-KEY:METHOD=AES-128,URI=\"%[1]s\"\n#EXTINF:1,\n%[1]s\n#EXT-X-ENDLIST\n",
	"m3u8 concat":     "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:1,\nconcat:%[1]s|subfile,,start,0,end,64,,:%[1]s\n#EXT-X-ENDLIST\n",
	"ffconcat":        "ffconcat version 1.0\nfile '%s'\n",
	"pls":             "[playlist]\nFile1=%s\nNumberOfEntries=1\nVersion=2\n",
	"sdp":             "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\na=control:%s\nm=video 5004 RTP/AVP 96\na=rtpmap:96 H264/90000\n",
	"svg":             "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"64\" height=\"64\"><image width=\"64\" height=\"64\" xlink:href=\"%s\"/></svg>",
	"svg entity":      "<?xml version=\"1.0\"?><!DOCTYPE svg [<!ENTITY x SYSTEM \"%s\">]><svg xmlns=\"http://www.w3.org/2000/svg\" width=\"64\" height=\"64\"><text>&x;</text></svg>",
	"dash":            "<?xml version=\"1.0\"?><MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" type=\"static\" mediaPresentationDuration=\"PT1S\"><Period><AdaptationSet mimeType=\"video/mp4\"><Representation id=\"1\" bandwidth=\"1\"><BaseURL>%s</BaseURL></Representation></AdaptationSet></Period></MPD>",
	"smil":            "<smil><body><video src=\"%s\"/></body></smil>",
	"imf":             "<?xml version=\"1.0\"?><CompositionPlaylist><Id>%s</Id></CompositionPlaylist>",
	"ffmetadata":      ";FFMETADATA1\ntitle=%s\n",
	"vobsub":          "# VobSub index file, v7\n# %s\nid: en, index: 0\ntimestamp: 00:00:00:000, filepos: 000000000\n",
	"cue":             "FILE \"%s\" WAVE\n TRACK 01 AUDIO\n INDEX 01 00:00:00\n",
	"avs":             "AviSource(\"%s\")\n",
	"redirect":        "[Reference]\nRef1=%s\n",
	"rtsp text":       "RTSPtext\n%s\n",
	"playlist of %d":  "%s/%%03d.png\n",
}

// A file that names another is refused with a reason, whatever it calls itself,
// and nothing of what it names is opened.
func TestAttack_FilesThatNameOthers(t *testing.T) {
	c := newCanaries(t)
	opened := watch(t, c.file)
	for kind, text := range lures {
		for _, target := range []string{"file:" + c.file, c.address} {
			lure := filepath.Join(t.TempDir(), "in.mp4")
			if err := os.WriteFile(lure, fmt.Appendf(nil, text, target), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("ffprobe", ProbeArgs(lure, "")...).CombinedOutput()
			if _, parsed := ParseFFprobe(out); err == nil && parsed == nil {
				t.Errorf("%s: ffprobe takes it for media: %s", kind, out)
			}
			if bytes.Contains(out, []byte("64x64")) {
				t.Errorf("%s: it was followed", kind)
			}
		}
	}
	untouched(t, c, opened)
}

func untouched(tb testing.TB, c *canaries, opened func() bool) {
	tb.Helper()
	if c.asked.Load() > 0 {
		tb.Errorf("an address was asked %d times", c.asked.Load())
	}
	if opened() {
		tb.Error("a file that is no input was opened")
	}
}

// Every service takes a whole film under the ugliest path as a file, and an
// option, protocol or pattern is none of it.
func TestAttack_NamesAreNames(t *testing.T) {
	c := newCanaries(t)
	for _, name := range []string{
		"-", "-i", "-version", "concat:a|b", "subfile,,start,0,end,64,,:x", "%03d.mp4", "x%d", "pipe:0", "http:x", "data:x", "tee:a|b",
		"$(touch hit)", "`touch hit`", ";touch hit;", "a'b\"c", "a\nb", "*", "[in]", "movie=x", "-y\x01",
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if err := os.Link(c.file, path); err != nil {
			t.Fatal(err)
		}
		m, err := look(path)
		if err != nil || m.Streams[0].Width != 64 {
			t.Errorf("%q: %v", name, err)
			continue
		}
		for _, s := range film() {
			env := thisDevice
			env.OutPath = filepath.Join(dir, "out")
			p, err := s.Plan(resolvedFor(t, s, needed[s.Name]), slices.Repeat([]Input{{Path: path, Demuxer: m.Demuxer(), Media: *m}}, s.MinInputs), env)
			if err != nil {
				t.Errorf("%q to %s: %v", name, s.Name, err)
				continue
			}
			onlyBehindI(t, p.Args, path)
		}
		if left, _ := os.ReadDir(dir); len(left) != 1 {
			t.Errorf("%q left %v", name, left)
		}
	}
}

// needed are the params that a service cannot do without.
var needed = map[string]string{"ffmpeg.frames": `{"fps":25}`}

// film lists the services that take films.
func film() (list []*Service) {
	for _, s := range All() {
		if s.Name != "remotion.render" && s.Name != "ffmpeg.frames" {
			list = append(list, s)
		}
	}
	return list
}

// onlyBehindI demands that argv has the path nowhere but behind -i and file:, and that
// every input comes with both lists.
func onlyBehindI(tb testing.TB, args []string, path string) {
	tb.Helper()
	inputs := 0
	for i, arg := range args {
		if !strings.Contains(arg, path) {
			continue
		}
		if inputs++; arg != "file:"+path || args[i-1] != "-i" {
			tb.Errorf("the path stands in %q behind %q", arg, args[i-1])
		}
	}
	for _, list := range []string{"-protocol_whitelist", "-format_whitelist"} {
		if n := count(args, list); n < inputs || n == 0 {
			tb.Errorf("%d inputs, %d × %s", inputs, n, list)
		}
	}
}

func count(args []string, arg string) (n int) {
	for _, a := range args {
		if a == arg {
			n++
		}
	}
	return n
}

// A timecode is text from the file. It reached drawtext as it was: filters of a
// stranger's would have run, and could have written files.
func TestAttack_TimecodeIsNoFilter(t *testing.T) {
	hit := filepath.Join(t.TempDir(), "hit")
	for _, tag := range []string{
		"00:00:00:00',metadata=mode=print:file=" + hit + ",drawtext=text='x", "-y",
	} {
		path := mediatest.Clip(t, "in.mkv", "-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=0.2", "-c:v", "libx264", "-preset", "ultrafast",
			"-metadata", "timecode="+tag, "-metadata:s:v", "timecode="+tag)
		for _, params := range []string{`{"burn_timecode":true,"width":64}`, `{"preset":"prores-proxy"}`} {
			transcode(t, params, path)
		}
	}
	if _, err := os.Stat(hit); err == nil {
		t.Error("a filter out of a file has run")
	}
}

// A track of a movie may say that its samples lie in another file.
func TestAttack_MovieWithMediaElsewhere(t *testing.T) {
	c := newCanaries(t)
	opened := watch(t, c.file)
	own := mediatest.Clip(t, "own.mov", "-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=0.2", "-c:v", "libx264", "-preset", "ultrafast")
	data, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"alis", "url "} {
		path := filepath.Join(t.TempDir(), "in.mov")
		if err := os.WriteFile(path, elsewhere(t, data, kind, c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := attempt(t, "ffmpeg.transcode", `{"width":64}`, path); kind == "alis" && got.refused == "" {
			t.Errorf("the track is taken from somewhere: %+v", got)
		}
	}
	untouched(t, c, opened)
}

// elsewhere replaces the self-reference of a movie's track, whose index lies at
// its end so that no sample moves.
func elsewhere(tb testing.TB, mov []byte, kind, target string) []byte {
	tb.Helper()
	at := bytes.LastIndex(mov, []byte("dref"))
	old := mov[at+12 : at+24] // the one entry: length, "url ", flags
	entry := []byte(kind + "\x00\x00\x00\x00" + target + "\x00")
	if kind == "alis" {
		entry = []byte(kind + "\x00\x00\x00\x00" + string(alias(target)))
	}
	entry = append(binary.BigEndian.AppendUint32(nil, uint32(len(entry)+4)), entry...)
	grown := uint32(len(entry) - len(old))
	fresh := slices.Concat(mov[:at+12], entry, mov[at+24:])
	for _, box := range []string{"moov", "trak", "mdia", "minf", "dinf", "dref"} {
		i := bytes.LastIndex(fresh[:at+4], []byte(box))
		if i < 4 {
			tb.Fatalf("the movie has no %s", box)
		}
		binary.BigEndian.PutUint32(fresh[i-4:], binary.BigEndian.Uint32(fresh[i-4:])+grown)
	}
	return fresh
}

// alias is Apple's record of a file, as far as ffmpeg reads one.
func alias(target string) []byte {
	b := make([]byte, 150)
	binary.BigEndian.PutUint16(b[6:], 2)
	copy(b[50:], "\x0acanary.mp4")
	binary.BigEndian.PutUint16(b[134:], 1)
	binary.BigEndian.PutUint16(b[136:], 1)
	for _, kind := range []uint16{2, 18} {
		b = binary.BigEndian.AppendUint16(b, kind)
		b = binary.BigEndian.AppendUint16(b, uint16(len(target)))
		if b = append(b, target...); len(target)%2 != 0 {
			b = append(b, 0)
		}
	}
	b = append(b, 0xff, 0xff, 0, 0)
	binary.BigEndian.PutUint16(b[4:], uint16(len(b)))
	return b
}

// No text from params reaches argv but as one of the words that are listed.
func TestAttack_ParamsAreWordsAndNumbers(t *testing.T) {
	for _, s := range All() {
		for name, kind := range stringParams(t, s) {
			for _, evil := range []string{"-", "concat:/etc/passwd", "h264 -vf movie=x", "x',movie=/etc/passwd", "/etc/passwd", "$(id)", "%03d"} {
				raw := fmt.Sprintf(`{%q:%q}`, name, evil)
				if _, faults := s.Resolve([]byte(raw)); len(faults) == 0 {
					t.Errorf("%s takes %s for %s (%s)", s.Name, evil, name, kind)
				}
			}
		}
	}
}

// stringParams are the params of a service that take text and no preset's name.
func stringParams(tb testing.TB, s *Service) map[string]string {
	tb.Helper()
	var schema struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(s.Schema(), &schema); err != nil {
		tb.Fatal(err)
	}
	list := map[string]string{}
	for name, p := range schema.Properties {
		if kind := fmt.Sprint(p.Type); strings.Contains(kind, "string") && s.Name != "remotion.render" {
			list[name] = kind
		}
	}
	return list
}
