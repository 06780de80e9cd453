package store

import (
	"database/sql"
	"errors"

	"rendermac/fence"
)

// Ledgers of an account. A movement debits one and credits another, so the
// books balance by construction.
const (
	ledgerAvailable = "available"
	ledgerHeld      = "held"
	ledgerSpent     = "spent"
)

func (t *tx) move(kind, account, job, debit, credit string, amount int64) error {
	return t.exec(`INSERT INTO journals (at, account_id, job_id, kind, debit, credit, amount) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		ms(t.now), account, job, kind, debit, credit, amount)
}

// placeHold reserves what a job will cost. A zero price writes nothing.
func (t *tx) placeHold(account, job string, credits int64) error {
	if credits == 0 {
		return nil
	}
	var limit sql.NullInt64
	var used int64
	err := t.one(`SELECT credit_limit, CASE WHEN credit_limit IS NULL THEN 0 ELSE
			(SELECT coalesce(sum(credits), 0) FROM holds WHERE account_id = accounts.id AND state <> 'released') END
		FROM accounts WHERE id = ?`, []any{account}, &limit, &used)
	if err != nil {
		return err
	}
	if limit.Valid && used+credits > limit.Int64 {
		return &fence.Error{Code: CodeCreditExceeded, Message: "the account's credit limit does not cover this job: raise the limit or submit less"}
	}
	err = t.exec(`INSERT INTO holds (job_id, account_id, credits, state, created_at) VALUES (?, ?, ?, 'held', ?)`, job, account, credits, ms(t.now))
	if err != nil {
		return err
	}
	return t.move("hold", account, job, ledgerAvailable, ledgerHeld, credits)
}

// settleHold captures on success and releases on anything else (F8, F11).
func (t *tx) settleHold(job string, capture bool) error {
	var account string
	var credits int64
	err := t.one(`SELECT account_id, credits FROM holds WHERE job_id = ? AND state = 'held'`, []any{job}, &account, &credits)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	state, kind, to := "released", "release", ledgerAvailable
	if capture {
		state, kind, to = "captured", "capture", ledgerSpent
	}
	err = t.change("settle hold", `UPDATE holds SET state = ?, settled_at = ? WHERE job_id = ? AND state = 'held'`, state, ms(t.now), job)
	if err != nil {
		return err
	}
	return t.move(kind, account, job, ledgerHeld, to, credits)
}
