package store

import (
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"time"

	"rendermac/fence"
)

// SecretOverlap is how long a webhook secret that was replaced still signs.
const SecretOverlap = 24 * time.Hour

// Account is who jobs, uploads and keys belong to.
type Account struct {
	ID, Name    string
	CreditLimit *int64 // nil: none
	Balance
	CreatedAt time.Time
}

// Left is what may still be held of a, below zero where the limit was lowered;
// nil is without limit.
func (a Account) Left() *int64 {
	if a.CreditLimit == nil {
		return nil
	}
	return new(*a.CreditLimit - a.Held - a.Spent)
}

// AccountChange is what an admin sets at an account; nil leaves a thing as it is.
type AccountChange struct {
	Name        *string
	CreditLimit **int64 // a nil within removes the limit
}

// CreateAccount makes an account; its webhook secret is shown once.
func (db *DB) CreateAccount(ctx context.Context, name string, creditLimit *int64) (a Account, secret string, err error) {
	err = db.w.do(ctx, func(t *tx) error {
		if err := t.nameIsFree(name, ""); err != nil {
			return err
		}
		var id string
		if id, secret, err = t.newAccount(name, creditLimit); err != nil {
			return err
		}
		a, err = t.account(id)
		return err
	})
	return a, secret, err
}

// ChangeAccount sets a name or a limit. A limit below what is used already stops
// new work only.
func (db *DB) ChangeAccount(ctx context.Context, id string, c AccountChange) (Account, error) {
	var a Account
	err := db.w.do(ctx, func(t *tx) (err error) {
		if a, err = t.account(id); err != nil {
			return err
		}
		before := a
		if c.Name != nil {
			a.Name = *c.Name
		}
		if c.CreditLimit != nil {
			a.CreditLimit = *c.CreditLimit
		}
		if err := t.nameIsFree(a.Name, id); err != nil {
			return err
		}
		return t.change("change account", `UPDATE accounts SET name = ?, credit_limit = ? WHERE id = ? AND name = ? AND credit_limit IS ?`,
			a.Name, a.CreditLimit, id, before.Name, before.CreditLimit)
	})
	return a, err
}

// ReplaceWebhookSecret makes a new secret. The one before signs beside it for
// SecretOverlap; an older one no more.
func (db *DB) ReplaceWebhookSecret(ctx context.Context, id string) (a Account, secret string, err error) {
	err = db.w.do(ctx, func(t *tx) error {
		if a, err = t.account(id); err != nil {
			return err
		}
		var before string
		if err := t.one(`SELECT webhook_secret FROM accounts WHERE id = ?`, []any{id}, &before); err != nil {
			return err
		}
		if secret, err = t.webhookSecret(); err != nil {
			return err
		}
		return t.change("replace webhook secret", `UPDATE accounts SET webhook_secret_before = ?, webhook_before_until = ?, webhook_secret = ?
			WHERE id = ? AND webhook_secret = ?`, before, ms(t.now.Add(SecretOverlap)), secret, id, before)
	})
	return a, secret, err
}

// Accounts lists accounts, the oldest first, after an id.
func (db *DB) Accounts(ctx context.Context, after string, limit int) (list []Account, err error) {
	err = db.read(ctx, func(q querier) error {
		list, err = q.accounts(`WHERE a.id > ? ORDER BY a.id LIMIT ?`, after, limit)
		return err
	})
	return list, err
}

// AccountName is what an account is called.
func (db *DB) AccountName(ctx context.Context, id string) (name string, err error) {
	err = db.read(ctx, func(q querier) error { return q.one(`SELECT name FROM accounts WHERE id = ?`, []any{id}, &name) })
	if errors.Is(err, sql.ErrNoRows) {
		return "", notFound("account")
	}
	return name, err
}

func (q querier) account(id string) (Account, error) {
	list, err := q.accounts(`WHERE a.id = ?`, id)
	if err == nil && len(list) == 0 {
		err = notFound("account")
	}
	if err != nil {
		return Account{}, err
	}
	return list[0], nil
}

func (q querier) accounts(where string, args ...any) (list []Account, err error) {
	err = q.each(`SELECT a.id, a.name, a.credit_limit, a.created_at, coalesce(j.held, 0), coalesce(j.spent, 0) FROM accounts a
		LEFT JOIN journals j ON j.id = (SELECT max(id) FROM journals WHERE account_id = a.id) `+where, args, func(rows *sql.Rows) error {
		var a Account
		var created int64
		err := rows.Scan(&a.ID, &a.Name, &a.CreditLimit, &created, &a.Held, &a.Spent)
		a.CreatedAt = fromMS(created)
		list = append(list, a)
		return err
	})
	return list, err
}

// nameIsFree refuses the name of another account than except.
func (t *tx) nameIsFree(name, except string) error {
	var other string
	err := t.one(`SELECT id FROM accounts WHERE name = ? AND id <> ?`, []any{name, except}, &other)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return &fence.Error{Code: fence.CodeInvalid, Message: "two accounts cannot have the same name: choose another", Faults: []fence.Fault{{Location: "name", Message: "is another account's"}}}
}

func (t *tx) newAccount(name string, creditLimit *int64) (id, secret string, err error) {
	if id, err = t.id("acc"); err != nil {
		return "", "", err
	}
	if secret, err = t.webhookSecret(); err != nil {
		return "", "", err
	}
	return id, secret, t.exec(`INSERT INTO accounts (id, name, credit_limit, webhook_secret, created_at) VALUES (?, ?, ?, ?, ?)`,
		id, name, creditLimit, secret, ms(t.now))
}

// webhookSecret is one in the form of Standard Webhooks.
func (t *tx) webhookSecret() (string, error) {
	secret, err := t.secret(24)
	return "whsec_" + base64.StdEncoding.EncodeToString(secret), err
}
