package web

import "time"

// Journal is an account's movements of credits, newest first.
type Journal struct {
	Account Account
	Rows    []Movement
	Paging
}

func (Journal) template() string { return "journal.html" }

// Movement is one of them, with the balances after it.
type Movement struct {
	ID          int64
	At          time.Time
	Kind        string // hold, capture or release
	JobID       string // empty: none
	Amount      int64
	Held, Spent int64
}

// What says what happened to the credits.
func (m Movement) What() string {
	switch m.Kind {
	case "hold":
		return "Held for a job"
	case "capture":
		return "Spent: the job has succeeded"
	case "release":
		return "Given back: the job has not succeeded"
	}
	return m.Kind
}
