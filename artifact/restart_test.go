package artifact_test

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"rendermac/artifact"
	"rendermac/artifact/artifacttest"
)

// the one file in writes/ with this ending
func mustFind(t *testing.T, folder, ending string) string {
	t.Helper()
	found, err := filepath.Glob(folder + "/writes/*" + ending)
	if err != nil || len(found) != 1 {
		t.Fatalf("%d files end in %s (error %v), want 1", len(found), ending, err)
	}
	return found[0]
}

// copyOf is what a crash right now would leave behind.
func copyOf(t *testing.T, folder string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	return to
}

func mustTruncate(t *testing.T, file string, size int64) {
	t.Helper()
	if err := os.Truncate(file, size); err != nil {
		t.Fatal(err)
	}
}

// A crash may cut the journal at any byte. What it still says counts, and
// everything can go on from there.
func TestRestart_TornJournal(t *testing.T) {
	folder := t.TempDir()
	f := serve(t, folder)
	object := artifacttest.Bytes(1, 3*1000)
	f.PartBytes = 1000
	parts := artifacttest.Cut(object, 1000)
	f.MustBegin(t, object)
	journal := mustFind(t, folder, ".journal")
	lines := []int64{size(t, journal)}
	for i, part := range parts {
		f.MustPut(t, i+1, part)
		lines = append(lines, size(t, journal))
	}
	for at := range lines[3] {
		crashed := copyOf(t, folder)
		mustTruncate(t, mustFind(t, crashed, ".journal"), at)
		d := mustOpen(t, crashed)
		if err := d.Begin(t.Context(), artifacttest.Key, 3000, 1000); err != nil {
			t.Fatalf("cut at %d: %v", at, err)
		}
		want := 0
		for want < 3 && lines[want+1] <= at {
			want++
		}
		if held, err := d.Held(t.Context(), artifacttest.Key); err != nil || len(held) != want {
			t.Fatalf("cut at %d: %d parts are held (error %v), want %d", at, len(held), err, want)
		}
		// A rest of the torn line could make a whole one with the next.
		if left := size(t, mustFind(t, crashed, ".journal")); at >= lines[0] && left != lines[want] {
			t.Fatalf("cut at %d: the journal has %d bytes, want %d", at, left, lines[want])
		}
		if at%97 != 0 { // the rest needs no proof at each byte
			continue
		}
		again := serve(t, crashed)
		again.PartBytes = 1000
		for i := want; i < 3; i++ {
			again.MustPut(t, i+1, parts[i])
		}
		again.Restart().MustComplete(t, object)
	}
}

func size(t *testing.T, file string) int64 {
	t.Helper()
	stat, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return stat.Size()
}

// What cannot be believed is begun anew; nothing is published from it.
func TestRestart_Damage(t *testing.T) {
	folder := t.TempDir()
	f := serve(t, folder)
	object := artifacttest.Bytes(2, 2*partBytes)
	f.MustBegin(t, object)
	for i, part := range artifacttest.Cut(object, partBytes) {
		f.MustPut(t, i+1, part)
	}
	damages := map[string]func(journal, data string) error{
		"bad line in the middle": func(journal, _ string) error {
			text, err := os.ReadFile(journal)
			if err != nil {
				return err
			}
			return os.WriteFile(journal, bytes.Replace(text, []byte(`"held"`), []byte(`"he`), 1), 0o600)
		},
		"data too short":   func(_, data string) error { return os.Truncate(data, partBytes) },
		"data missing":     func(_, data string) error { return os.Remove(data) },
		"journal missing":  func(journal, _ string) error { return os.Remove(journal) },
		"journal empty":    func(journal, _ string) error { return os.Truncate(journal, 0) },
		"journal of zeros": func(journal, _ string) error { return os.WriteFile(journal, make([]byte, 400), 0o600) },
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			crashed := copyOf(t, folder)
			if err := damage(mustFind(t, crashed, ".journal"), mustFind(t, crashed, ".data")); err != nil {
				t.Fatal(err)
			}
			f := serve(t, crashed)
			if left, err := os.ReadDir(crashed + "/writes"); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
			f.MustBegin(t, object)
			f.MustHold(t, nil)
		})
	}
}

// The steps of Complete, and a crash after each.
func TestRestart_DuringComplete(t *testing.T) {
	folder := t.TempDir()
	f := serve(t, folder)
	object := artifacttest.Bytes(3, partBytes)
	f.MustBegin(t, object)
	f.MustPut(t, 1, object)
	stale := f.MustSign(t, 1, object)
	before := copyOf(t, folder)
	f.MustComplete(t, object)
	digest := folder + "/digests/" + artifacttest.Key

	steps := map[string]func() error{
		"read-only, not renamed": func() error { return os.Chmod(mustFind(t, before, ".data"), 0o444) },
		"renamed, journal there": func() error {
			journal := mustFind(t, before, ".journal")
			text, err := os.ReadFile(journal)
			if err != nil {
				return err
			}
			if err := os.Remove(digest); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(folder, "writes", filepath.Base(journal)), text, 0o600)
		},
		"digest torn": func() error { return os.Truncate(digest, 20) },
	}
	for _, step := range []struct{ name, folder string }{
		{"renamed, journal there", folder}, {"digest torn", folder}, {"read-only, not renamed", before},
	} {
		t.Run(step.name, func(t *testing.T) {
			if err := steps[step.name](); err != nil {
				t.Fatal(err)
			}
			f := serve(t, step.folder)
			if status := f.Put(t, stale, object); status != http.StatusForbidden && status != http.StatusConflict {
				t.Errorf("a stale URL answers %d, want 403 or 409", status)
			}
			f.MustComplete(t, object)
			if left, err := os.ReadDir(step.folder + "/writes"); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// TestMain is also the server that TestRestart_Kill kills.
func TestMain(m *testing.M) {
	folder := os.Getenv("ARTIFACT_TEST_SERVE")
	if folder == "" {
		os.Exit(m.Run())
	}
	d, err := artifact.OpenDir(folder, "", secret, time.Now)
	if err != nil {
		panic(err)
	}
	fmt.Println(httptest.NewServer(handler{d}).URL)
	select {}
}

// startServer runs a server as a process of its own.
func startServer(t *testing.T, folder string) (url string, kill func()) {
	t.Helper()
	server := exec.Command(os.Args[0])
	server.Env = append(os.Environ(), "ARTIFACT_TEST_SERVE="+folder)
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	url, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(url), func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}
}

// A server is killed over and over while parts are on their way. What it said
// was held is held; at the end the bytes are right.
func TestRestart_Kill(t *testing.T) {
	folder := t.TempDir()
	const part = 1 << 20
	object := artifacttest.Bytes(4, 24*part+17)
	parts := artifacttest.Cut(object, part)
	f := serve(t, folder)
	f.PartBytes = part
	f.MustBegin(t, object)
	var urls []artifact.URL
	for i, p := range parts {
		urls = append(urls, f.MustSign(t, i+1, p))
	}
	told := map[int]bool{}
	for len(told) < len(parts) {
		var kill func()
		f.Base, kill = startServer(t, folder)
		var missing []int
		for n := range len(parts) {
			if !told[n+1] {
				missing = append(missing, n+1)
			}
		}
		answered, done := make(chan int, len(parts)), make(chan struct{})
		go func() {
			defer close(done)
			sendAll(t, f, urls, parts, missing, answered)
		}()
		for range min(1+rand.IntN(6), len(missing)) { // others are on their way then
			told[<-answered] = true
		}
		kill()
		<-done
		close(answered)
		for n := range answered {
			told[n] = true
		}
		held, err := mustOpen(t, folder).Held(t.Context(), artifacttest.Key)
		if err != nil {
			t.Fatal(err)
		}
		for n := range told {
			if !slices.ContainsFunc(held, func(p artifact.Part) bool { return p.Number == n }) {
				t.Fatalf("part %d was answered 200 and is not held", n)
			}
		}
	}
	again := serve(t, folder)
	again.MustComplete(t, object)
}

// sendAll sends parts, four at a time, and says which are held now; once the
// server has gone none is.
func sendAll(t *testing.T, f artifacttest.Fixture, urls []artifact.URL, parts [][]byte, numbers []int, answered chan<- int) {
	var sending errgroup.Group
	sending.SetLimit(4)
	for _, n := range numbers {
		sending.Go(func() error {
			switch status := f.Put(t, urls[n-1], parts[n-1]); status {
			case http.StatusOK, http.StatusConflict: // by this PUT, or by one whose answer was lost
				answered <- n
			case 0:
			default:
				t.Errorf("part %d: status %d", n, status)
			}
			return nil
		})
	}
	_ = sending.Wait()
}
