package web

import "time"

// Job is one job's story.
type Job struct {
	ID, Name        string
	Status          string
	Account         *Choice // an admin's to know
	Service, Preset string
	Failure         string // in words
	FailureCode     string
	Reading         int      // files that are being read first
	Next            *NextRow // its place at the head of the queue; nil where it has none there
	WaitingOn       *JobLink
	Dependents      int  // jobs that would fail with it
	MoreDependents  bool // than were counted
	RetryOf         *JobLink
	Retry           *JobLink // the newest job that repeats it
	Priority        int
	MaxAttempts     int
	Deadline        *time.Time
	Created         time.Time
	Started         *time.Time
	Finished        *time.Time
	Now             time.Time     // of this look
	Attempts        []Attempt     // oldest first
	LogsKept        time.Duration // after an attempt's end; zero is for ever
	Inputs          []File
	Output          *File
	Params          []Fact
	Labels          []Label
	Requires        []Fact
	Webhook         *Webhook
	Hold            *Hold
	Events          []Event
	MoreEvents      bool
}

func (Job) template() string { return "job.html" }

func (j Job) title() string { return j.Name }

// JobLink leads to another job.
type JobLink struct{ ID, Name string }

// Fact is a name and what there is to say of it.
type Fact struct{ Name, Value string }

// Attempt is one run of the job on one device.
type Attempt struct {
	ID, Status string
	Number     int
	DeviceID   string
	Device     string
	Leased     time.Time
	Ended      *time.Time
	Phases     []Phase
	Marks      []Mark
	Progress   *Progress // while it is live
	Failure    string
}

// Phase is a stretch of an attempt: leased, downloading, running, uploading,
// verifying; or "ran", where the events that would say more are gone.
type Phase struct {
	Name     string
	From, To time.Time
}

// Mark is a moment of an attempt: leased, resumed, committed, cancelled.
type Mark struct {
	Kind  string
	At    time.Time
	Epoch int64 // of a resume
}

// Webhook is who wants to be told; Deliveries are an admin's to see.
type Webhook struct {
	URL        string
	Events     []string
	Deliveries []Delivery
	Again      int // seconds until the first of them is tried next; none is: 0
}

// Hold is what the job has set aside of its account's credits.
type Hold struct {
	Credits   int64
	State     string // held, captured, released
	Movements []Movement
}

// What is asked for, in short.
func (j Job) What() string { return what(j.Service, j.Preset) }

// HasEnded tells whether nothing more happens to it.
func (j Job) HasEnded() bool {
	return j.Status == "succeeded" || j.Status == "failed" || j.Status == "cancelled"
}

// MayCancel tells whether a cancel would change anything.
func (j Job) MayCancel() bool { return !j.HasEnded() && j.Status != "cancelling" }

// HasOutput tells whether there is something to download.
func (j Job) HasOutput() bool { return j.Output != nil && j.Output.Deleted == nil }

// Live is the attempt under way; nil where none is.
func (j Job) Live() *Attempt {
	if n := len(j.Attempts); n > 0 && j.Attempts[n-1].Ended == nil {
		return &j.Attempts[n-1]
	}
	return nil
}

// Took is how long it was from the first lease to the end; zero before.
func (j Job) Took() time.Duration {
	if j.Started == nil || j.Finished == nil {
		return 0
	}
	return j.Finished.Sub(*j.Started)
}

// Logs are the attempts, the newest first, as the choice of a log has them.
func (j Job) Logs() (newest []Attempt) {
	for i := len(j.Attempts) - 1; i >= 0; i-- {
		newest = append(newest, j.Attempts[i])
	}
	return newest
}
