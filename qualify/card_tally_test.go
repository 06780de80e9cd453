package qualify

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// tally is what a whole column comes to.
type tally struct{ submitted, stale, lost, stuck, leaked int }

// sum looks at all that the site has ever acknowledged.
func (b *bench) sum() (f tally) {
	b.Helper()
	f.submitted = len(b.accepted)
	for id, must := range b.accepted {
		j := b.look(id)
		switch {
		case !j.Ended():
			f.stuck++
		case j.Status != must:
			f.lost++
		}
	}
	count := func(query string) (n int) { n, _ = strconv.Atoi(b.row(query)); return n }
	// A commit that was accepted of an attempt that had lost its job, or a second one.
	f.stale = count(`SELECT count(*) FROM events e JOIN job_attempts a ON a.id = e.attempt_id
		WHERE e.type = 'job.verifying' AND a.status NOT IN ('succeeded', 'cancelled')`) +
		count(`SELECT count(*) FROM (SELECT 1 FROM events WHERE type = 'job.verifying' GROUP BY job_id HAVING count(*) > 1)`)
	f.leaked = b.leaks()
	return f
}

var words = regexp.MustCompile(`[A-Za-z0-9_-]{32,}`)

// leaks counts secrets in logs: the admin key, device tokens, and every commit
// token whose hash is in the database.
func (b *bench) leaks() (n int) {
	b.Helper()
	log := b.story()
	key, _ := os.ReadFile(filepath.Join(b.data(), "admin.key"))
	secrets := []string{strings.TrimSpace(string(key))}
	for _, m := range b.macs {
		secrets = append(secrets, m.token)
	}
	for _, s := range secrets {
		n += strings.Count(log, s)
	}
	hashes := b.row(`SELECT group_concat(commit_token_hash || coalesce(prev_hash, '')) FROM job_attempts`)
	for _, word := range words.FindAllString(log, -1) {
		for i := 0; i+32 <= len(word); i++ {
			if sum := sha256.Sum256([]byte(word[i : i+32])); strings.Contains(hashes, hex.EncodeToString(sum[:])) {
				n++
			}
		}
	}
	return n
}
