package store

import (
	"database/sql"
	"encoding/json"
	"path"
	"strings"
	"unicode"
)

// Input is one file that a run reads: an upload's object or another job's
// published output.
type Input struct {
	UploadID, JobID string
	Name            string
	Key             string
	Bytes           int64
	SHA256          string
	Media           json.RawMessage // the server's own probe, or nil
}

func (q querier) inputs(jobID string) ([]Input, error) {
	var out []Input
	err := q.each(`SELECT coalesce(i.upload_id, ''), coalesce(i.input_job_id, ''), coalesce(u.name, o.output_name), coalesce(u.object_key, f.object_key, ''),
			coalesce(u.bytes, f.bytes, 0), coalesce(u.sha256, f.sha256, ''), coalesce(u.media, f.media)
		FROM job_inputs i LEFT JOIN uploads u ON u.id = i.upload_id
		LEFT JOIN jobs o ON o.id = i.input_job_id LEFT JOIN artifacts f ON f.job_id = i.input_job_id
		WHERE i.job_id = ? ORDER BY i.position`, []any{jobID}, func(rows *sql.Rows) error {
		var in Input
		var media sql.NullString
		err := rows.Scan(&in.UploadID, &in.JobID, &in.Name, &in.Key, &in.Bytes, &in.SHA256, &media)
		in.Media = rawOrNil(media)
		out = append(out, in)
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
