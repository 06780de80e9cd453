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

// service is the one that most tests are about.
func service(tb testing.TB) *Service { return catalogued(tb, "ffmpeg.transcode") }

func catalogued(tb testing.TB, name string) *Service {
	tb.Helper()
	s, ok := Lookup(name)
	if !ok {
		tb.Fatalf("%s is not in the catalogue", name)
	}
	return s
}

func mustResolve(tb testing.TB, params string) json.RawMessage {
	tb.Helper()
	return resolvedFor(tb, service(tb), params)
}

func resolvedFor(tb testing.TB, s *Service, params string) json.RawMessage {
	tb.Helper()
	resolved, faults := s.Resolve(json.RawMessage(params))
	if len(faults) > 0 {
		tb.Fatalf("params %s: %v", params, faults)
	}
	return resolved
}

// look runs ffprobe as the agent does, with the demux pass where it is needed.
func look(path string) (*InputMedia, error) {
	m, err := lookAs(path, "")
	if err == nil {
		err = m.Examine(path)
	}
	return m, err
}

func lookAs(path, demuxer string) (*InputMedia, error) {
	out, _ := exec.Command("ffprobe", ProbeArgs(path, demuxer)...).Output()
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
	plan   Plan // of the last pass
	passes int
	in     []*InputMedia
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

// plan, run and transcode are for ffmpeg.transcode; planService, runService and
// right take any service and its inputs.
func plan(tb testing.TB, params, path string) (Plan, *InputMedia, error) {
	tb.Helper()
	p, in, err := planService(tb, "ffmpeg.transcode", params, path)
	if in == nil {
		return p, nil, err
	}
	return p, in[0], err
}

func run(tb testing.TB, params, path string) result {
	tb.Helper()
	return runService(tb, "ffmpeg.transcode", params, path)
}

func transcode(tb testing.TB, params, path string) result {
	tb.Helper()
	return right(tb, "ffmpeg.transcode", params, path)
}

// planService probes and plans as the agent does.
func planService(tb testing.TB, service, params string, paths ...string) (Plan, []*InputMedia, error) {
	tb.Helper()
	s := catalogued(tb, service)
	resolved := resolvedFor(tb, s, params)
	var seen []*InputMedia
	var inputs []Input
	for _, path := range paths {
		in, err := inputAt(path)
		if err != nil {
			return Plan{}, nil, err
		}
		seen = append(seen, &in.Media)
		inputs = append(inputs, in)
	}
	env := thisDevice
	env.OutPath = filepath.Join(tb.TempDir(), "out."+s.Output(resolved).Ext)
	p, err := s.Plan(resolved, inputs, env)
	return p, seen, err
}

// inputAt is a file as ffprobe sees it; a folder is one of images that the agent
// has lined up.
func inputAt(path string) (Input, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		m, err := lookOnce(path)
		if err != nil {
			return Input{}, err
		}
		return Input{Path: path, Demuxer: m.Demuxer(), Media: *m}, nil
	}
	in := Input{Path: path, Demuxer: "image2"}
	for _, e := range entries {
		in.Files = append(in.Files, e.Name())
	}
	m, err := look(filepath.Join(path, in.Files[0]))
	if err != nil {
		return in, err
	}
	in.Media = m.Sequence(len(in.Files), 0)
	return in, nil
}

// runService does what an agent does up to the look at the result.
func runService(tb testing.TB, service, params string, paths ...string) result {
	tb.Helper()
	p, in, err := planService(tb, service, params, paths...)
	if err != nil {
		tb.Fatalf("plan: %v", err)
	}
	r := result{plan: p, in: in}
	for said := r.pass(tb); r.plan.Next != nil; said = r.pass(tb) {
		next, err := r.plan.Next(said)
		if err != nil {
			tb.Fatalf("plan of pass %d: %v", r.passes+1, err)
		}
		if r.plan = next; len(next.Args) == 0 {
			break
		}
	}
	if r.seen, err = lookAs(r.path, ResultDemuxer(filepath.Ext(r.path))); err != nil {
		tb.Fatalf("look at the result: %v", err)
	}
	r.probed = mustProbe(tb, r.path)
	return r
}

// pass runs ffmpeg once and answers the lines that it wrote to stderr.
func (r *result) pass(tb testing.TB) []string {
	tb.Helper()
	r.passes++
	if path, ok := strings.CutPrefix(r.plan.Args[len(r.plan.Args)-1], "file:"); ok {
		r.path = path
	}
	cmd := exec.Command("ffmpeg", r.plan.Args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		tb.Fatalf("ffmpeg %q: %v\n%s", r.plan.Args, err, &stderr)
	}
	said := strings.Split(strings.TrimSpace(stderr.String()), "\n")
	for _, line := range said {
		if DamageOf(line) {
			r.damage = append(r.damage, line)
		}
	}
	return said
}

// right also demands that every check passes: the agent's own, and the
// verifier's with and without its own reading of the inputs.
func right(tb testing.TB, service, params string, paths ...string) result {
	tb.Helper()
	r := runService(tb, service, params, paths...)
	if len(r.damage) > 0 {
		tb.Errorf("a whole input was taken for damaged: %q", r.damage)
	}
	s := catalogued(tb, service)
	if err := s.CheckOutput(r.plan, r.seen); err != nil {
		tb.Errorf("CheckOutput: %v", err)
	}
	r.verified(tb, s, resolvedFor(tb, s, params), paths)
	return r
}

func (r result) verified(tb testing.TB, s *Service, resolved json.RawMessage, paths []string) {
	tb.Helper()
	var said []json.RawMessage
	var inputs []*probe.Media
	for i, path := range paths {
		raw, err := json.Marshal(r.in[i])
		if err != nil {
			tb.Fatal(err)
		}
		said, inputs = append(said, raw), append(inputs, probed(path))
	}
	if err := s.Expect(resolved, inputs, said).Check(r.probed); err != nil {
		tb.Errorf("Expect by the server's reading: %v", err)
	}
	if err := s.Expect(resolved, nil, said).Check(r.probed); err != nil {
		tb.Errorf("Expect by the agent's word: %v", err)
	}
	if err := s.Expect(resolved, nil, nil).Check(r.probed); err != nil {
		tb.Errorf("Expect of an unknown input: %v", err)
	}
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
