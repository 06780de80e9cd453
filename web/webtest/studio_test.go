package webtest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"rendermac/api"
	"rendermac/artifact/artifacttest"
)

// program is the real binary, built once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "rendermac-web")
	if err != nil {
		return "", err
	}
	closers = append(closers, func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "rendermac")
	build := exec.Command("go", "build", "-o", path, "rendermac/cmd/rendermac")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// studio is a real server on a data directory of its own, at one address through
// all its restarts.
type studio struct {
	testing.TB
	home, addr, url, key string
	client               *api.Client
	server               *process
	agents               int
}

// mustStudio starts a server. config is YAML beside what is set here.
func mustStudio(t testing.TB, config ...string) *studio {
	t.Helper()
	s := &studio{TB: t, home: t.TempDir(), addr: "127.0.0.1:" + artifacttest.FreePort(t, "127.0.0.1")}
	s.url = "http://" + s.addr
	must(t, os.WriteFile(s.data("config.yaml"), []byte("listen: "+s.addr+"\n"+strings.Join(config, "\n")), 0o600))
	s.start()
	key, err := os.ReadFile(s.data("admin.key"))
	must(t, err)
	s.key = strings.TrimSpace(string(key))
	s.client = api.NewClient(s.url, s.key, "test")
	return s
}

func (s *studio) data(elem ...string) string {
	return filepath.Join(append([]string{s.home}, elem...)...)
}

// start returns once the server answers.
func (s *studio) start() {
	s.Helper()
	s.server = s.run(s.home, "serve")
	s.server.await("msg=listening")
}

// kill ends the server as a power cut would.
func (s *studio) kill() { s.server.kill() }

// agent pairs a machine by this name and runs its agent until the test ends.
func (s *studio) agent(name string) *process {
	s.Helper()
	code, err := s.client.CreatePairing(s.Context(), api.PairingRequest{Name: &name})
	must(s, err)
	s.agents++
	dir := s.data(fmt.Sprintf("mac-%d", s.agents))
	s.mustRun(dir, "pair", s.url, code.Code)
	a := s.run(dir, "agent")
	a.await("msg=connected")
	return a
}

// run starts the binary with a data directory of its own.
func (s *studio) run(data string, args ...string) *process {
	s.Helper()
	p := &process{TB: s.TB, cmd: s.command(data, args...), changed: make(chan struct{}, 1), ended: make(chan struct{})}
	out, err := p.cmd.StderrPipe()
	must(s, err)
	must(s, p.cmd.Start())
	go p.read(out)
	s.Cleanup(p.kill)
	return p
}

// mustRun runs the binary to its end, and returns what it printed on stdout.
func (s *studio) mustRun(data string, args ...string) string {
	s.Helper()
	var told bytes.Buffer
	cmd := s.command(data, args...)
	cmd.Stderr = &told
	out, err := cmd.Output()
	if err != nil {
		s.Fatalf("rendermac %s: %v\n%s", strings.Join(args, " "), err, told.Bytes())
	}
	return string(out)
}

func (s *studio) command(data string, args ...string) *exec.Cmd {
	s.Helper()
	path, err := program()
	must(s, err)
	must(s, os.MkdirAll(data, 0o700))
	cmd := exec.Command(path, append(args, "--data", data)...)
	cmd.Env = append(os.Environ(), "HOME="+s.home)
	return cmd
}

// open shows a page to somebody who has signed in with the admin's key.
func (s *studio) open(path string, options ...Option) *Page {
	s.Helper()
	return s.openAs(s.key, path, options...)
}

// openAs is open with another key.
func (s *studio) openAs(key, path string, options ...Option) *Page {
	s.Helper()
	request, err := http.NewRequestWithContext(s.Context(), http.MethodPost, s.url+"/session", strings.NewReader(`{"key":"`+key+`"}`))
	must(s, err)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	must(s, err)
	answer.Body.Close()
	if answer.StatusCode != http.StatusNoContent || len(answer.Cookies()) != 1 {
		s.Fatalf("signing in was answered with %s", answer.Status)
	}
	return Open(s.TB, s.url+path, append(options, Cookies(answer.Cookies()...))...)
}

// film makes a small real film of so many seconds. The pictures of a long one repeat.
func (s *studio) film(name string, seconds float64, size string) string {
	s.Helper()
	pictures, file := filepath.Join(s.TempDir(), "pictures.mov"), filepath.Join(s.TempDir(), name)
	s.ffmpeg("-f", "lavfi", "-i", fmt.Sprintf("testsrc=size=%s:rate=25:duration=%g", size, min(seconds, 4)),
		"-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "file:"+pictures)
	s.ffmpeg("-stream_loop", "-1", "-i", "file:"+pictures, "-f", "lavfi", "-i", "sine", "-t", fmt.Sprint(seconds), "-c:v", "copy", "-c:a", "aac", "file:"+file)
	return file
}

func (s *studio) ffmpeg(args ...string) {
	s.Helper()
	if out, err := exec.Command("ffmpeg", append([]string{"-nostdin", "-loglevel", "error"}, args...)...).CombinedOutput(); err != nil {
		s.Fatalf("make a film: %v: %s", err, out)
	}
}

// submit makes a job of a file through the API.
func (s *studio) submit(file, preset string, change ...func(*api.JobRequest)) *api.Job {
	s.Helper()
	upload, err := s.client.Upload(s.Context(), file, func(int64) {})
	must(s, err)
	r := api.JobRequest{Service: "ffmpeg.transcode", Params: []byte(`{"preset":"` + preset + `"}`), Inputs: []api.Input{{UploadID: &upload.ID}}}
	for _, c := range change {
		c(&r)
	}
	job, err := s.client.Submit(s.Context(), r)
	must(s, err)
	return job
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// process is a run of the binary, and what it has logged.
type process struct {
	testing.TB
	cmd     *exec.Cmd
	changed chan struct{} // a line has come
	ended   chan struct{}

	mu  sync.Mutex
	log strings.Builder
}

func (p *process) read(from io.Reader) {
	for lines := bufio.NewScanner(from); lines.Scan(); {
		p.mu.Lock()
		fmt.Fprintln(&p.log, lines.Text())
		p.mu.Unlock()
		select {
		case p.changed <- struct{}{}:
		default:
		}
	}
	_ = p.cmd.Wait() // how it ended is the test's doing
	close(p.ended)
}

func (p *process) logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// await returns once the process has logged this.
func (p *process) await(text string) {
	p.Helper()
	late := time.After(Patience)
	for !strings.Contains(p.logged(), text) {
		select {
		case <-p.changed:
		case <-p.ended:
			if !strings.Contains(p.logged(), text) {
				p.Fatalf("the process ended before it said %q:\n%s", text, p.logged())
			}
		case <-late:
			p.Fatalf("the process has not said %q:\n%s", text, p.logged())
		}
	}
}

func (p *process) kill() {
	_ = p.cmd.Process.Signal(syscall.SIGKILL) // it may have ended
	<-p.ended
}
