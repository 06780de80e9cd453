package api

import (
	"encoding/json"
	"time"
)

// Account is who jobs, uploads and keys belong to.
type Account struct {
	ID          string    `json:"id" example:"acc_01kbd3m8q5w9x2c7e4r6t8y0za"`
	Name        string    `json:"name" example:"studio"`
	CreditLimit *int64    `json:"credit_limit" doc:"held and spent together never pass it; null: no limit"`
	Held        int64     `json:"held" doc:"credits reserved by jobs that have not ended"`
	Spent       int64     `json:"spent" doc:"credits of jobs that have succeeded"`
	CreatedAt   time.Time `json:"created_at"`
}

// AccountSecret is the only answer that bears a webhook secret.
type AccountSecret struct {
	Account
	WebhookSecret string `json:"webhook_secret" example:"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" doc:"signs the account's webhooks; shown once"`
}

// AccountRequest makes an account.
type AccountRequest struct {
	Name        string `json:"name" minLength:"1" maxLength:"100" doc:"no other account's"`
	CreditLimit *int64 `json:"credit_limit" required:"false" minimum:"0" maximum:"9007199254740991" doc:"null: no limit"`
}

// AccountChange is what an admin sets at an account; what is absent stays as it is.
type AccountChange struct {
	Name        *string `json:"name,omitempty" minLength:"1" maxLength:"100" doc:"no other account's"`
	CreditLimit **int64 `json:"credit_limit,omitempty" nullable:"true" minimum:"0" maximum:"9007199254740991" doc:"null: no limit"`
}

// UnmarshalJSON tells a limit that is null from one that is absent.
func (c *AccountChange) UnmarshalJSON(text []byte) error {
	type plain AccountChange
	if err := json.Unmarshal(text, (*plain)(c)); err != nil {
		return err
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(text, &keys); err != nil {
		return err
	}
	if _, there := keys["credit_limit"]; there && c.CreditLimit == nil {
		c.CreditLimit = new(*int64)
	}
	return nil
}

// Movement is one row of an account's journal: it debits one ledger and credits
// another by the same amount.
type Movement struct {
	ID     int64     `json:"id"`
	At     time.Time `json:"at"`
	Kind   string    `json:"kind" enum:"hold,capture,release"`
	JobID  *string   `json:"job_id"`
	Debit  string    `json:"debit" enum:"available,held,spent"`
	Credit string    `json:"credit" enum:"available,held,spent"`
	Amount int64     `json:"amount" minimum:"1" doc:"credits"`
	Held   int64     `json:"held" doc:"the account's, after it"`
	Spent  int64     `json:"spent" doc:"the account's, after it"`
}

// Balances are where an account's credits are.
type Balances struct {
	Available *int64 `json:"available" doc:"what the limit leaves; below zero where it was lowered; null: no limit"`
	Held      int64  `json:"held"`
	Spent     int64  `json:"spent"`
}

// Journal is one page of an account's movements, newest first.
type Journal struct {
	Items      []Movement `json:"items" nullable:"false"`
	NextCursor *string    `json:"next_cursor" doc:"pass it as ?cursor= for the next page; null on the last"`
	Balances   Balances   `json:"balances" doc:"as they are now, on every page"`
}

// Key is an API key, without its secret.
type Key struct {
	ID        string     `json:"id" example:"key_01kbd3m8q5w9x2c7e4r6t8y0za"`
	Name      string     `json:"name"`
	AccountID string     `json:"account_id"`
	Scope     string     `json:"scope" enum:"read,submit,admin"`
	CreatedAt time.Time  `json:"created_at"`
	RevokedAt *time.Time `json:"revoked_at"`
}

// KeyRequest makes a key.
type KeyRequest struct {
	Name      string `json:"name" minLength:"1" maxLength:"100" doc:"what or who uses it"`
	AccountID string `json:"account_id" maxLength:"100" doc:"whose things it sees, and whom its jobs belong to"`
	Scope     string `json:"scope" enum:"read,submit,admin" doc:"each can do what those before it can"`
}

// KeyCreated is the only answer that bears a key's plaintext.
type KeyCreated struct {
	Key
	Plaintext string `json:"key" example:"rm_3q2-7wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" doc:"shown once"`
}
