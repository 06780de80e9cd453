package media

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"rendermac/media/mediatest"
	"rendermac/media/probe"
)

var thisDevice = Env{
	Platform: "linux", Features: []string{"drawtext", "zscale"},
	Encoders: []string{"aac", "alac", "libx264", "libx265", "prores_ks"},
}

func service(tb testing.TB) *Service {
	tb.Helper()
	s, ok := Lookup("ffmpeg.transcode")
	if !ok {
		tb.Fatal("ffmpeg.transcode is not in the catalogue")
	}
	return s
}

func mustResolve(tb testing.TB, params string) json.RawMessage {
	tb.Helper()
	resolved, faults := service(tb).Resolve(json.RawMessage(params))
	if len(faults) > 0 {
		tb.Fatalf("params %s: %v", params, faults)
	}
	return resolved
}

// look runs ffprobe as the agent does, with the demux pass where it is needed.
func look(path string) (*InputMedia, error) {
	out, _ := exec.Command("ffprobe", ProbeArgs(path, "")...).Output()
	m, err := ParseFFprobe(out)
	if err != nil || !m.NeedsPackets() {
		return m, err
	}
	packets, err := exec.Command("ffprobe", PacketArgs(path, m.Demuxer())...).Output()
	if err != nil {
		return nil, err
	}
	return m, m.MeasurePackets(bytes.NewReader(packets))
}

// lookOnce remembers the inputs, which many tests share.
func lookOnce(path string) (*InputMedia, error) {
	look, _ := looks.LoadOrStore(path, sync.OnceValues(func() (*InputMedia, error) { return look(path) }))
	return look.(func() (*InputMedia, error))()
}

var looks sync.Map

// result is one finished run.
type result struct {
	path   string
	plan   Plan
	in     *InputMedia
	seen   *InputMedia  // by ffprobe
	probed *probe.Media // by our own reader
	damage []string
}

func (r result) stream(tb testing.TB, kind string) InputStream {
	tb.Helper()
	list := r.seen.of(kind)
	if len(list) == 0 {
		tb.Fatalf("the result has no %s", kind)
	}
	return list[0]
}

// plan probes and plans as the agent does.
func plan(tb testing.TB, params, path string) (Plan, *InputMedia, error) {
	tb.Helper()
	s, resolved := service(tb), mustResolve(tb, params)
	in, err := lookOnce(path)
	if err != nil {
		return Plan{}, nil, err
	}
	env := thisDevice
	env.OutPath = filepath.Join(tb.TempDir(), "out."+s.Output(resolved).Ext)
	p, err := s.Plan(resolved, []Input{{Path: path, Demuxer: in.Demuxer(), Media: *in}}, env)
	return p, in, err
}

// run does what an agent does up to the look at the result.
func run(tb testing.TB, params, path string) result {
	tb.Helper()
	p, in, err := plan(tb, params, path)
	if err != nil {
		tb.Fatalf("plan: %v", err)
	}
	r := result{plan: p, in: in, path: strings.TrimPrefix(p.Args[len(p.Args)-1], "file:")}
	cmd := exec.Command("ffmpeg", p.Args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		tb.Fatalf("ffmpeg %q: %v\n%s", p.Args, err, &stderr)
	}
	for line := range strings.Lines(stderr.String()) {
		if DamageOf(line) {
			r.damage = append(r.damage, line)
		}
	}
	if r.seen, err = look(r.path); err != nil {
		tb.Fatalf("look at the result: %v", err)
	}
	r.probed = mustProbe(tb, r.path)
	return r
}

// transcode also demands that every check passes: the agent's own, and the
// verifier's with and without its own reading of the input.
func transcode(tb testing.TB, params, path string) result {
	tb.Helper()
	r := run(tb, params, path)
	s, resolved := service(tb), mustResolve(tb, params)
	if len(r.damage) > 0 {
		tb.Errorf("a whole input was taken for damaged: %q", r.damage)
	}
	if err := s.CheckOutput(r.plan, r.seen); err != nil {
		tb.Errorf("CheckOutput: %v", err)
	}
	said, err := json.Marshal(r.in)
	if err != nil {
		tb.Fatal(err)
	}
	inputs := []*probe.Media{probed(path)}
	if err := s.Expect(resolved, inputs, []json.RawMessage{said}).Check(r.probed); err != nil {
		tb.Errorf("Expect by the server's reading: %v", err)
	}
	if err := s.Expect(resolved, nil, []json.RawMessage{said}).Check(r.probed); err != nil {
		tb.Errorf("Expect by the agent's word: %v", err)
	}
	if err := s.Expect(resolved, nil, nil).Check(r.probed); err != nil {
		tb.Errorf("Expect of an unknown input: %v", err)
	}
	return r
}

// probed is nil for what our reader does not know.
func probed(path string) *probe.Media {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	m, _ := probe.File(f, info.Size())
	return m
}

func mustProbe(tb testing.TB, path string) *probe.Media {
	tb.Helper()
	m := probed(path)
	if m == nil {
		tb.Fatalf("our reader refuses %s", path)
	}
	return m
}

func sample(tb testing.TB, name string) string {
	tb.Helper()
	return filepath.Join(mediatest.Samples(tb), name)
}
