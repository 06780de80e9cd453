package server

import (
	"database/sql"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rendermac/fence"
	"rendermac/store"
)

// What must hold of the books, once everything has ended.

type jobRow struct {
	status   fence.JobStatus
	max, n   int
	webhooks int
	hold     string
	moves    string // of the ledger, in order
	live     string // the attempt that is live, as the events go by
	at       fence.JobStatus
	leases   int
	passed   int // attempts that passed F6
}

type attemptRow struct {
	job, device, hash, key, code string
	n                            int
	status                       fence.AttemptStatus
	epoch, seen                  int64 // the row's, and the events'
	bytes                        int64
	sha                          string
}

type books struct {
	*swarm
	jobs     map[string]*jobRow
	attempts map[string]*attemptRow
	winners  map[string]string // artifacts: attempt by job
	keys     map[string]string // artifacts: attempt by object key
	events   int
}

func (s *swarm) check() {
	raw, err := sql.Open("sqlite", "file:"+filepath.Join(s.dir, "rendermac.db")+"?mode=ro")
	if err != nil {
		s.Fatal(err)
	}
	defer raw.Close()
	b := &books{swarm: s, jobs: map[string]*jobRow{}, attempts: map[string]*attemptRow{}, winners: map[string]string{}, keys: map[string]string{}}
	b.load(raw)
	b.replay(raw)
	b.checkBalance(raw)
	b.checkJobs()
	b.checkAttempts()
	b.checkCommits()
	b.checkFiles()
	b.checkHistories()
	b.checkLog()
	b.summary()
}

func (b *books) each(raw *sql.DB, query string, scan func(*sql.Rows) error) {
	rows, err := raw.Query(query)
	if err != nil {
		b.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			b.Fatalf("%s: %v", query, err)
		}
	}
	if err := rows.Err(); err != nil {
		b.Fatalf("%s: %v", query, err)
	}
}

func (b *books) load(raw *sql.DB) {
	b.each(raw, `SELECT id, status, max_attempts, attempts, (SELECT count(*) FROM webhook_deliveries w WHERE w.job_id = jobs.id),
			coalesce((SELECT state FROM holds WHERE job_id = jobs.id), ''),
			coalesce((SELECT group_concat(kind || amount, ' ') FROM (SELECT kind, amount FROM journals WHERE job_id = jobs.id ORDER BY id)), '')
		FROM jobs`, func(rows *sql.Rows) error {
		var id string
		j := new(jobRow)
		err := rows.Scan(&id, &j.status, &j.max, &j.n, &j.webhooks, &j.hold, &j.moves)
		b.jobs[id] = j
		return err
	})
	b.each(raw, `SELECT id, job_id, device_id, commit_token_hash, output_key, attempt_number, status, lease_epoch,
			coalesce(claimed_bytes, 0), coalesce(claimed_sha256, ''), coalesce(failure_code, '') FROM job_attempts`, func(rows *sql.Rows) error {
		var id string
		a := new(attemptRow)
		err := rows.Scan(&id, &a.job, &a.device, &a.hash, &a.key, &a.n, &a.status, &a.epoch, &a.bytes, &a.sha, &a.code)
		b.attempts[id] = a
		return err
	})
	b.each(raw, `SELECT job_id, attempt_id, object_key FROM artifacts`, func(rows *sql.Rows) error {
		var job, attempt, key string
		err := rows.Scan(&job, &attempt, &key)
		b.winners[job], b.keys[key] = attempt, attempt
		return err
	})
}

// checkBalance adds up once what the server never does: the newest movement says
// the same.
func (b *books) checkBalance(raw *sql.DB) {
	b.each(raw, `SELECT held, spent, (SELECT sum(credits) FROM holds WHERE state = 'captured'), (SELECT sum(debit - credit) FROM journal_lines)
		FROM journals ORDER BY id DESC LIMIT 1`, func(rows *sql.Rows) error {
		var held, spent, captured, unbalanced int64
		err := rows.Scan(&held, &spent, &captured, &unbalanced)
		if held != 0 || spent != captured || unbalanced != 0 {
			b.wrong("%d credits are held, %d spent where the holds say %d, and the lines are %d apart", held, spent, captured, unbalanced)
		}
		return err
	})
}

// replay goes through the history in its order: F2, F9, F10, and the tables.
func (b *books) replay(raw *sql.DB) {
	b.each(raw, `SELECT id, type, job_id, coalesce(attempt_id, ''), data FROM events WHERE job_id IS NOT NULL ORDER BY id`, func(rows *sql.Rows) error {
		var id int64
		var kind, job, attempt, data string
		err := rows.Scan(&id, &kind, &job, &attempt, &data)
		b.events++
		b.event(id, kind, b.jobs[job], attempt, data)
		return err
	})
}

func (b *books) event(id int64, kind string, j *jobRow, attempt, data string) {
	a := b.attempts[attempt]
	family, what, _ := strings.Cut(kind, ".")
	switch {
	case j == nil || attempt != "" && a == nil:
		b.wrong("event %d, %s, is of nothing", id, kind)
	case kind == "job.queued":
		if j.at != "" {
			b.wrong("event %d: a job is submitted twice", id)
		}
		j.at = fence.JobQueued
	case kind == "attempt.leased":
		if j.live != "" || j.at != fence.JobQueued {
			b.wrong("F2: event %d leases %s while %s is live and the job %s", id, attempt, j.live, j.at)
		}
		if j.leases++; a.n != j.leases {
			b.wrong("F1: event %d: attempt %d is the %dth lease", id, a.n, j.leases)
		}
		j.live, j.at, a.seen = attempt, fence.JobActive, 1
	case family == "attempt":
		if j.live != attempt || j.at != fence.JobActive {
			b.wrong("event %d, %s, of %s while %q is live and the job %s", id, kind, attempt, j.live, j.at)
		}
		if kind == "attempt.resumed" {
			var said struct {
				Epoch int64 `json:"lease_epoch"`
			}
			if a.seen++; json.Unmarshal([]byte(data), &said) != nil || said.Epoch != a.seen {
				b.wrong("F14: event %d resumes under epoch %d, want %d", id, said.Epoch, a.seen)
			}
		}
	default:
		b.jobMoves(id, fence.JobStatus(what), j, attempt)
	}
}

func (b *books) jobMoves(id int64, to fence.JobStatus, j *jobRow, attempt string) {
	if to == "requeued" {
		to = fence.JobQueued
	}
	if j.live != attempt {
		b.wrong("event %d moves a job to %s by %q while %q is live", id, to, attempt, j.live)
	}
	if !j.at.MayBecome(to) {
		b.wrong("event %d moves a job from %s to %s", id, j.at, to)
	}
	if to == fence.JobVerifying {
		j.passed++
	}
	if to == fence.JobQueued || to.Terminal() {
		j.live = ""
	}
	j.at = to
}

func (b *books) checkJobs() {
	unanswered := b.counts["submit unanswered"]
	for id, j := range b.jobs {
		known := b.swarmLedger.jobs[id]
		moves, hold, webhooks := "hold3 release3", "released", 0
		if j.status == fence.JobSucceeded {
			moves, hold = "hold3 capture3", "captured"
		}
		if known == nil {
			if unanswered--; unanswered < 0 {
				b.wrong("job %s was stored and never acknowledged", id)
			}
			known = b.unanswered(id, j)
		}
		if known.webhook {
			webhooks = 1
		}
		switch {
		case j.at != j.status || !j.status.Terminal() || j.live != "":
			b.wrong("job %s is %s, by its events %s with %q live", id, j.status, j.at, j.live)
		case j.leases != j.n || j.n > j.max:
			b.wrong("job %s: %d attempts by its events, %d by its row, of %d", id, j.leases, j.n, j.max)
		case j.passed > 1:
			b.wrong("job %s: %d attempts passed F6", id, j.passed)
		case j.moves != moves || j.hold != hold:
			b.wrong("job %s is %s, its hold %s, its journal %q", id, j.status, j.hold, j.moves)
		case j.webhooks != webhooks:
			b.wrong("job %s has %d webhook rows, want %d", id, j.webhooks, webhooks)
		case known.cancelled && j.status != fence.JobCancelled:
			b.wrong("F10: a cancel of job %s was answered 202, and it is %s", id, j.status)
		case (j.status == fence.JobSucceeded) != (b.winners[id] != ""):
			b.wrong("job %s is %s, its artifact of %q", id, j.status, b.winners[id])
		}
	}
	for id := range b.swarmLedger.jobs {
		if b.jobs[id] == nil {
			b.wrong("job %s was acknowledged, and is not there", id)
		}
	}
}

// unanswered is a job whose buyer never heard of it, as its row says that it was
// asked for: it is held to everything else.
func (b *books) unanswered(id string, j *jobRow) *swarmJob {
	known := &swarmJob{id: id, maxAttempts: j.max, mayFail: true, webhook: j.webhooks > 0}
	b.swarmLedger.jobs[id] = known
	b.saw(id, swarmOp{kind: "submit", ret: never})
	return known
}

func (b *books) checkAttempts() {
	for id, a := range b.attempts {
		won := a.status == fence.AttemptSucceeded
		switch {
		case a.status.Live():
			b.wrong("attempt %s is still %s", id, a.status)
		case won != (b.winners[a.job] == id):
			b.wrong("attempt %s is %s, and the artifact is of %q", id, a.status, b.winners[a.job])
		case a.epoch != a.seen:
			b.wrong("attempt %s has epoch %d, by its events %d", id, a.epoch, a.seen)
		}
	}
}

// checkCommits holds what agents heard against the rows. An epoch does not
// move once a commit was accepted: the row's is the newest there was.
func (b *books) checkCommits() {
	for _, c := range b.commits {
		a := b.attempts[c.attempt]
		if c.answer == "accepted" && (a.epoch != c.epoch || a.hash != store.HashSecret(c.token) || a.bytes != c.bytes || a.sha != c.sha) {
			b.wrong("F6: an accepted commit is not the stored one: %+v, %+v", *c, *a)
		}
	}
	for id, f := range b.finals {
		a := b.attempts[id]
		want := map[string]fence.AttemptStatus{"": fence.AttemptSucceeded, fence.BuyerCancelled: fence.AttemptCancelled, fence.VerificationFailed: fence.AttemptFailed}[f.code]
		if a.status != want || a.job != f.job || a.code != f.code {
			b.wrong("attempt %s was answered %q and is %s (%s)", id, f.code, a.status, a.code)
		}
	}
}

// checkFiles: what was published is what the attempt that succeeded has
// uploaded, and there is nothing else.
func (b *books) checkFiles() {
	root := filepath.Join(b.dir, "artifacts")
	found := 0
	err := filepath.WalkDir(filepath.Join(root, "objects", "outputs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		key, _ := filepath.Rel(filepath.Join(root, "objects"), path)
		found++
		content, err := os.ReadFile(path)
		if attempt := b.keys[key]; attempt == "" {
			b.wrong("F16: %s was left behind", key)
		} else if want := swarmOutput(clip(b).output, attempt); sum(content) != sum(want) || b.attempts[attempt].sha != sum(want) {
			b.wrong("F16: %s is not what its attempt has uploaded", key)
		}
		return err
	})
	writes, err2 := os.ReadDir(filepath.Join(root, "writes"))
	if err != nil || err2 != nil || found != len(b.keys) || len(writes) > 0 {
		b.wrong("%d outputs for %d artifacts, %d open writes, %v %v", found, len(b.keys), len(writes), err, err2)
	}
	v := b.srv.verifier
	if len(v.waiting)+len(v.running)+len(v.tries) > 0 {
		b.wrong("the verifier still has %v %v %v", v.waiting, v.running, v.tries)
	}
}

const tokenLength = 32 // a commit token's, in base64url

// checkLog: a token is never written down, and no batch was lost.
func (b *books) checkLog() {
	text := b.log.String()
	for line := range strings.Lines(text) {
		if strings.Contains(line, "batch lost") || strings.Contains(line, "panic") || strings.Contains(line, "could not discard") || strings.Contains(line, "does not read") {
			b.wrong("the log says %s", line)
		}
	}
	rows, err := os.ReadFile(filepath.Join(b.dir, "rendermac.db"))
	if err != nil {
		b.Fatal(err)
	}
	for where, text := range map[string]string{"log": text, "database": string(rows)} {
		for i := range max(0, len(text)-tokenLength+1) {
			if b.tokens[text[i:i+tokenLength]] {
				b.wrong("a token stands in the %s", where)
			}
		}
	}
}
