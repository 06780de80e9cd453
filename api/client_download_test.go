package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// outlet serves a job's output, with another signature each time it is asked.
type outlet struct {
	asked int
	blob  func(w http.ResponseWriter, sig string)
	gone  bool // the job is no longer there when it is asked for again
}

func (o *outlet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/v1/jobs/job_1/output" && o.gone && o.asked > 0:
		answer(w, 0, NewError(404, CodeNotFound, "There is no such job."))
	case r.URL.Path == "/v1/jobs/job_1/output":
		o.asked++
		http.Redirect(w, r, fmt.Sprintf("/v1/blobs/x?sig=%d", o.asked), http.StatusFound)
	default:
		o.blob(w, r.URL.Query().Get("sig"))
	}
}

func finished(content string) *Job {
	job := &Job{JobItem: JobItem{ID: "job_1", Status: JobSucceeded}}
	job.Artifact = &Artifact{Name: "out.mp4", Bytes: int64(len(content)), SHA256: digestOf([]byte(content))}
	return job
}

func TestADownloadAsksForAFreshURL(t *testing.T) {
	o := &outlet{blob: func(w http.ResponseWriter, sig string) {
		if sig == "1" {
			answer(w, 0, NewError(403, CodeBadSignature, "It has expired."))
			return
		}
		_, _ = io.WriteString(w, film)
	}}
	path := filepath.Join(t.TempDir(), "out.mp4")
	if err := testClient(serve(t, o)).Download(t.Context(), finished(film), path, false, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != film || o.asked != 2 {
		t.Errorf("%q, %v, after %d URLs", got, err, o.asked)
	}
	o.asked, o.gone = 0, true
	err := testClient(serve(t, o)).Download(t.Context(), finished(film), path, true, nil)
	if !hasCode(err, CodeNotFound) || strings.Contains(err.Error(), "goes on") {
		t.Errorf("without a job: %v", err)
	}
}

// What has come stays beside the file, and the next call goes on with it.
func TestADownloadThatBreaksOffGoesOn(t *testing.T) {
	var well atomic.Bool
	o := &outlet{blob: func(w http.ResponseWriter, _ string) {
		if !well.Load() {
			w.Header().Set("Content-Length", "18")
			_, _ = io.WriteString(w, film[:5])
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, film)
	}}
	path := filepath.Join(t.TempDir(), "out.mp4")
	client := testClient(serve(t, o))
	err := client.Download(t.Context(), finished(film), path, false, nil)
	if err == nil || !strings.Contains(err.Error(), "the same command goes on with it") {
		t.Error(err)
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) || len(left) != 2 {
		t.Errorf("%v is left, %v", left, err)
	}
	well.Store(true)
	if err := client.Download(t.Context(), finished(film), path, false, nil); err != nil {
		t.Fatal(err)
	}
	left, _ = filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	if got, err := os.ReadFile(path); err != nil || string(got) != film || len(left) > 0 {
		t.Errorf("%q, %v; %v is left", got, err, left)
	}
}

// A process that ended when the file had just got its name leaves its other name.
func TestADownloadClearsItsOtherName(t *testing.T) {
	path := fileOf(t, film)
	other := partName(path, "job_1")
	if err := os.Link(path, other); err != nil {
		t.Fatal(err)
	}
	err := testClient("http://127.0.0.1:1").Download(t.Context(), finished(film), path, false, nil)
	if err == nil || !strings.Contains(err.Error(), "pass --force") {
		t.Error(err)
	}
	if _, err := os.Stat(other); !errors.Is(err, os.ErrNotExist) {
		t.Error("it is still there")
	}
}

func TestPartNamesAreHiddenShortAndOneAJob(t *testing.T) {
	seen := map[string]bool{}
	for _, path := range []string{"out.mp4", strings.Repeat("ä", 127)} {
		for _, job := range []string{"job_1", "job_2", "../../job"} {
			name := partName(filepath.Join("folder", path), job)
			base := filepath.Base(name)
			if filepath.Dir(name) != "folder" || base[0] != '.' || len(base+".ranges") > 255 || seen[name] {
				t.Errorf("%s", name)
			}
			seen[name] = true
		}
	}
}

func TestMoreRangesOfAnotherStore(t *testing.T) {
	client := NewClient("http://studio:7420", testKey, "test")
	if n := client.atOnce("http://studio:7420/v1/blobs/x"); n != rangesOfOurs {
		t.Error(n)
	}
	if n := client.atOnce("https://bucket.s3.test/x"); n != rangesAtOnce {
		t.Error(n)
	}
}
