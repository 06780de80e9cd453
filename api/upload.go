package api

import "time"

// UploadRequest announces a file. Where digests are given, its URLs are bound to
// them; otherwise to lengths only (F16). UploadParts tells digests later.
type UploadRequest struct {
	Name   string  `json:"name" minLength:"1" maxLength:"255" example:"interview.mov" doc:"one path element"`
	Bytes  int64   `json:"bytes" minimum:"0"`
	SHA256 *string `json:"sha256" required:"false" pattern:"^[0-9a-f]{64}$"`
	Parts  []Part  `json:"parts" required:"false" maxItems:"10000" doc:"digests of the parts, each part_bytes long but for the last; empty where they are told later, part by part: then there are no URLs yet"`
}

// Part is one part of an upload as the sender has measured it.
type Part struct {
	Number int    `json:"number" minimum:"1" maximum:"10000"`
	Bytes  int64  `json:"bytes" minimum:"0"`
	SHA256 string `json:"sha256" pattern:"^[0-9a-f]{64}$"`
}

// PartURL is a URL that can write one part and nothing else (F16).
type PartURL struct {
	Number  int               `json:"number"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers" doc:"send these with the PUT"`
}

// UploadCreated answers an UploadRequest with the first page of part URLs.
type UploadCreated struct {
	ID        string    `json:"id" example:"upl_01kbd3m8q5w9x2c7e4r6t8y0za"`
	PartBytes int64     `json:"part_bytes"`
	Parts     []PartURL `json:"parts" nullable:"false"`
	NextPart  *int      `json:"next_part" doc:"ask for the next page with ?from_part=; null on the last"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Upload is how far an upload has come: what is held, and the missing parts
// signed anew.
type Upload struct {
	ID        string    `json:"id"`
	Bytes     int64     `json:"bytes"`
	PartBytes int64     `json:"part_bytes"`
	Held      []int     `json:"held" nullable:"false"`
	Parts     []PartURL `json:"parts" nullable:"false"`
	NextPart  *int      `json:"next_part"`
	ExpiresAt time.Time `json:"expires_at"`
}

// UploadParts asks for URLs that are bound to the digests of parts (F16).
type UploadParts struct {
	Parts []Part `json:"parts" nullable:"false" minItems:"1" maxItems:"256"`
}

// UploadPartURLs answers it.
type UploadPartURLs struct {
	Held      []int     `json:"held" nullable:"false" doc:"those that are held already, with the digest that was told"`
	Parts     []PartURL `json:"parts" nullable:"false"`
	ExpiresAt time.Time `json:"expires_at"`
}

// UploadComplete closes an upload; the server computes the digest itself and
// compares it with this one.
type UploadComplete struct {
	SHA256 *string `json:"sha256" required:"false" pattern:"^[0-9a-f]{64}$"`
}

// UploadDone is a completed upload, ready to be a job's input.
type UploadDone struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Media  *Media `json:"media" doc:"what the file is, or null where the server cannot read it: the device that takes the job will"`
}
