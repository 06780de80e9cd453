package api

import (
	"encoding/json"
	"time"
)

// Machine is what an agent says of the machine it runs on.
type Machine struct {
	_             struct{} `nullable:"true" additionalProperties:"true"`
	Platform      string   `json:"platform" required:"false" example:"darwin"`
	Arch          string   `json:"arch" required:"false" example:"arm64"`
	Model         string   `json:"model" required:"false" example:"Mac mini (M4)"`
	OSVersion     string   `json:"os_version" required:"false"`
	CPUs          int      `json:"cpus" required:"false"`
	MemoryBytes   int64    `json:"memory_bytes" required:"false"`
	FreeDiskBytes int64    `json:"free_disk_bytes" required:"false"`
	Encoders      []string `json:"encoders" required:"false"`
	Features      []string `json:"features" required:"false" doc:"each proved by a test frame"`
}

// Device is a paired machine. Below the admin scope only ID, Name, State, Busy
// and Services are shown; the rest is null.
type Device struct {
	ID         string     `json:"id" example:"dev_01kbd3m8q5w9x2c7e4r6t8y0za"`
	Name       string     `json:"name"`
	State      string     `json:"state" enum:"online,offline,draining,revoked"`
	Slots      *int       `json:"slots"`
	Busy       int        `json:"busy" doc:"slots that a live attempt takes"`
	Services   []string   `json:"services"`
	Device     *Machine   `json:"device"`
	Tags       []string   `json:"tags"`
	LastSeenAt *time.Time `json:"last_seen_at"`
	Running    *int64     `json:"running" doc:"live attempts"`
	Succeeded  *int64     `json:"succeeded" doc:"attempts that succeeded"`
	Failed     *int64     `json:"failed" doc:"attempts that failed or were lost"`
}

// PairingRequest asks for a pairing code.
type PairingRequest struct {
	Name *string `json:"name" required:"false" minLength:"1" maxLength:"100" doc:"what to call the device"`
}

// Pairing is a code that pairs one device, once, within ten minutes.
type Pairing struct {
	Code      string    `json:"code" example:"K7QD-2MXP"`
	DeviceID  string    `json:"device_id" example:"dev_01kbd3m8q5w9x2c7e4r6t8y0za" doc:"the device that the code will make: device.paired names it once that has happened, and it is not found before"`
	ExpiresAt time.Time `json:"expires_at"`
	Command   string    `json:"command" doc:"what to type on the device"`
}

// PairRequest redeems a pairing code.
type PairRequest struct {
	Code   string  `json:"code" example:"K7QD-2MXP"`
	Name   string  `json:"name" required:"false" maxLength:"100" doc:"used where the code has no name of its own"`
	Device Machine `json:"device" required:"false"`
}

// PairAnswer is the only message that bears a device token.
type PairAnswer struct {
	DeviceID    string `json:"device_id"`
	DeviceToken string `json:"device_token"`
}

// Service is something that can be asked for.
type Service struct {
	Name          string          `json:"name" example:"ffmpeg.transcode"`
	Title         string          `json:"title"`
	Params        json.RawMessage `json:"params" doc:"the JSON Schema of the service's params"`
	Presets       []Preset        `json:"presets" nullable:"false"`
	DevicesOnline int             `json:"devices_online"`
}

// Preset is a named set of params.
type Preset struct {
	Name   string          `json:"name" example:"web-1080p"`
	Title  string          `json:"title"`
	Params json.RawMessage `json:"params"`
}
