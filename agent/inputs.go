package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"rendermac/agentproto"
	"rendermac/fence"
	"rendermac/media"
	"rendermac/program"
)

// probeInputs asks ffprobe what each input really is, and tells the server.
func (r *run) probeInputs(ctx context.Context, paths []string) ([]media.Input, error) {
	var inputs []media.Input
	var said []agentproto.RawJSON
	for i, path := range paths {
		m, err := r.ffprobe(ctx, path, "")
		if f := (*failure)(nil); errors.As(err, &f) && len(paths) > 1 {
			return nil, failed(f.code, "input %d: %s", i+1, f.message)
		}
		if err != nil {
			return nil, err
		}
		if err := m.Examine(path); err != nil {
			return nil, err
		}
		raw, err := json.Marshal(m)
		if err != nil {
			return nil, fmt.Errorf("encode what ffprobe said: %w", err)
		}
		inputs = append(inputs, media.Input{Path: path, Demuxer: m.Demuxer(), Media: *m})
		said = append(said, raw)
	}
	r.report.probed(said)
	return inputs, nil
}

// ffprobe reads a file's streams; where they carry no durations of their own,
// a second pass measures them by their packets.
func (r *run) ffprobe(ctx context.Context, path, demuxer string) (*media.InputMedia, error) {
	var out bytes.Buffer
	if err := r.runFFprobe(ctx, path, media.ProbeArgs(path, demuxer), &out); err != nil {
		return nil, err
	}
	m, err := media.ParseFFprobe(out.Bytes())
	if err != nil {
		return nil, failed(fence.RunnerFailed, "%s", err)
	}
	if !m.NeedsPackets() {
		return m, nil
	}
	in, packets := io.Pipe()
	measured := make(chan error, 1)
	go func() {
		err := m.MeasurePackets(in)
		in.CloseWithError(err)
		measured <- err
	}()
	err = r.runFFprobe(ctx, path, media.PacketArgs(path, m.Demuxer()), packets)
	packets.Close()
	return m, errors.Join(err, <-measured)
}

func (r *run) runFFprobe(ctx context.Context, path string, args []string, out io.Writer) error {
	watched, feed, stop := watchdog(ctx, r.a.Stall, failed(fence.InternalError, "ffprobe said nothing for %s", r.a.Stall))
	defer stop()
	said := r.complaints()
	cmd := program.Command(r.dir, r.a.FFprobe, args)
	cmd.Stdout = fed{out, feed}
	cmd.Stderr = program.Lines(said.line)
	err := program.Run(watched, cmd, r.a.grace)
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	var size int64
	if info, err := os.Stat(path); err == nil {
		size = info.Size()
	}
	return failed(fence.RunnerFailed, "%s", media.ExplainFFprobe(strings.Join(said.tail, "\n"), size))
}

// fed is a writer that feeds a watchdog.
type fed struct {
	io.Writer
	feed func()
}

func (f fed) Write(p []byte) (int, error) {
	f.feed()
	return f.Writer.Write(p)
}

// env is what plans may count on here.
func (a *agent) env(out string) media.Env {
	return media.Env{
		Encoders: a.device.Encoders, Features: a.device.Features, Platform: a.device.Platform, OutPath: out,
		CPUs: runtime.NumCPU(), Browser: filepath.Join(filepath.Dir(out), program.BrowserName),
	}
}
