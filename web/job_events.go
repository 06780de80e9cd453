package web

import "time"

// Event is something that has happened to the job.
type Event struct {
	ID     int64
	At     time.Time
	Type   string
	Device string // empty: none had to do with it
	Facts  []Fact // what it says beside
}

var happened = map[string]string{
	"job.queued": "Submitted", "job.read": "Its files were read", "job.priority": "Another priority", "job.verifying": "The result was delivered",
	"job.requeued": "Goes back to the queue", "job.cancelling": "Told to stop", "job.succeeded": "Succeeded", "job.failed": "Failed", "job.cancelled": "Cancelled",
	"attempt.leased": "Taken", "attempt.downloading": "Download began", "attempt.running": "Run began", "attempt.uploading": "Upload began",
	"attempt.resumed": "The Mac came back and goes on",
}

// What happened, in words; an event that has none says its type.
func (e Event) What() string {
	if words := happened[e.Type]; words != "" {
		return words
	}
	return e.Type
}
