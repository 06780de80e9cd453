package qualify

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"rendermac/api"
	"rendermac/artifact/artifacttest"
)

// A client or an agent has so many parts on their way at a time, or ranges of so
// many bytes.
const (
	inFlight   = 4
	rangeBytes = 16 * mib
)

// haul is a site through which one film goes: up, through a job whose result is
// as large, and down again. Between all of its parties are cables.
type haul struct {
	*site
	*meter
	shelf
	film          string
	size, part    int64
	clients, macs *cable   // to the server
	inner, files  *cable   // to S3, from the server and from the others
	outer         []*cable // all on which the parties move files
	s3            *artifacttest.S3Server
	bucket        string
	agentAt       points

	begin  sync.Mutex // held while a party is started, so that it can be killed at its first byte
	keeper map[string]*keeper
	client *process
}

// shelf is where a site keeps its files.
type shelf struct {
	name string
	// config starts what it needs and says how a server finds it.
	config func(h *haul) string
	// parties are those that can be killed; size and part are the film's then.
	parties    []string
	size, part int64
}

var shelves = []shelf{
	{"dir", (*haul).onDir, []string{"client", "agent", "server"}, 96 * mib, mib},
	{"s3", (*haul).onS3, []string{"client", "agent", "server", "store"}, 96 * mib, 5 * mib},
}

func (h *haul) onDir() string { return fmt.Sprintf("store: {part_bytes: %d}\n", h.part) }

// newHaul is a site with a kept server; its Mac has not begun yet.
func newHaul(t testing.TB, on shelf, size, part int64) *haul {
	t.Helper()
	h := &haul{
		site: newSite(t, ""), meter: new(meter), shelf: on, film: bigFilm(t, size), size: size, part: part,
		keeper: map[string]*keeper{}, agentAt: newPoints(t),
	}
	to := strings.TrimPrefix(h.url, "http://")
	h.clients, h.macs = newCable(t, h.meter, to), newCable(t, h.meter, to)
	h.outer = []*cable{h.clients, h.macs}
	h.configure(on.config(h))
	h.keeper["server"] = keep(t, h.site.server, h.launch)
	until(t, "the server is ready", h.ready)
	return h
}

func (h *haul) configure(text string) {
	h.Helper()
	if err := os.WriteFile(filepath.Join(h.data(), "config.yaml"), []byte(text), 0o600); err != nil {
		h.Fatal(err)
	}
}

// pairMac pairs a Mac whose results are as large as the film.
func (h *haul) pairMac() {
	h.Helper()
	there := *h.site
	there.url = h.macs.url
	there.pair("mini")
	config := fmt.Sprintf("agent: {slots: 1, ffmpeg: %s}\n", largeTools(h, h.size))
	if err := os.WriteFile(filepath.Join(h.home, "mini", "config.yaml"), []byte(config), 0o600); err != nil {
		h.Fatal(err)
	}
}

// command runs a client command to its end, and again whenever it was killed.
func (h *haul) command(args ...string) (said string) {
	h.Helper()
	for {
		p := h.try(args...)
		switch {
		case p.killed():
		case !p.cmd.ProcessState.Success():
			h.Fatalf("%s: %s\n%s", args[0], p.cmd.ProcessState, p.said())
		default:
			return p.said()
		}
	}
}

// try runs a client command once, to its end.
func (h *haul) try(args ...string) *process {
	h.Helper()
	key, err := os.ReadFile(filepath.Join(h.data(), "admin.key"))
	if err != nil {
		h.Fatal(err)
	}
	h.begin.Lock()
	h.client = start(h, h.home, newPoints(h), append(args, "--url", h.clients.url, "--key", strings.TrimSpace(string(key)))...)
	h.begin.Unlock()
	h.client.wait()
	return h.client
}

// kill ends a party, which is then started again.
func (h *haul) kill(party string) {
	h.begin.Lock()
	defer h.begin.Unlock()
	switch party {
	case "client":
		h.client.kill()
	case "store":
		h.s3.Kill()
		h.s3.Start(h)
	default:
		h.keeper[party].end(syscall.SIGKILL)
	}
}

var jobID = regexp.MustCompile(`job_[0-9a-z]{26}`)

// upload submits the film and answers the job's id.
func (h *haul) upload() (job string) {
	h.Helper()
	job = jobID.FindString(h.command("submit", h.film, "--preset", "web-480p", "--max-attempts", "10"))
	if job == "" {
		h.Fatal("submit says no job's id")
	}
	return job
}

// run starts the Mac's agent and waits until the job has succeeded.
func (h *haul) run(job string) *api.Job {
	h.Helper()
	h.keepAgent()
	return h.ended(job)
}

func (h *haul) keepAgent() {
	h.Helper()
	h.begin.Lock()
	defer h.begin.Unlock()
	h.keeper["agent"] = keep(h, h.agentAt, func() *process { return h.agent("mini", h.agentAt) })
}

// ended waits until a job has succeeded.
func (h *haul) ended(job string) (done *api.Job) {
	h.Helper()
	b := h.buyer()
	until(h, "the job has ended", func() bool {
		done = must(insist(h, "look at a job", func() (*api.Job, error) { return b.Job(context.Background(), job) }))(h)
		return done.Ended()
	})
	if done.Status != "succeeded" || done.Artifact.Bytes != h.size {
		h.Fatalf("the job is %s:\n%s\n%s", done.Status, h.row(`SELECT json_group_array(failure_code || ': ' || failure_message) FROM job_attempts`), h.keeper["agent"].said())
	}
	return done
}

// download fetches the result and looks at every byte of it.
func (h *haul) download(job *api.Job) {
	h.Helper()
	out := filepath.Join(h.home, "result.mp4")
	h.command("jobs", "download", job.ID, "-o", out, "--force")
	if sum := digest(h, out); sum != job.Artifact.SHA256 {
		h.Errorf("what came down has the digest %s, what was verified %s", sum, job.Artifact.SHA256)
	}
}

// traffic is what the parties have moved so far, towards the store and from it.
func (h *haul) traffic() (up, down int64) {
	for _, w := range h.outer {
		u, d := w.traffic()
		up, down = up+u, down+d
	}
	return up, down
}
