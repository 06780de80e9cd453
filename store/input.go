package store

import (
	"database/sql"
	"encoding/json"
	"path"
	"strings"
	"time"
	"unicode"
)

// Input is one file that a run reads: an upload's object, another job's
// published output, or a file under a shared root, which has no key.
type Input struct {
	UploadID, JobID string
	Path            string // ROOT/relative/file
	Name            string
	Key             string
	Bytes           int64
	SHA256          string          // empty as long as nobody has read it
	Media           json.RawMessage // the server's own probe, or nil
	DeletedAt       *time.Time      // when retention has removed its bytes; nil while they are there
}

const inputQuery = `SELECT i.job_id, coalesce(i.upload_id, ''), coalesce(i.input_job_id, ''), coalesce(i.path, ''), coalesce(u.name, o.output_name, ''), coalesce(u.object_key, f.object_key, ''),
		coalesce(u.bytes, f.bytes, i.bytes, 0), coalesce(u.sha256, f.sha256, i.sha256, ''), coalesce(u.media, f.media, i.media), coalesce(u.deleted_at, f.deleted_at)
	FROM job_inputs i LEFT JOIN uploads u ON u.id = i.upload_id
	LEFT JOIN jobs o ON o.id = i.input_job_id LEFT JOIN artifacts f ON f.job_id = i.input_job_id `

func (q querier) inputs(jobID string) ([]Input, error) {
	all, err := q.inputsBy(inputQuery+`WHERE i.job_id = ? ORDER BY i.position`, jobID)
	return all[jobID], err
}

// inputsOf are the inputs of many jobs, in one query, by job.
func (q querier) inputsOf(jobIDs []string) (map[string][]Input, error) {
	return q.inputsBy(inputQuery+`WHERE i.job_id IN (SELECT value FROM json_each(?)) ORDER BY i.job_id, i.position`, asJSON(jobIDs))
}

func (q querier) inputsBy(query string, arg any) (map[string][]Input, error) {
	out := map[string][]Input{}
	err := q.each(query, []any{arg}, func(rows *sql.Rows) error {
		var in Input
		var job string
		var media sql.NullString
		var deleted sql.NullInt64
		err := rows.Scan(&job, &in.UploadID, &in.JobID, &in.Path, &in.Name, &in.Key, &in.Bytes, &in.SHA256, &media, &deleted)
		if in.Path != "" {
			in.Name = path.Base(in.Path)
		}
		in.Media, in.DeletedAt = rawOrNil(media), timeOrNil(deleted)
		out[job] = append(out[job], in)
		return err
	})
	return out, err
}

// outputName names a result after its input: interview.mov becomes
// interview.mp4, at most 255 bytes long and without control characters.
func outputName(input, ext string) string {
	stem := strings.TrimSuffix(input, path.Ext(input))
	if stem == "" {
		stem = "output"
	}
	stem = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '_'
		}
		return r
	}, stem)
	return clip(stem, 255-len(ext)-1) + "." + ext
}
