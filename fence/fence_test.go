package fence

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

var t0 = time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)

// held is a run that holds its lease, with the claim that says so.
func held(status AttemptStatus) (Device, Job, Attempt, Claim) {
	d := Device{ID: "dev_a", SessionID: "ses_1"}
	j := Job{ID: "job_a", Status: JobActive, MaxAttempts: 3}
	a := Attempt{ID: "att_a", JobID: "job_a", DeviceID: "dev_a", Number: 1, Status: status, Epoch: 2, TokenHash: HashToken("secret"), ExpiresAt: t0.Add(time.Minute)}
	c := Claim{DeviceID: "dev_a", SessionID: "ses_1", JobID: "job_a", AttemptID: "att_a", Epoch: 2, Token: "secret"}
	return d, j, a, c
}

func TestTokenIsStoredAsItsDigestOnly(t *testing.T) {
	tok, err := NewToken(bytes.NewReader(bytes.Repeat([]byte{7}, 24)))
	if err != nil || len(tok.Plaintext) != 32 || len(tok.Hash) != 64 || tok.Hash != HashToken(tok.Plaintext) || tok.Hash == tok.Plaintext {
		t.Fatalf("token %+v, %v", tok, err)
	}
	if _, err := NewToken(bytes.NewReader(nil)); err == nil {
		t.Fatal("a token was drawn from nothing")
	}
}

func TestF5_ProgressMovesForwardOnly(t *testing.T) {
	d, j, a, c := held(AttemptRunning)
	for reported, want := range map[AttemptStatus]AttemptStatus{
		AttemptDownloading: AttemptRunning, AttemptRunning: AttemptRunning, AttemptUploading: AttemptUploading,
	} {
		step, err := CheckProgress(d, j, a, c, reported, t0)
		if err != nil || !step.Renew || step.Status != want {
			t.Errorf("%s: %+v, %v; want renewed as %s", reported, step, err, want)
		}
	}
	for _, no := range []AttemptStatus{AttemptCommitting, AttemptSucceeded, AttemptLeased, ""} {
		if _, err := CheckProgress(d, j, a, c, no, t0); CodeOf(err) != CodeLeaseConflict {
			t.Errorf("an agent may report %q: %v", no, err)
		}
	}
}

func TestF5_CancellingRenewsNothing(t *testing.T) {
	d, j, a, c := held(AttemptRunning)
	j.Status = JobCancelling
	step, err := CheckProgress(d, j, a, c, AttemptUploading, t0)
	if err != nil || !step.Cancel || step.Renew || step.Status != AttemptRunning {
		t.Fatalf("%+v, %v", step, err)
	}
}

func TestF4_ExpiryIsAnInstant(t *testing.T) {
	d, j, a, c := held(AttemptUploading)
	last := a.ExpiresAt.Add(-time.Millisecond)
	if _, err := CheckCommit(d, j, a, c, Result{}, last); err != nil {
		t.Fatalf("just before: %v", err)
	}
	if _, err := CheckCommit(d, j, a, c, Result{}, a.ExpiresAt); CodeOf(err) != CodeCommitConflict {
		t.Fatalf("at its instant: %v", err)
	}
}

func TestF6_CommitNeedsUploadingOrCommitting(t *testing.T) {
	for _, s := range AttemptStatuses {
		d, j, a, c := held(s)
		if s == AttemptCommitting {
			j.Status = JobVerifying
		}
		_, err := CheckCommit(d, j, a, c, Result{}, t0)
		if ok := s == AttemptUploading || s == AttemptCommitting; ok != (err == nil) {
			t.Errorf("%s: %v", s, err)
		}
	}
}

func TestF6_FailDoesNotEndWhatPassedCommit(t *testing.T) {
	d, j, a, c := held(AttemptCommitting)
	j.Status = JobVerifying
	if err := CheckFail(d, j, a, c, t0); CodeOf(err) != CodeCommitConflict {
		t.Fatalf("verifying: %v", err)
	}
	j.Status = JobCancelling
	if err := CheckFail(d, j, a, c, t0); err != nil {
		t.Fatalf("cancelling: %v", err)
	}
}

func TestF12_RetryPolicy(t *testing.T) {
	active := Job{Status: JobActive, MaxAttempts: 3}
	first := Attempt{Number: 1}
	late := active
	late.Deadline = t0
	cancelling := active
	cancelling.Status = JobCancelling
	for _, c := range []struct {
		name string
		job  Job
		a    Attempt
		code string
		want JobStatus
	}{
		{"retryable", active, first, UploadFailed, JobQueued},
		{"not retryable", active, first, RunnerFailed, JobFailed},
		{"unknown", active, first, "gremlins", JobFailed},
		{"paper's own, not an agent's", active, first, LeaseExpired, JobQueued},
		{"budget spent", active, Attempt{Number: 3}, UploadFailed, JobFailed},
		{"past its admission", late, first, UploadFailed, JobFailed},
		{"cancelling", cancelling, first, UploadFailed, JobCancelled},
	} {
		if got := AfterEnd(c.job, c.a, c.code, t0); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestF12_BackoffDoublesToFiveMinutes(t *testing.T) {
	for n, want := range map[int]time.Duration{1: 5 * time.Second, 2: 10 * time.Second, 4: 40 * time.Second, 9: 5 * time.Minute, 1000: 5 * time.Minute} {
		if got := Backoff(5*time.Second, n); got != want {
			t.Errorf("failure %d: %v, want %v", n, got, want)
		}
	}
}

func TestF14_ResumeTakesTheCurrentOrTheReplacedSecret(t *testing.T) {
	_, j, a, c := held(AttemptRunning)
	if passes, known := CheckResume(j, a, c, t0); !passes || !known {
		t.Fatal("the current secret does not pass")
	}
	b := Resumed(a, c, HashToken("new"), t0.Add(time.Hour))
	if b.Epoch != 3 || b.PrevEpoch != 2 {
		t.Fatalf("epochs %d, %d", b.Epoch, b.PrevEpoch)
	}
	if passes, _ := CheckResume(j, b, c, t0); !passes {
		t.Fatal("the replaced secret does not pass, though the answer may have been lost")
	}
	d := Device{ID: "dev_a", SessionID: "ses_1"}
	if _, err := CheckProgress(d, j, b, c, AttemptRunning, t0); err == nil {
		t.Fatal("the replaced epoch passes something other than a resume")
	}
	wrong := c
	wrong.Token = "guess"
	if passes, known := CheckResume(j, b, wrong, t0); passes || known {
		t.Fatal("a wrong secret learns how the attempt stands")
	}
	j.Status = JobCancelling
	if passes, known := CheckResume(j, b, c, t0); passes || !known {
		t.Fatal("a cancelling job is resumed")
	}
}

func TestF15_ClockJump(t *testing.T) {
	for _, c := range []struct{ wall, mono, want time.Duration }{
		{time.Second, time.Second, 0},
		{3 * time.Second, time.Second, 0},
		{time.Hour, time.Second, time.Hour - time.Second},
		{-time.Hour, time.Second, -time.Hour - time.Second},
	} {
		if got := ClockJump(c.wall, c.mono); got != c.want {
			t.Errorf("wall %v, mono %v: %v, want %v", c.wall, c.mono, got, c.want)
		}
	}
}

func TestF16_PartsMustAddUp(t *testing.T) {
	part := func(number int, bytes int64) Part { return Part{number, bytes, HashToken("x")} }
	for _, c := range []struct {
		bytes, partBytes int64
		parts            []Part
		ok               bool
	}{
		{0, 4, []Part{part(1, 0)}, true},
		{0, 4, nil, false},
		{4, 4, []Part{part(1, 4)}, true},
		{4, 4, []Part{{1, 4, "no digest"}}, false},
		{9, 4, []Part{part(1, 4), part(2, 4), part(3, 1)}, true},
		{9, 4, []Part{part(1, 4), part(2, 1), part(3, 4)}, false},
		{9, 4, []Part{part(1, 4), part(3, 4), part(2, 1)}, false},
		{9, 4, []Part{part(1, 4), part(2, 4)}, false},
		{-1, 4, []Part{part(1, 0)}, false},
	} {
		if err := CheckParts(c.bytes, c.partBytes, c.parts); (err == nil) != c.ok {
			t.Errorf("%d bytes in %v: %v", c.bytes, c.parts, err)
		}
	}
}

func TestF3_Fits(t *testing.T) {
	mac := Offers{Services: []string{"ffmpeg.transcode"}, Features: []string{"zscale"}, Tags: []string{"studio-b"}, MemoryBytes: 16 << 30}
	for _, c := range []struct {
		needs Needs
		want  bool
	}{
		{Needs{Service: "ffmpeg.transcode"}, true},
		{Needs{Service: "remotion.render"}, false},
		{Needs{Service: "ffmpeg.transcode", Features: []string{"zscale", "drawtext"}}, false},
		{Needs{Service: "ffmpeg.transcode", Tags: []string{"studio-b"}, MinMemoryGB: 16}, true},
		{Needs{Service: "ffmpeg.transcode", MinMemoryGB: 16.5}, false},
	} {
		if got := Fits(c.needs, mac); got != c.want {
			t.Errorf("%+v: %v", c.needs, got)
		}
	}
}

// The two tables as fencing.md has them, written down here once more: the walk in
// the store holds SQL against Go, this one holds Go against the rule.
const jobTable = `queued → active, cancelled, failed
active → queued, verifying, cancelling, failed
verifying → succeeded, cancelling, failed
cancelling → cancelled, failed
succeeded →
failed →
cancelled →`

const attemptTable = `leased → downloading, running, uploading, committing, failed, lost, cancelled
downloading → running, uploading, committing, failed, lost, cancelled
running → uploading, committing, failed, lost, cancelled
uploading → committing, failed, lost, cancelled
committing → succeeded, failed, lost, cancelled
succeeded →
failed →
lost →
cancelled →`

func TestStatusTablesAreTheRule(t *testing.T) {
	holdTable(t, jobTable, JobStatuses, JobStatus.MayBecome)
	holdTable(t, attemptTable, AttemptStatuses, AttemptStatus.MayBecome)
}

func holdTable[S ~string](t *testing.T, table string, all []S, may func(S, S) bool) {
	t.Helper()
	lines := strings.Split(table, "\n")
	if len(lines) != len(all) {
		t.Fatalf("%d statuses, and the table has %d", len(all), len(lines))
	}
	for _, line := range lines {
		from, text, _ := strings.Cut(line, " →")
		next := strings.Split(strings.TrimSpace(text), ", ")
		for _, to := range all {
			if want := slices.Contains(next, string(to)); may(S(from), to) != want {
				t.Errorf("%s → %s: %v, the rule says %v", from, to, !want, want)
			}
		}
	}
}

func TestPartsGrowWhereOneMessageCouldNotListThem(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct{ bytes, told, want int64 }{
		{0, mib, mib},
		{1, 1, 1},
		{8192, 1, 1},
		{8193, 1, mib},
		{8192 * mib, mib, mib},
		{8192*mib + 1, mib, 2 * mib},
		{10 << 30, mib, 2 * mib},              // ten gigabytes behind a proxy that takes one megabyte
		{2 << 40, 64 * mib, 256 * mib},        // the largest file there is by default
		{8192*64*mib + 1, 64 * mib, 65 * mib}, // whole MiB, and no more than it takes
		{math.MaxInt64, 5 << 30, 1 << 50},     // overflows nowhere
		{5, 0, 0},                             // not told: one part
		{8193 * (mib + 5), mib + 5, 2 * mib},  // whole MiB, though it was told otherwise
	} {
		got := PartBytes(c.bytes, c.told)
		if got != c.want {
			t.Errorf("%d bytes in parts of %d are cut into %d, want %d", c.bytes, c.told, got, c.want)
		}
		if got > 0 && c.bytes > 0 && (c.bytes-1)/got+1 > mostListed {
			t.Errorf("%d bytes in parts of %d are too many", c.bytes, got)
		}
	}
}

func TestF16_MorePartsThanAStoreTakesAreRefused(t *testing.T) {
	parts := make([]Part, 10_001)
	for i := range parts {
		parts[i] = Part{Number: i + 1, Bytes: 1, SHA256: HashToken("x")}
	}
	if err := CheckParts(10_000, 1, parts[:10_000]); err != nil {
		t.Error(err)
	}
	if err := CheckParts(10_001, 1, parts); err == nil || CodeOf(err) != CodeInvalid {
		t.Errorf("10001 parts: %v", err)
	}
}
