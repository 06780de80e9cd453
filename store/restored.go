package store

import (
	"database/sql"
	"errors"

	"rendermac/fence"
)

// fenceRestored is what the first start on a restored database does before
// anyone connects: no run, session, code or signed URL of before is good any
// more, for nobody knows what became of it after the backup. Runs that passed F6
// are verified again like after any start (F15). Event ids go on past all that
// were ever given. One transaction: a crash repeats it whole.
func (t *tx) fenceRestored() (restored bool, err error) {
	var event int64
	err = t.one(`SELECT max(CAST(value AS INTEGER), coalesce((SELECT max(id) + 1 FROM events), 0)) FROM settings WHERE name = 'restored'`, nil, &event)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := t.exec(`INSERT INTO events (id, at, type, data) VALUES (?, ?, 'server.restored', '{}')`, event, ms(t.now)); err != nil {
		return false, err
	}
	runs, err := t.runs(`SELECT ` + runColumns + ` FROM job_attempts a INDEXED BY job_attempts_one_live JOIN jobs j ON j.id = a.job_id
		WHERE ` + live + ` AND a.status <> 'committing' ORDER BY a.id`)
	if err != nil {
		return false, err
	}
	for _, r := range runs {
		if _, err := t.lose(r, fence.ProviderOffline, "the server was restored from a backup"); err != nil {
			return false, err
		}
	}
	if _, err := t.silence(t.now); err != nil {
		return false, err
	}
	for _, query := range []string{
		`UPDATE devices SET session_id = NULL WHERE session_id IS NOT NULL`,
		`DELETE FROM pairing_codes WHERE used_at IS NULL`,
		`DELETE FROM sessions`,
		`DELETE FROM sign_in_links`,
		`DELETE FROM settings WHERE name = 'restored' OR name = 'url_signing_key'`,
	} {
		if err := t.exec(query); err != nil {
			return false, err
		}
	}
	return true, nil
}
