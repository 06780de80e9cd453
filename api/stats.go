package api

import "time"

// Stats is how the queue stands and how the last 24 h went: of the key's account,
// for an admin of all. It is up to five seconds old.
type Stats struct {
	At      time.Time    `json:"at" doc:"when this was looked at"`
	Queue   Queue        `json:"queue"`
	Wait    Percentiles  `json:"wait" doc:"from submit to the first lease"`
	Run     Percentiles  `json:"run" doc:"from the lease to the commit of a job's last attempt"`
	Verify  Percentiles  `json:"verify" doc:"from that commit to the end of its verification"`
	Devices []DeviceLoad `json:"devices" nullable:"false" doc:"all but the revoked"`
	Hours   []Hour       `json:"hours" nullable:"false" doc:"24 hours of UTC, the oldest first; the last one is under way"`
}

// Depth counts live jobs by status.
type Depth struct {
	Queued     int `json:"queued"`
	Active     int `json:"active"`
	Verifying  int `json:"verifying"`
	Cancelling int `json:"cancelling"`
}

// Queue is all live jobs, and those of each service that has some.
type Queue struct {
	Depth
	Services []ServiceQueue `json:"services" nullable:"false"`
}

// ServiceQueue is the live jobs of one service.
type ServiceQueue struct {
	Service string `json:"service" example:"ffmpeg.transcode"`
	Depth
}

// Percentiles are nearest ranks, over at most the 10,000 newest jobs that ended
// within 24 h; null where there is none.
type Percentiles struct {
	Jobs int      `json:"jobs" doc:"how many they are of"`
	P50  *float64 `json:"p50_s"`
	P90  *float64 `json:"p90_s"`
	P99  *float64 `json:"p99_s"`
}

// DeviceLoad is how busy a device is. Below the admin scope Slots and BusyShare
// are null.
type DeviceLoad struct {
	ID        string   `json:"id" example:"dev_01kbd3m8q5w9x2c7e4r6t8y0za"`
	Name      string   `json:"name"`
	State     string   `json:"state" enum:"online,offline,draining"`
	Slots     *int     `json:"slots"`
	Busy      int      `json:"busy" doc:"slots that a live attempt takes"`
	BusyShare *float64 `json:"busy_share" minimum:"0" maximum:"1" doc:"of the last 24 h of all slots that it has now; null where it has none"`
}

// Hour is what came and what ended in one hour.
type Hour struct {
	From      time.Time `json:"from"`
	Submitted int       `json:"submitted"`
	Succeeded int       `json:"succeeded"`
	Failed    int       `json:"failed"`
	Cancelled int       `json:"cancelled"`
}
