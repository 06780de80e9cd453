// Package agentproto holds the WebSocket wire between a RenderMac server and
// its agents, version 1: the messages, and how they become JSON text frames.
// Times are RFC 3339 UTC with milliseconds, durations seconds, sizes bytes.
package agentproto

import "time"

const (
	// Version is the protocol version an agent states in hello.
	Version = 1
	// Subprotocol is the WebSocket subprotocol both sides must offer.
	Subprotocol = "rendermac.v1"
	// MaxFrame is the largest frame either side reads, in bytes.
	MaxFrame = 1 << 20
	// MaxGrantParts is how many part URLs one upload_grant carries at most.
	MaxGrantParts = 256
)

// Close codes, beside the standard ones.
const (
	CloseReplaced     = 4001 // a newer session of this device is here
	CloseProtocol     = 4002 // this protocol is not spoken here
	CloseRevoked      = 4003 // the device was revoked
	CloseGoingAway    = 1001 // the server stops: reconnect
	ClosePolicy       = 1008 // no hello in time, or too many bad messages
	CloseTooBig       = 1009 // a frame over MaxFrame
	CloseStoreFailure = 1011 // what was said could not be stored: reconnect
)

// Message is any frame of the protocol.
type Message interface{ Type() string }

// IDs are three of the four identities that every message of a run bears; the
// fourth, the commit token, is on commit, fail and resume only.
type IDs struct {
	JobID      string `json:"job_id"`
	AttemptID  string `json:"attempt_id"`
	LeaseEpoch int64  `json:"lease_epoch"`
}

// Device is what an agent says of its machine.
type Device struct {
	Platform      string   `json:"platform"`
	Arch          string   `json:"arch"`
	Model         string   `json:"model"`
	OSVersion     string   `json:"os_version"`
	CPUs          int      `json:"cpus"`
	MemoryBytes   int64    `json:"memory_bytes"`
	FreeDiskBytes int64    `json:"free_disk_bytes"`
	Encoders      []string `json:"encoders"`
	Features      []string `json:"features"`
}

// ResumeEntry is an attempt that the agent says it still holds (F14).
type ResumeEntry struct {
	IDs
	CommitToken string `json:"commit_token"`
}

// Input is one input of an offer: a signed URL, or a shared root and a path.
type Input struct {
	Name   string `json:"name"`
	URL    string `json:"url,omitempty"`
	Root   string `json:"root,omitempty"`
	Path   string `json:"path,omitempty"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Output says where the result goes and how it is cut into parts.
type Output struct {
	Key         string `json:"key"`
	ContentType string `json:"content_type"`
	PartBytes   int64  `json:"part_bytes"`
}

// Part is one part of an upload as the agent has measured it.
type Part struct {
	Number int    `json:"number"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// PartURL is a URL that can write one part and nothing else (F16).
type PartURL struct {
	Number  int               `json:"number"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
}

// Messages from the agent to the server.
type (
	Hello struct {
		Protocol     int           `json:"protocol"`
		AgentVersion string        `json:"agent_version"`
		Slots        int           `json:"slots"`
		Services     []string      `json:"services"`
		Device       Device        `json:"device"`
		Resume       []ResumeEntry `json:"resume"`
	}
	Ready struct {
		SlotsFree int `json:"slots_free"`
	}
	Progress struct {
		IDs
		Phase      string   `json:"phase"`
		Fraction   *float64 `json:"fraction"`
		FPS        *float64 `json:"fps,omitempty"`
		Speed      *float64 `json:"speed,omitempty"`
		ETASeconds *float64 `json:"eta_s,omitempty"`
		// InputMedia is what the agent's ffprobe said of each input, as JSON.
		InputMedia []RawJSON `json:"input_media,omitempty"`
	}
	Inputs struct {
		IDs
	}
	Upload struct {
		IDs
		Bytes    int64  `json:"bytes"`
		SHA256   string `json:"sha256"`
		Parts    []Part `json:"parts"`
		FromPart int    `json:"from_part,omitempty"`
	}
	Commit struct {
		IDs
		CommitToken string   `json:"commit_token"`
		Bytes       int64    `json:"bytes"`
		SHA256      string   `json:"sha256"`
		Warnings    []string `json:"warnings,omitempty"`
	}
	Fail struct {
		IDs
		CommitToken string `json:"commit_token"`
		FailureCode string `json:"failure_code"`
		Message     string `json:"message"`
	}
	Log struct {
		IDs
		Lines []string `json:"lines"`
	}
	Bye struct {
		Reason string `json:"reason"`
		Keep   []IDs  `json:"keep"`
	}
)

// Messages from the server to the agent.
type (
	HelloOK struct {
		DeviceID      string  `json:"device_id"`
		DeviceName    string  `json:"device_name"`
		Slots         int     `json:"slots"`
		Resume        bool    `json:"resume"`
		LeaseTTL      Seconds `json:"lease_ttl_s"`
		Heartbeat     Seconds `json:"heartbeat_s"`
		ServerTime    Time    `json:"server_time"`
		ServerVersion string  `json:"server_version"`
	}
	LeaseOffer struct {
		IDs
		AttemptNumber  int     `json:"attempt_number"`
		CommitToken    string  `json:"commit_token"`
		LeaseExpiresAt Time    `json:"lease_expires_at"`
		LeaseTTL       Seconds `json:"lease_ttl_s"`
		Service        string  `json:"service"`
		Params         RawJSON `json:"params"`
		Inputs         []Input `json:"inputs"`
		Output         Output  `json:"output"`
	}
	ProgressOK struct {
		IDs
		LeaseExpiresAt Time    `json:"lease_expires_at"`
		LeaseTTL       Seconds `json:"lease_ttl_s"`
	}
	InputsOK struct {
		IDs
		Inputs []Input `json:"inputs"`
	}
	UploadGrant struct {
		IDs
		Parts     []PartURL `json:"parts"`
		NextPart  *int      `json:"next_part"`
		ExpiresAt Time      `json:"expires_at"`
	}
	LeaseConflict struct {
		IDs
		Message string `json:"message"`
	}
	LeaseResumed struct {
		IDs
		CommitToken    string  `json:"commit_token"`
		LeaseExpiresAt Time    `json:"lease_expires_at"`
		LeaseTTL       Seconds `json:"lease_ttl_s"`
	}
	LeaseRevoked struct {
		JobID     string  `json:"job_id"`
		AttemptID string  `json:"attempt_id"`
		Status    *string `json:"status"`
	}
	CommitAccepted struct {
		IDs
	}
	CommitOK struct {
		JobID     string `json:"job_id"`
		AttemptID string `json:"attempt_id"`
	}
	CommitRejected struct {
		JobID     string `json:"job_id"`
		AttemptID string `json:"attempt_id"`
		Code      string `json:"code"`
		Message   string `json:"message"`
	}
	FailOK struct {
		JobID     string `json:"job_id"`
		AttemptID string `json:"attempt_id"`
		Requeued  bool   `json:"requeued"`
	}
	Cancel struct {
		JobID     string `json:"job_id"`
		AttemptID string `json:"attempt_id"`
	}
	Drain      struct{}
	ResumeWork struct{}
	Error      struct {
		Code        string   `json:"code"`
		Message     string   `json:"message"`
		JobID       string   `json:"job_id,omitempty"`
		AttemptID   string   `json:"attempt_id,omitempty"`
		RetryAfterS *Seconds `json:"retry_after_s,omitempty"`
	}
)

// Seconds is a duration on the wire: seconds, fractions allowed.
type Seconds float64

// Duration is s as Go has it.
func (s Seconds) Duration() time.Duration { return time.Duration(float64(s) * float64(time.Second)) }

// SecondsOf is d as the wire has it.
func SecondsOf(d time.Duration) Seconds { return Seconds(d.Seconds()) }
