package api

import (
	"encoding/json"
	"time"
)

// Job statuses. The last three are final.
const (
	JobQueued     = "queued"
	JobActive     = "active"
	JobVerifying  = "verifying"
	JobCancelling = "cancelling"
	JobSucceeded  = "succeeded"
	JobFailed     = "failed"
	JobCancelled  = "cancelled"
)

// JobRequest asks for one run of a named service.
type JobRequest struct {
	Service           string            `json:"service" minLength:"1" example:"ffmpeg.transcode" doc:"a name from GET /v1/services"`
	Params            json.RawMessage   `json:"params" required:"false" doc:"the service's own params; explicit ones override the preset's"`
	Inputs            []Input           `json:"inputs" minItems:"1" maxItems:"100" nullable:"false"`
	Priority          *int              `json:"priority" required:"false" minimum:"-100" maximum:"100" doc:"higher goes first; 0 by default"`
	MaxAttempts       *int              `json:"max_attempts" required:"false" minimum:"1" maximum:"10"`
	AdmissionDeadline *time.Time        `json:"admission_deadline" required:"false" doc:"a job that is still queued then fails as no_capacity"`
	Requires          *Requires         `json:"requires" required:"false"`
	WebhookURL        *string           `json:"webhook_url" required:"false" maxLength:"2048" pattern:"^https?://" doc:"an http or https URL"`
	WebhookEvents     []string          `json:"webhook_events" required:"false" enum:"job.started,job.succeeded,job.failed,job.cancelled"`
	OutputName        *string           `json:"output_name" required:"false" minLength:"1" maxLength:"255" doc:"the download's name: one path element"`
	Labels            map[string]string `json:"labels" required:"false" nullable:"true"`
}

// BatchRequest asks for many jobs at once: all are stored, or none.
type BatchRequest struct {
	Jobs []JobRequest `json:"jobs" minItems:"1" maxItems:"500" nullable:"false"`
}

// Batch answers a BatchRequest, in its order.
type Batch struct {
	Items []Job `json:"items" nullable:"false"`
}

// JobChange is what may be changed of a queued job.
type JobChange struct {
	Priority int `json:"priority" minimum:"-100" maximum:"100"`
}

// Input names what a job reads: exactly one of its fields is set.
type Input struct {
	UploadID *string `json:"upload_id" required:"false" doc:"a completed upload"`
	JobID    *string `json:"job_id" required:"false" doc:"that job's output"`
	Path     *string `json:"path" required:"false" maxLength:"1024" doc:"ROOT/relative/file, under a shared root that the account may use"`
}

// Requires narrows the devices that may run a job.
type Requires struct {
	_           struct{} `nullable:"true"`
	Tags        []string `json:"tags" required:"false" maxItems:"32" doc:"the device must bear all of them"`
	MinMemoryGB *float64 `json:"min_memory_gb" required:"false" minimum:"0" maximum:"65536"`
}

// JobItem is a job as lists show it.
type JobItem struct {
	ID                string            `json:"id" example:"job_01kbd3m8q5w9x2c7e4r6t8y0za"`
	AccountID         string            `json:"account_id"`
	Status            string            `json:"status" enum:"queued,active,verifying,cancelling,succeeded,failed,cancelled"`
	Service           string            `json:"service"`
	Params            json.RawMessage   `json:"params" doc:"as they were sent"`
	Inputs            []Input           `json:"inputs" nullable:"false"`
	Priority          int               `json:"priority"`
	MaxAttempts       int               `json:"max_attempts"`
	AdmissionDeadline *time.Time        `json:"admission_deadline"`
	Requires          *Requires         `json:"requires"`
	WebhookURL        *string           `json:"webhook_url"`
	WebhookEvents     []string          `json:"webhook_events"`
	OutputName        *string           `json:"output_name"`
	Labels            map[string]string `json:"labels" nullable:"true"`
	RetryOf           *string           `json:"retry_of"`
	WaitingOn         *string           `json:"waiting_on"`
	Reading           int               `json:"reading" minimum:"0" doc:"inputs by path that the server is still to read; no device is offered the job before"`
	FailureCode       *string           `json:"failure_code"`
	FailureMessage    *string           `json:"failure_message"`
	CreatedAt         time.Time         `json:"created_at"`
	StartedAt         *time.Time        `json:"started_at"`
	FinishedAt        *time.Time        `json:"finished_at"`
	Hold              *Hold             `json:"hold"`
	Artifact          *Artifact         `json:"artifact"`
}

// Job is one job, whole.
type Job struct {
	JobItem
	InputMedia []*Media  `json:"input_media" nullable:"false" doc:"what each of the inputs is, in their order; null where nobody has been able to read it yet"`
	Attempts   []Attempt `json:"attempts" nullable:"false" doc:"oldest first"`
}

// Ended tells whether the job's status is final.
func (j *JobItem) Ended() bool {
	return j.Status == JobSucceeded || j.Status == JobFailed || j.Status == JobCancelled
}

// Attempt is one run of a job on one device.
type Attempt struct {
	ID             string     `json:"id"`
	AttemptNumber  int        `json:"attempt_number" minimum:"1"`
	Status         string     `json:"status" enum:"leased,downloading,running,uploading,committing,succeeded,failed,lost,cancelled"`
	DeviceID       string     `json:"device_id"`
	DeviceName     string     `json:"device_name"`
	LeaseEpoch     int64      `json:"lease_epoch" minimum:"1"`
	Phase          *string    `json:"phase"`
	Fraction       *float64   `json:"fraction" minimum:"0" maximum:"1" doc:"of the phase; null where it is unknown"`
	FPS            *float64   `json:"fps"`
	Speed          *float64   `json:"speed"`
	ETASeconds     *float64   `json:"eta_s"`
	LeasedAt       time.Time  `json:"leased_at"`
	EndedAt        *time.Time `json:"ended_at"`
	FailureCode    *string    `json:"failure_code"`
	FailureMessage *string    `json:"failure_message"`
}

// Hold is what a job has set aside of its account's credits.
type Hold struct {
	_       struct{} `nullable:"true"`
	Credits int64    `json:"credits"`
	State   string   `json:"state" enum:"held,captured,released"`
}

// Artifact is a job's verified output.
type Artifact struct {
	_           struct{}   `nullable:"true"`
	Name        string     `json:"name" doc:"the download's name"`
	Bytes       int64      `json:"bytes"`
	SHA256      string     `json:"sha256"`
	ContentType string     `json:"content_type"`
	Media       *Media     `json:"media" doc:"what the file is: container, streams, duration"`
	Warnings    []string   `json:"warnings"`
	DeletedAt   *time.Time `json:"deleted_at" doc:"when retention removed the bytes; null while they are there"`
}
