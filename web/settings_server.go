package web

import (
	"strings"
	"time"
)

// Storage is where files are kept, how many bytes, and for how long.
type Storage struct {
	Folder           string // empty: it is a bucket
	Bucket, Endpoint string
	Prefix           string
	Outputs, Uploads int64  // bytes
	Free             *int64 // on the folder's disk; nil where nobody knows
	Retention        Retention
}

// Retention is how long things are kept, and how much of them. Zero is for ever,
// and no limit.
type Retention struct {
	Outputs, Uploads, Events, Logs, Deliveries time.Duration
	OutputsMaxBytes, UploadsMaxBytes           int64
}

type rule struct{ What, Kept, Key string }

// Rules says it in words, with the config's keys.
func (r Retention) Rules() []rule {
	return []rule{
		{"Outputs", kept(r.Outputs, " after their job has ended", r.OutputsMaxBytes), "retention.outputs, retention.outputs_max_bytes"},
		{"Uploads", kept(r.Uploads, " after the last job that had them has ended", r.UploadsMaxBytes), "retention.uploads, retention.uploads_max_bytes"},
		{"Logs of runs", kept(r.Logs, "", 0), "retention.logs"},
		{"Events", kept(r.Events, "", 0), "retention.events"},
		{"Records of webhooks", kept(r.Deliveries, "", 0), "retention.deliveries"},
	}
}

func kept(d time.Duration, since string, most int64) string {
	text := "For ever"
	if d > 0 {
		text = "For " + Long(d) + since
	}
	if most > 0 {
		text += "; the oldest go where all are more than " + Bytes(most)
	}
	return text
}

// Backups is when the database is copied, and the last time that it was.
type Backups struct {
	Every  time.Duration // zero: never
	Keep   int
	Folder string
	Count  int // of those that are in the folder
	Last   *Backup
	Late   bool   // one is due since a while
	Fault  string // why the folder cannot be read; empty where it can
}

// Often says how often: every day, every 6 hours.
func (b Backups) Often() string { return "Every " + strings.TrimPrefix(Long(b.Every), "1 ") }

// Backup is a copy of the database.
type Backup struct {
	At    time.Time
	File  string
	Bytes int64
}

// Server is what runs here.
type Server struct {
	URL       string
	WideURL   string // where other machines reach it; empty: they cannot
	StartedAt time.Time
	Data      string // its data directory
	Config    string // its config file, which need not be there
	Database  int64  // bytes
	Go        string
	SQLite    string
	System    string
	Away      []string // what takes no writes just now
	Metrics   string   // their address
	Public    bool     // whether others than this machine may read them
}
