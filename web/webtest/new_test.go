package webtest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rendermac/api"
)

// What is dropped becomes jobs, and the lines that are shown make the same ones.
func TestNew_DroppedFilesBecomeJobsThatSucceed(t *testing.T) {
	s := mustStudio(t, "store: {part_bytes: 16KiB}")
	s.agent("M4 in the corner")
	first, second := s.film("interview.mov", 1, "128x96"), s.film("it's day 2.mov", 1, "128x96")
	p := s.open("/new")
	p.WaitText("Drop files or folders anywhere on this page")
	p.Axe()
	p.Slow(20_000)
	p.Drop("h1", first, second)
	p.Until(`[...document.querySelectorAll(".file [role=progressbar]")].filter(bar => bar.checkVisibility() && bar.ariaValueNow > 0).length === 2`)
	p.Slow(0)
	p.WaitText("mov, 0:01 · H.264 128×96, 25 fps · AAC mono, 44.1 kHz")
	p.Click(`[value="web-480p"]`)
	p.Click("More of the job")
	p.Type("#priority", "7")
	p.Type("#labels", "client=Köln & Söhne\nday=2")
	p.Click("Make 2 jobs")
	p.WaitText("2 jobs are made.")
	p.Axe()
	made := s.jobs()
	for _, job := range made {
		s.await(job.ID)
	}

	p.Click("Make more of these files")
	folder := filepath.Dir(first)
	must(t, os.Rename(second, filepath.Join(folder, filepath.Base(second))))
	for _, line := range []string{"rendermac", "curl"} {
		p.Click("Copy the " + line + " command")
		s.shell(p.Clipboard(), folder)
		if same, before := asked(t, s.jobs()[:2]), asked(t, made); same != before {
			t.Errorf("%s made\n%s, the page\n%s", line, same, before)
		}
	}
	p.Click("Make 2 jobs")
	p.WaitText("2 jobs are made.")
	p.Click("interview.mp4")
	p.WaitPath("/jobs/" + s.jobs()[1].ID)
}

// jobs are all of them, newest first.
func (s *studio) jobs() []api.JobItem {
	s.Helper()
	list, err := s.client.Jobs(s.Context(), api.JobQuery{})
	must(s, err)
	return list.Items
}

// await waits until a job has succeeded.
func (s *studio) await(id string) {
	s.Helper()
	job, err := s.client.Wait(s.Context(), id, func(*api.Job) {}, nil)
	must(s, err)
	if job.Status != api.JobSucceeded {
		s.Fatalf("%s has %s: %v", id, job.Status, job.FailureMessage)
	}
}

// shell runs a script that the page shows, in a folder.
func (s *studio) shell(script, folder string) {
	s.Helper()
	binary, err := program()
	must(s, err)
	cmd := exec.Command("sh", "-euc", script)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"), "HOME="+s.home, "RENDERMAC_API_KEY="+s.key)
	if out, err := cmd.CombinedOutput(); err != nil {
		s.Fatalf("%s\n%v: %s", script, err, out)
	}
}

// asked is what jobs were asked for, but for their inputs.
func asked(t *testing.T, jobs []api.JobItem) string {
	t.Helper()
	var all []string
	for _, job := range jobs {
		text, err := json.Marshal([]any{job.Service, job.Params, job.Priority, job.Labels, job.MaxAttempts, job.OutputName, job.Requires, job.WebhookURL})
		must(t, err)
		all = append(all, string(text))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}
