package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"rendermac/fence"
)

// Ledgers of an account. A movement debits one and credits another, so the
// books balance by construction.
const (
	ledgerAvailable = "available"
	ledgerHeld      = "held"
	ledgerSpent     = "spent"
)

// Balance is where an account's credits are: its newest movement says so, so
// that nothing ever adds them all up.
type Balance struct {
	Held  int64 // by jobs that have not ended
	Spent int64 // on jobs that have succeeded
}

// Movement is one row of an account's journal, with the balance after it.
type Movement struct {
	ID            int64
	At            time.Time
	Kind          string // hold, capture or release
	JobID         *string
	Debit, Credit string
	Amount        int64
	Balance
}

// Journal lists an account's movements before an id, newest first, with the
// account as it stood at that moment.
func (db *DB) Journal(ctx context.Context, account string, before int64, limit int) (a Account, list []Movement, err error) {
	err = db.read(ctx, func(q querier) error {
		if a, err = q.account(account); err != nil {
			return err
		}
		list, err = q.movements(`account_id = ? AND id < ? ORDER BY id DESC LIMIT ?`, account, before, limit)
		return err
	})
	return a, list, err
}

// JobMovements are those that a job has caused, the oldest first: its hold, and
// what became of that.
func (db *DB) JobMovements(ctx context.Context, jobID string) (list []Movement, err error) {
	err = db.read(ctx, func(q querier) error {
		list, err = q.movements(`job_id = ? ORDER BY id`, jobID)
		return err
	})
	return list, err
}

func (q querier) movements(where string, args ...any) (list []Movement, err error) {
	err = q.each(`SELECT id, at, kind, job_id, debit, credit, amount, held, spent FROM journals WHERE `+where, args, func(rows *sql.Rows) error {
		var m Movement
		var at int64
		err := rows.Scan(&m.ID, &at, &m.Kind, &m.JobID, &m.Debit, &m.Credit, &m.Amount, &m.Held, &m.Spent)
		m.At = fromMS(at)
		list = append(list, m)
		return err
	})
	return list, err
}

// move appends one movement and the balance after it.
func (t *tx) move(kind, account, job, debit, credit string, amount int64) error {
	var b Balance
	err := t.one(`SELECT held, spent FROM journals WHERE account_id = ? ORDER BY id DESC LIMIT 1`, []any{account}, &b.Held, &b.Spent)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	after := map[string]int64{ledgerHeld: b.Held, ledgerSpent: b.Spent}
	after[debit] -= amount
	after[credit] += amount
	return t.exec(`INSERT INTO journals (at, account_id, job_id, kind, debit, credit, amount, held, spent) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		ms(t.now), account, job, kind, debit, credit, amount, after[ledgerHeld], after[ledgerSpent])
}

// placeHold reserves what a job will cost. A zero price writes nothing.
func (t *tx) placeHold(account, job string, credits int64) error {
	if credits == 0 {
		return nil
	}
	a, err := t.account(account)
	if err != nil {
		return err
	}
	if left := a.Left(); left != nil && credits > *left {
		return &fence.Error{Code: CodeCreditExceeded, Message: fmt.Sprintf(
			"this costs %d credits, and the account's limit leaves %d: raise it, submit less, or wait for jobs that end without success", credits, max(0, *left))}
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
