package api

import (
	"encoding/json"
	"time"
)

// Types of events that a stream has and the history has not.
const (
	EventProgress = "progress" // how far a run is
	EventReset    = "reset"    // the id that the stream should have gone on from is unknown
)

// EventStreamType is the media type of Server-Sent Events.
const EventStreamType = "text/event-stream"

// Event is something that has happened. docs/api.md lists the types and what is
// in data.
type Event struct {
	ID        *int64          `json:"id" doc:"grows with time; null for progress, which is not stored"`
	At        time.Time       `json:"at"`
	Type      string          `json:"type" example:"job.succeeded"`
	AccountID *string         `json:"account_id" doc:"null for what concerns a device alone"`
	JobID     *string         `json:"job_id"`
	AttemptID *string         `json:"attempt_id"`
	DeviceID  *string         `json:"device_id"`
	Data      json.RawMessage `json:"data"`
}

// Progress is the data of an event of type progress.
type Progress struct {
	Phase      string   `json:"phase"`
	Fraction   *float64 `json:"fraction"`
	FPS        *float64 `json:"fps"`
	Speed      *float64 `json:"speed"`
	ETASeconds *float64 `json:"eta_s"`
}

// EndsJob tells whether the event is its job's last.
func (e *Event) EndsJob() bool {
	return e.Type == "job."+JobSucceeded || e.Type == "job."+JobFailed || e.Type == "job."+JobCancelled
}
