package store_test

import (
	"database/sql"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"rendermac/fence"

	"pgregory.net/rapid"
)

// rowReader reads every table over one connection of its own.
type rowReader struct {
	t     *rapid.T
	db    *sql.DB
	stmts map[string]*sql.Stmt
	event int64 // the newest event seen, and how many the model had told by then
	told  int
}

func openRows(t *rapid.T, path string, before *rowReader) *rowReader {
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: "mode=ro"}).String())
	if err != nil {
		t.Fatalf("%v", err)
	}
	db.SetMaxOpenConns(1)
	r := &rowReader{t: t, db: db, stmts: map[string]*sql.Stmt{}}
	if before != nil {
		r.event, r.told = before.event, before.told
	}
	return r
}

// from starts the comparison of the history here.
func (r *rowReader) from(told int) {
	r.told = told
	if err := r.db.QueryRow(`SELECT max(id) FROM events`).Scan(&r.event); err != nil {
		r.t.Fatalf("%v", err)
	}
}

func (r *rowReader) close() {
	r.db.Close()
	r.stmts = map[string]*sql.Stmt{}
}

// read scans all rows of a query, column by column into a T's own fields.
func read[T any](r *rowReader, query string, fields func(*T) []any, args ...any) (list []T) {
	r.t.Helper()
	stmt := r.stmts[query]
	if stmt == nil {
		var err error
		if stmt, err = r.db.Prepare(query); err != nil {
			r.t.Fatalf("%v", err)
		}
		r.stmts[query] = stmt
	}
	rows, err := stmt.Query(args...)
	if err != nil {
		r.t.Fatalf("%v", err)
	}
	defer rows.Close()
	var row T
	dest := fields(&row)
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			r.t.Fatalf("%v", err)
		}
		list = append(list, row)
	}
	if err := rows.Err(); err != nil {
		r.t.Fatalf("%v", err)
	}
	return list
}

// hold compares a table with what the model says of it.
func hold[T comparable](w *twin, table string, got, want []T) {
	w.t.Helper()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			w.t.Fatalf("%s: the model has one more row: %+v", table, want[i])
		case i >= len(want):
			w.t.Fatalf("%s: the store has one more row: %+v", table, got[i])
		case got[i] != want[i]:
			w.t.Fatalf("%s: row %d differs\nstore %+v\nmodel %+v", table, i, got[i], want[i])
		}
	}
}

// stamp is an instant as a column has it; zero is NULL.
func stamp(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// compare holds all rows against the model.
func (w *twin) compare() {
	w.t.Helper()
	w.compareJobs()
	w.compareRuns()
	w.compareGrants()
	w.compareMoney()
	w.compareDeliveries()
	w.compareDevices()
	w.compareHistory()
}

type jobRow struct {
	ID, Status, WaitingOn, Code                                         string
	Priority, Max, Attempts, Deadline, CreatedAt, StartedAt, FinishedAt int64
	Message                                                             bool
}

func (w *twin) compareJobs() {
	got := read(w.rows, `SELECT id, status, coalesce(waiting_on, ''), coalesce(failure_code, ''), priority, max_attempts, attempts, coalesce(admission_deadline, 0),
		created_at, coalesce(started_at, 0), coalesce(finished_at, 0), failure_message IS NOT NULL FROM jobs ORDER BY id`,
		func(r *jobRow) []any {
			return []any{&r.ID, &r.Status, &r.WaitingOn, &r.Code, &r.Priority, &r.Max, &r.Attempts, &r.Deadline, &r.CreatedAt, &r.StartedAt, &r.FinishedAt, &r.Message}
		})
	var want []jobRow
	for _, j := range w.model.Jobs {
		want = append(want, jobRow{
			j.ID, string(j.Status), j.WaitingOn, j.Code, int64(j.Priority), int64(j.MaxAttempts), int64(j.Attempts), stamp(j.Deadline),
			stamp(j.CreatedAt), stamp(j.StartedAt), stamp(j.EndedAt), j.Status == fence.JobFailed || j.Status == fence.JobCancelled,
		})
	}
	hold(w, "jobs", got, want)
}

type runRow struct {
	ID, JobID, DeviceID, Status, Hash, PrevHash, Phase, SHA256, Code, Key                               string
	Number, Epoch, PrevEpoch, ExpiresAt, Bytes, VerifyAt, LeasedAt, RetryAfter, EndedAt, Fraction, Prev int64
}

func (w *twin) compareRuns() {
	got := read(w.rows, `SELECT id, job_id, device_id, status, commit_token_hash, coalesce(prev_hash, ''), coalesce(phase, ''), coalesce(claimed_sha256, ''),
		coalesce(failure_code, ''), output_key, attempt_number, lease_epoch, coalesce(prev_epoch, 0), lease_expires_at, coalesce(claimed_bytes, 0),
		coalesce(verify_started_at, 0), leased_at, coalesce(retry_after, 0), coalesce(ended_at, 0), coalesce(CAST(fraction AS INTEGER), 0),
		(prev_epoch IS NOT NULL) + (prev_hash IS NOT NULL) FROM job_attempts ORDER BY id`,
		func(r *runRow) []any {
			return []any{
				&r.ID, &r.JobID, &r.DeviceID, &r.Status, &r.Hash, &r.PrevHash, &r.Phase, &r.SHA256, &r.Code, &r.Key, &r.Number, &r.Epoch, &r.PrevEpoch,
				&r.ExpiresAt, &r.Bytes, &r.VerifyAt, &r.LeasedAt, &r.RetryAfter, &r.EndedAt, &r.Fraction, &r.Prev,
			}
		})
	var want []runRow
	for _, r := range w.model.Runs {
		row := runRow{
			r.ID, r.JobID, r.DeviceID, string(r.Status), r.TokenHash, r.PrevHash, string(r.Phase), r.ClaimedSHA256, r.Code, key(r.JobID, r.ID),
			int64(r.Number), r.Epoch, r.PrevEpoch, stamp(r.ExpiresAt), r.ClaimedBytes, stamp(r.VerifyAt), stamp(r.LeasedAt), stamp(r.RetryAfter), stamp(r.EndedAt), 0, 0,
		}
		if !r.VerifyAt.IsZero() {
			row.Fraction = 1
		}
		if r.PrevEpoch != 0 {
			row.Prev = 2
		}
		want = append(want, row)
	}
	hold(w, "job_attempts", got, want)
}

func key(job, attempt string) string { return "outputs/" + job + "/" + attempt + ".mp4" }

type fileRow struct {
	Of, Key, SHA256 string
	Bytes           int64
}

func (r *fileRow) fields() []any { return []any{&r.Of, &r.Key, &r.SHA256, &r.Bytes} }

// compareGrants holds grants, their declared parts, what was published, what is
// owed to the rubbish, and what was logged.
func (w *twin) compareGrants() {
	var grants, parts, artifacts, discards, logs []fileRow
	for _, r := range w.model.Runs {
		g, declared := w.grants[r.ID]
		grants = append(grants, fileRow{r.ID, key(r.JobID, r.ID), g.SHA256, g.Bytes})
		if declared {
			parts = append(parts, fileRow{r.ID, "", g.SHA256, g.Bytes})
		}
		if declared && !r.Status.Live() && r.Status != fence.AttemptSucceeded {
			discards = append(discards, fileRow{"", key(r.JobID, r.ID), "", 0})
		}
		if text, logged := w.logs[r.ID]; logged {
			logs = append(logs, fileRow{r.ID, text, "", int64(len(text))})
		}
	}
	for _, j := range w.model.Jobs {
		for _, r := range w.model.Runs {
			if r.JobID == j.ID && r.Status == fence.AttemptSucceeded {
				artifacts = append(artifacts, fileRow{j.ID + r.ID, key(j.ID, r.ID), r.ClaimedSHA256, r.ClaimedBytes})
			}
		}
	}
	hold(w, "artifact_grants", read(w.rows, `SELECT attempt_id, object_key, coalesce(sha256, ''), coalesce(bytes, 0) FROM artifact_grants ORDER BY attempt_id`, (*fileRow).fields), grants)
	hold(w, "upload_parts", read(w.rows, `SELECT owner_id, '', sha256, bytes FROM upload_parts ORDER BY owner_id`, (*fileRow).fields), parts)
	hold(w, "artifacts", read(w.rows, `SELECT job_id || attempt_id, object_key, sha256, bytes FROM artifacts ORDER BY job_id`, (*fileRow).fields), artifacts)
	if n := len(w.model.Runs); n > 0 { // one a step: a query for each would cost more than all the rest
		r := w.model.Runs[len(w.known)%n]
		open, err := w.OpenGrant(ctx, r.ID, key(r.JobID, r.ID))
		w.must(err)
		w.equal("open grant of "+r.ID, open, w.model.Open(r.ID))
	}
	slices.SortFunc(discards, func(a, b fileRow) int { return strings.Compare(a.Key, b.Key) })
	hold(w, "discards", read(w.rows, `SELECT '', object_key, '', 0 FROM discards UNION ALL SELECT 'unsettled', job_id, '', 0 FROM settlements ORDER BY 2`, (*fileRow).fields), discards)
	hold(w, "attempt_logs", read(w.rows, `SELECT attempt_id, tail, '', length(tail) FROM attempt_logs ORDER BY attempt_id`, (*fileRow).fields), logs)
}

type moneyRow struct {
	JobID, State, Debit, Credit string
	Amount, At                  int64
}

func (r *moneyRow) fields() []any {
	return []any{&r.JobID, &r.State, &r.Debit, &r.Credit, &r.Amount, &r.At}
}

// compareMoney: a hold is captured on success and released otherwise, once (F11),
// and what costs nothing moves nothing.
func (w *twin) compareMoney() {
	var holds, journals []moneyRow
	var balance balanceRow
	for _, j := range w.model.Jobs {
		amount := w.asked[j.ID].credits
		if amount == 0 {
			continue
		}
		journals = append(journals, moneyRow{j.ID, "hold", "available", "held", amount, stamp(j.CreatedAt)})
		state, settled := "held", moneyRow{j.ID, "release", "held", "available", amount, stamp(j.EndedAt)}
		switch {
		case j.Status == fence.JobSucceeded:
			state, settled.State, settled.Credit = "captured", "capture", "spent"
			balance.Spent += amount
		case j.Status.Terminal():
			state = "released"
		default:
			balance.Held += amount
		}
		if holds = append(holds, moneyRow{j.ID, state, "", "", amount, stamp(j.EndedAt)}); j.Status.Terminal() {
			journals = append(journals, settled)
		}
	}
	hold(w, "holds", read(w.rows, `SELECT job_id, state, '', '', credits, coalesce(settled_at, 0) FROM holds ORDER BY job_id`, (*moneyRow).fields), holds)
	hold(w, "journals", read(w.rows, `SELECT job_id, kind, debit, credit, amount, at FROM journals ORDER BY job_id, id`, (*moneyRow).fields), journals)
	w.compareBooks(balance)
}

type balanceRow struct{ Held, Spent int64 }

type booksRow struct {
	Holds, Sums, Newest balanceRow
	All, Other          int64
}

// compareBooks sums every journal anew: what its movements add up to in each
// ledger is what the holds say, what the newest movement says, and what the model
// says; all lines together are nothing, and no other account has any.
func (w *twin) compareBooks(want balanceRow) {
	got := read(w.rows, `SELECT h.held, h.spent, l.held, l.spent, coalesce(j.held, 0), coalesce(j.spent, 0), l.total, l.other FROM
		(SELECT coalesce(sum(credits) FILTER (WHERE state = 'held'), 0) AS held, coalesce(sum(credits) FILTER (WHERE state = 'captured'), 0) AS spent FROM holds) h,
		(SELECT coalesce(sum(credit - debit) FILTER (WHERE ledger = 'held'), 0) AS held, coalesce(sum(credit - debit) FILTER (WHERE ledger = 'spent'), 0) AS spent,
			coalesce(sum(credit - debit), 0) AS total, count(*) FILTER (WHERE account_id <> ? OR ledger NOT IN ('available', 'held', 'spent')) AS other FROM journal_lines) l
		LEFT JOIN journals j ON j.id = (SELECT max(id) FROM journals)`,
		func(r *booksRow) []any {
			return []any{&r.Holds.Held, &r.Holds.Spent, &r.Sums.Held, &r.Sums.Spent, &r.Newest.Held, &r.Newest.Spent, &r.All, &r.Other}
		}, w.home.account)
	hold(w, "the books", got, []booksRow{{Holds: want, Sums: want, Newest: want}})
	if used := want.Held + want.Spent; w.limit != nil && used > w.used && used > *w.limit {
		w.t.Fatalf("%+v passes the limit %d", want, *w.limit)
	}
	w.used = want.Held + want.Spent
}

type deliveryRow struct{ JobID, Type, State, Code string }

// compareDeliveries: whoever wants to be told has one row of the end, and only
// one (F11).
func (w *twin) compareDeliveries() {
	got := read(w.rows, `SELECT job_id, type, state || tries || url, body ->> '$.data.status' || coalesce(body ->> '$.data.failure_code', '')
		FROM webhook_deliveries ORDER BY job_id, type DESC`, func(r *deliveryRow) []any { return []any{&r.JobID, &r.Type, &r.State, &r.Code} })
	var want []deliveryRow
	const fresh = "pending0https://example.test/hook"
	for _, j := range w.model.Jobs {
		wants := func(kind string) bool { return slices.Contains(w.asked[j.ID].webhook, kind) }
		if j.Attempts > 0 && wants("job.started") {
			want = append(want, deliveryRow{j.ID, "job.started", fresh, "active"})
		}
		if kind := "job." + string(j.Status); j.Status.Terminal() && wants(kind) {
			want = append(want, deliveryRow{j.ID, kind, fresh, string(j.Status) + j.Code})
		}
	}
	hold(w, "webhook_deliveries", got, want)
}

type deviceRow struct {
	ID, Session     string
	Revoked, Online bool
	Draining        bool
	SeenAt          int64
}

func (w *twin) compareDevices() {
	got := read(w.rows, `SELECT id, coalesce(session_id, ''), revoked_at IS NOT NULL, online, draining, coalesce(last_seen_at, 0) FROM devices ORDER BY id`,
		func(r *deviceRow) []any {
			return []any{&r.ID, &r.Session, &r.Revoked, &r.Online, &r.Draining, &r.SeenAt}
		})
	var want []deviceRow
	for _, d := range w.model.Devices {
		want = append(want, deviceRow{d.ID, d.SessionID, d.Revoked, d.Online, d.Draining, stamp(d.SeenAt)})
	}
	hold(w, "devices", got, want)
}

type eventRow struct {
	fence.ModelEvent
	at   int64
	data string
}

// compareHistory holds the events of this step: of one job, or of one device,
// they have the model's order. What came before is never changed: triggers see
// to that, and its number is counted.
func (w *twin) compareHistory() {
	rows := read(w.rows, `SELECT id, at, type, coalesce(job_id, ''), coalesce(attempt_id, ''), coalesce(device_id, ''), data FROM events WHERE id > ? ORDER BY id`,
		func(r *eventRow) []any {
			return []any{&w.rows.event, &r.at, &r.Type, &r.Job, &r.Attempt, &r.Device, &r.data}
		}, w.rows.event)
	var got []fence.ModelEvent
	for _, r := range rows {
		var data struct {
			AttemptNumber int64  `json:"attempt_number"`
			LeaseEpoch    int64  `json:"lease_epoch"`
			FailureCode   string `json:"failure_code"`
		}
		w.must(json.Unmarshal([]byte(r.data), &data))
		r.Code, r.Number = data.FailureCode, data.AttemptNumber+data.LeaseEpoch
		w.equal("time of "+r.Type, r.at, stamp(w.clock.Now()))
		got = append(got, r.ModelEvent)
	}
	want := slices.Clone(w.model.History[w.rows.told:])
	w.rows.told = len(w.model.History)
	hold(w, "events", byThing(got), byThing(want))
}

// byThing sorts events by what they are of, and keeps the order of each.
func byThing(list []fence.ModelEvent) []fence.ModelEvent {
	slices.SortStableFunc(list, func(a, b fence.ModelEvent) int {
		if a.Job == "" && b.Job == "" {
			return strings.Compare(a.Device, b.Device)
		}
		return strings.Compare(a.Job, b.Job)
	})
	return list
}
