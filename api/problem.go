package api

import (
	"net/http"
	"strings"
	"time"
)

// ProblemType is the media type of every error.
const ProblemType = "application/problem+json"

// Codes are stable: clients branch on them, people read Detail.
const (
	CodeBadJSON           = "bad_json"               // 400: not JSON, or a key twice
	CodeUnauthenticated   = "unauthenticated"        // 401
	CodeCreditExhausted   = "credit_exhausted"       // 402: the account's limit does not cover it
	CodeForbidden         = "forbidden"              // 403: the key's scope is too small, or another site asks in a browser's name
	CodeBadSignature      = "bad_signature"          // 403: a signed URL that is wrong or has expired
	CodeBadCode           = "bad_code"               // 403: a pairing code that is wrong, used or too old
	CodeBadSignIn         = "bad_sign_in"            // 403: a sign-in link that is wrong, used or too old
	CodeNotFound          = "not_found"              // 404, also for what the key may not see
	CodeMethodNotAllowed  = "method_not_allowed"     // 405
	CodeJobTerminal       = "job_terminal"           // 409: the job has ended
	CodeJobNotSucceeded   = "job_not_succeeded"      // 409: there is no output
	CodeJobNotTerminal    = "job_not_terminal"       // 409: the job has not ended
	CodeJobNotQueued      = "job_not_queued"         // 409: the job has left the queue
	CodeUploadIncomplete  = "upload_incomplete"      // 409: parts are missing
	CodePartHeld          = "part_held"              // 409: the part is there already, bound to its bytes (F16)
	CodeLastAdminKey      = "last_admin_key"         // 409: make another one first
	CodeDeviceRevoked     = "device_revoked"         // 409: pair it again (F18)
	CodeOutputDeleted     = "output_deleted"         // 410: retention has removed it, or an input that was uploaded
	CodeTooLarge          = "body_too_large"         // 413
	CodeUnsupportedType   = "unsupported_media_type" // 415
	CodeBadRange          = "range_not_satisfiable"  // 416: the object is shorter
	CodeInvalid           = "invalid_request"        // 422: every fault is in errors
	CodeKeyReused         = "idempotency_key_reused" // 422: the key came before with another body
	CodeDigestMismatch    = "digest_mismatch"        // 422: the bytes are not the ones announced
	CodeTooManyRequests   = "too_many_requests"      // 429
	CodeInternal          = "internal_error"         // 500
	CodeStoreUnavailable  = "store_unavailable"      // 503: try again
	CodeInsufficientSpace = "storage_full"           // 507
)

// Error is a problem document (RFC 9457), and the error that the client returns
// for one.
type Error struct {
	Type   string  `json:"type" example:"about:blank"`
	Title  string  `json:"title" example:"Not Found"`
	Status int     `json:"status" example:"404"`
	Detail string  `json:"detail" doc:"one sentence that says what to do"`
	Code   string  `json:"code" example:"not_found"`
	Errors []Fault `json:"errors" doc:"every fault of an invalid body"`

	RetryAfter time.Duration `json:"-"` // as the header said, to the client
}

// Fault says where a body is wrong, never what stood there.
type Fault struct {
	Location string `json:"location" example:"params.width"`
	Message  string `json:"message" example:"must be even"`
}

// Degraded is the problem that /readyz answers with.
type Degraded struct {
	*Problem
	Health string   `json:"health"` // always degraded
	Away   []string `json:"away"`   // what takes no writes just now: database, artifact store
}

// Problem is embedded under this name so that its method Error is not hidden.
type Problem = Error

// NewError is the problem of a status and code.
func NewError(status int, code, detail string, faults ...Fault) *Error {
	return &Error{
		Type: "about:blank", Title: http.StatusText(status), Status: status,
		Detail: detail, Code: code, Errors: faults,
	}
}

// Error is the detail, then each fault.
func (e *Error) Error() string {
	text := strings.TrimSuffix(e.Detail, ".")
	if text == "" {
		text = e.Title
	}
	for i, f := range e.Errors {
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		text += sep + strings.TrimPrefix(f.Location+" ", " ") + f.Message
	}
	return text
}

// GetStatus is the HTTP status.
func (e *Error) GetStatus() int { return e.Status }

// ContentType makes huma write the error as what it is.
func (e *Error) ContentType(string) string { return ProblemType }
