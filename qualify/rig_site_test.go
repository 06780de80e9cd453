package qualify

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // to read what the server has written

	"rendermac/api"
	"rendermac/artifact/artifacttest"
)

// site is a server's data directory and address, and a HOME for its Macs.
// Servers and agents come and go on it.
type site struct {
	testing.TB
	home, url string
	server    points
}

// config is what every site's server is told, unless a test says more: leases
// so short that a test can outlive them.
const ttl = 3 * time.Second

const siteConfig = `
lease: {ttl: 3s, heartbeat: 500ms, device_ttl: 4s}
jobs: {retry_backoff: 100ms}
`

// newSite makes a site; more is YAML that is appended to its server's config.
func newSite(t testing.TB, more string) *site {
	t.Helper()
	s := &site{TB: t, home: t.TempDir(), server: newPoints(t)}
	s.url = "http://" + artifacttest.FreeAddress(t)
	if err := os.Mkdir(s.data(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.data(), "config.yaml"), []byte(siteConfig+more), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *site) data() string { return filepath.Join(s.home, "server") }

// launch starts the server and returns at once: it may be about to die.
func (s *site) launch() *process {
	s.Helper()
	return start(s, s.home, s.server, "serve", "--data", s.data(), "--listen", strings.TrimPrefix(s.url, "http://"))
}

// serve starts the server and returns once it is ready.
func (s *site) serve() *process {
	s.Helper()
	p := s.launch()
	until(s, "the server is ready", func() bool {
		if p.gone() {
			s.Fatalf("the server has ended:\n%s", p.said())
		}
		return s.ready()
	})
	return p
}

func (s *site) ready() bool {
	r, err := http.Get(s.url + "/readyz")
	if err != nil {
		return false
	}
	r.Body.Close()
	return r.StatusCode == http.StatusOK
}

// buyer is a client with the admin key.
func (s *site) buyer() *api.Client {
	s.Helper()
	key, err := os.ReadFile(filepath.Join(s.data(), "admin.key"))
	if err != nil {
		s.Fatal(err)
	}
	return api.NewClient(s.url, strings.TrimSpace(string(key)), "qualify")
}

// pair makes a Mac's data directory and answers its device id.
func (s *site) pair(name string) (id string) {
	s.Helper()
	if p := s.pairOnce(name, newPoints(s)); !p.cmd.ProcessState.Success() {
		s.Fatalf("pair: %s", p.said())
	}
	devices, err := s.buyer().Devices(context.Background())
	if err != nil {
		s.Fatal(err)
	}
	for _, d := range devices {
		if d.Name == name {
			id = d.ID
		}
	}
	return id
}

// pairOnce runs the command that pairs, to its end.
func (s *site) pairOnce(name string, at points) *process {
	s.Helper()
	code, err := s.buyer().CreatePairing(context.Background(), api.PairingRequest{Name: &name})
	if err != nil {
		s.Fatal(err)
	}
	p := start(s, s.home, at, "pair", s.url, code.Code, "--force", "--name", name, "--data", filepath.Join(s.home, name))
	p.wait()
	return p
}

// agent starts a paired Mac's agent; at may be held over several starts.
func (s *site) agent(name string, at points) *process {
	s.Helper()
	return start(s, s.home, at, "agent", "--data", filepath.Join(s.home, name))
}

// submit uploads a file and submits its transcode.
func (s *site) submit(file string, more ...func(*api.JobRequest)) (id string) {
	s.Helper()
	b := s.buyer()
	up, err := b.Upload(context.Background(), file, func(int64) {})
	if err != nil {
		s.Fatal(err)
	}
	r := api.JobRequest{Service: "ffmpeg.transcode", Params: []byte(`{"preset":"web-480p"}`), Inputs: []api.Input{{UploadID: &up.ID}}}
	for _, m := range more {
		m(&r)
	}
	j, err := b.Submit(context.Background(), r)
	if err != nil {
		s.Fatal(err)
	}
	return j.ID
}

// job asks the server.
func (s *site) job(id string) *api.Job {
	s.Helper()
	j, err := s.buyer().Job(context.Background(), id)
	if err != nil {
		s.Fatal(err)
	}
	return j
}

// rows reads one value from the server's database, from outside its process.
func (s *site) row(query string, args ...any) (value string) {
	s.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(s.data(), "rendermac.db")+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		s.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(query, args...).Scan(&value); err != nil {
		s.Fatal(fmt.Errorf("%s: %w", query, err))
	}
	return value
}
