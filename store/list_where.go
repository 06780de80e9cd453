package store

import (
	"slices"
	"strings"

	"rendermac/fence"
)

// walk is a way through jobs in the order of their ids, the newest first: one
// index, or several side by side.
type walk []lane

// lane is one index: what follows FROM, up to the equalities that lead it.
type lane struct {
	column string // the job's id
	from   string
	args   []any
	tail   string
}

// between is the query for the ids from low to below high.
func (w walk) between(low, high string) (string, []any) {
	var parts []string
	var args []any
	for _, l := range w {
		parts = append(parts, "SELECT "+l.column+" AS id FROM "+l.from+" AND "+l.column+" >= ? AND "+l.column+" < ?"+l.tail)
		args = append(append(args, l.args...), low, high)
	}
	return strings.Join(parts, " UNION ALL ") + " ORDER BY id DESC", args
}

// walks are those that fit the filter; that of all jobs always does.
func (l *listing) walks() []walk {
	f := l.f
	all := []walk{{{column: "id", from: "jobs WHERE true"}}}
	if f.AccountID != "" {
		all = append(all, walk{{"id", "jobs INDEXED BY jobs_account WHERE account_id = ?", []any{f.AccountID}, ""}})
	}
	if f.Service != "" {
		all = append(all, walk{{"id", "jobs INDEXED BY jobs_service WHERE service = ?", []any{f.Service}, ""}})
	}
	if f.DeviceID != "" { // grouped, for a job may have had several attempts there
		all = append(all, walk{{"job_id", "job_attempts INDEXED BY job_attempts_device WHERE device_id = ?", []any{f.DeviceID}, " GROUP BY job_id"}})
	}
	if w := f.statusWalk(); w != nil {
		all = append(all, w)
	}
	return all
}

const (
	liveJobs = `(status = 'queued' OR status = 'active' OR status = 'verifying' OR status = 'cancelling')`
	lostJobs = `(status = 'failed' OR status = 'cancelled')`
)

// statusWalk has a lane for each status. There is none for what has succeeded:
// an index of it would cost every job something and select next to nothing.
func (f JobFilter) statusWalk() (w walk) {
	for _, s := range f.Statuses {
		switch status := fence.JobStatus(s); {
		case status == fence.JobSucceeded:
			return nil
		case !status.Terminal():
			w = append(w, lane{"id", "jobs INDEXED BY jobs_live WHERE " + liveJobs + " AND status = ?", []any{s}, ""})
		case f.AccountID == "":
			w = append(w, lane{"id", "jobs INDEXED BY jobs_lost WHERE " + lostJobs + " AND status = ?", []any{s}, ""})
		default:
			w = append(w, lane{"id", "jobs INDEXED BY jobs_lost_of WHERE " + lostJobs + " AND account_id = ? AND status = ?", []any{f.AccountID, s}, ""})
		}
	}
	return w
}

// conditions are the whole filter on a row j of jobs.
func (f JobFilter) conditions() (string, []any) {
	where, args := []string{"true"}, []any{}
	add := func(clause string, values ...any) { where, args = append(where, clause), append(args, values...) }
	if f.AccountID != "" {
		add("j.account_id = ?", f.AccountID)
	}
	if f.Service != "" {
		add("j.service = ?", f.Service)
	}
	if len(f.Statuses) > 0 {
		add("j.status IN (SELECT value FROM json_each(?))", asJSON(f.Statuses))
	}
	if f.DeviceID != "" {
		add("EXISTS (SELECT 1 FROM job_attempts a WHERE a.device_id = ? AND a.job_id = j.id)", f.DeviceID)
	}
	if !f.Since.IsZero() {
		add("j.created_at >= ?", ceil(f.Since))
	}
	if !f.Until.IsZero() {
		add("j.created_at < ?", ceil(f.Until))
	}
	for _, l := range f.Labels { // the text first, for it is cheap and nearly always right
		add("instr(j.labels, ?) > 0 AND EXISTS (SELECT 1 FROM json_each(j.labels) WHERE key = ? AND value = ?)", asJSON(l[0])+":"+asJSON(l[1]), l[0], l[1])
	}
	if f.Query != "" && idPrefix(f.Query) == "" { // else bounds has seen to it
		add(found, slices.Repeat([]any{f.Query}, strings.Count(found, "?"))...)
	}
	return strings.Join(where, " AND "), args
}

// found searches what people remember of a job. Case does not count in ASCII.
const found = `(instr(lower(j.output_name), lower(?)) > 0
	OR substr(j.id, 1, length(?)) = lower(?)
	OR j.labels <> 'null' AND EXISTS (SELECT 1 FROM json_each(j.labels) WHERE instr(lower(value), lower(?)) > 0)
	OR EXISTS (SELECT 1 FROM job_inputs i LEFT JOIN uploads u ON u.id = i.upload_id LEFT JOIN jobs o ON o.id = i.input_job_id
		WHERE i.job_id = j.id AND instr(lower(coalesce(u.name, o.output_name, i.path)), lower(?)) > 0))`
