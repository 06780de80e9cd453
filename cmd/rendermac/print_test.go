package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"

	"rendermac/api"
)

func TestCleanEscapesWhatSteersATerminal(t *testing.T) {
	for text, want := range map[string]string{
		"interview (final) – 1.mov": "interview (final) – 1.mov",
		"\x1b[2Jgone":               `\u001b[2Jgone`,
		"two\nlines\r\x00":          `two\u000alines\u000d\u0000`,
		"\u202egpj.exe":             `\u202egpj.exe`,
		"\u009bm":                   `\u009bm`,
		"bad \xff byte":             `bad \xff byte`,
		"日本 🎬 ":                     "日本 🎬 ",
	} {
		if got := clean(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestTablesKeepTheirColumns(t *testing.T) {
	var out bytes.Buffer
	if err := printTable(&out, []string{"A", "B"}, [][]string{{"long\tcell", "x"}, {"é", "y"}}); err != nil {
		t.Fatal(err)
	}
	want := "A               B\nlong\\u0009cell  x\né               y\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestNumbersAsPeopleSayThem(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 1_400_000_000: "1.4 GB", 999_960: "1.0 MB", 5e15: "5.0 PB", 9e18: "9000.0 PB"} {
		if got := size(bytes); got != want {
			t.Errorf("%d bytes: got %s, want %s", bytes, got, want)
		}
	}
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	for before, want := range map[time.Duration]string{
		-time.Second: "0 s ago", 59 * time.Second: "59 s ago", 90 * time.Second: "1 min ago",
		47 * time.Hour: "47 h ago", 72 * time.Hour: "3 days ago",
	} {
		then := now.Add(-before)
		if got := ago(now, &then); got != want {
			t.Errorf("%s before: got %s, want %s", before, got, want)
		}
	}
}

func TestShortenLeavesOutTheMiddle(t *testing.T) {
	if got := shorten("interview-of-the-year-final-2.mov", 15); got != "intervi…l-2.mov" {
		t.Errorf("got %s", got)
	}
	if got := shorten("clip.mov", 15); got != "clip.mov" {
		t.Errorf("got %s", got)
	}
}

func TestDownloadsStayInTheirFolder(t *testing.T) {
	for name, want := range map[string]string{
		"out.mp4": "out.mp4", "../../etc/passwd": "passwd", "/etc/passwd": "passwd", `C:\temp\out.mp4`: "out.mp4",
		"..": "job_1", "": "job_1", "a/": "job_1", "a/.": "job_1",
	} {
		job := &api.Job{JobItem: api.JobItem{ID: "job_1", Artifact: &api.Artifact{Name: name}}}
		if got := baseName(job); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

// An output that retention has removed is told from one that is there, and not
// asked for.
func TestADeletedOutputIsNamed(t *testing.T) {
	at := time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)
	job := &api.Job{JobItem: api.JobItem{ID: "job_1", Status: api.JobSucceeded, Artifact: &api.Artifact{Name: "out.mp4", Bytes: 9}}}
	var there, gone, said bytes.Buffer
	err := printJob(&there, job, "")
	job.Artifact.DeletedAt = &at
	if err = errors.Join(err, printJob(&gone, job, "")); err != nil {
		t.Fatal(err)
	}
	if want := "deleted   " + stamp(&at) + ", by retention\n"; strings.Contains(there.String(), "deleted") || !strings.Contains(gone.String(), want) {
		t.Errorf("before:\n%s\nafter:\n%s", there.String(), gone.String())
	}
	_, err = download(t.Context(), nil, job, t.TempDir(), false, newBoard(&said, 1).line("job_1"))
	if err == nil || !strings.Contains(err.Error(), "deleted by retention on 2026-12-02: retry the job to make it again, if its inputs are still there") || said.Len() > 0 {
		t.Errorf("%v, after %q", err, said.String())
	}
}

func TestVerdictIsTheWorstOutcome(t *testing.T) {
	ended := func(status string) *outcome {
		return &outcome{job: &api.Job{JobItem: api.JobItem{ID: "job_1", Status: status}}}
	}
	broken := &outcome{err: errors.New("the network is down")}
	cases := []struct {
		outcomes []*outcome
		want     int
	}{
		{[]*outcome{ended(api.JobSucceeded), ended(api.JobQueued)}, 0},
		{[]*outcome{ended(api.JobSucceeded), ended(api.JobCancelled)}, exitJobCancelled},
		{[]*outcome{ended(api.JobCancelled), ended(api.JobFailed)}, exitJobFailed},
		{[]*outcome{broken, ended(api.JobFailed)}, exitJobFailed},
		{[]*outcome{broken, ended(api.JobCancelled)}, exitJobCancelled},
		{[]*outcome{broken, ended(api.JobSucceeded)}, exitFailed},
	}
	for i, c := range cases {
		if got := exitCode(new(bytes.Buffer), verdict(c.outcomes)); got != c.want {
			t.Errorf("case %d: got exit code %d, want %d", i, got, c.want)
		}
	}
}

func TestShellWordsCanBeTyped(t *testing.T) {
	for word, want := range map[string]string{
		"out/film-1.mp4": "out/film-1.mp4", "Ärger.mov": "Ärger.mov", "my film.mp4": "'my film.mp4'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "": "''",
	} {
		if got := shellWord(word); got != want {
			t.Errorf("%q: got %s, want %s", word, got, want)
		}
	}
}

func TestJobsFitATerminal(t *testing.T) {
	for width, want := range map[int]string{
		0:  "interview-of-the-year-final-2-really.mp4",
		20: "intervi…lly.mp4", // fewer letters say nothing
		79: "intervie…ally.mp4",
		81: "interview…eally.mp4",
		99: "interview-of-the-y…final-2-really.mp4",
	} {
		rows := [][]string{
			{"ID", "STATUS", "FILE", "SERVICE", "AGE", "FAILURE"},
			{"job_01kbd3m8q5w9x2c7e4r6t8y0za", "succeeded", "interview-of-the-year-final-2-really.mp4", "web-1080p", "12 min"},
			{"job_01kbd3m8q5w9x2c7e4r6t8y0zb", "failed", "日本語の名前がとても長い映画ファイル.mp4", "web-1080p", "12 min", "the input has no video stream, and no sound either"},
		}
		fit(rows, 2, 5, width)
		if rows[1][2] != want {
			t.Errorf("at %d columns: %q, want %q", width, rows[1][2], want)
		}
		var out bytes.Buffer
		if err := printTable(&out, rows[0], rows[1:]); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(out.String(), "\n")
		if at := runewidth.StringWidth(lines[1][:strings.Index(lines[1], "web")]); at != runewidth.StringWidth(lines[2][:strings.Index(lines[2], "web")]) {
			t.Errorf("at %d columns the next one is ragged:\n%s", width, &out)
		}
	}
}
