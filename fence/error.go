package fence

import "errors"

// Error is a refusal with a stable code. Message ends with what to do, or says
// deliberately little where saying more would help an impostor (F4).
type Error struct {
	Code    string  // snake_case, stable
	Rule    string  // the rule that refused, such as "F6"; empty for plain input errors
	Message string  // for people
	Faults  []Fault // every fault of an invalid request
}

// Fault is one thing wrong with a request; Location is a path such as
// "inputs[0].upload_id".
type Fault struct{ Location, Message string }

func (e *Error) Error() string {
	if e.Rule == "" {
		return e.Message
	}
	return e.Message + " (" + e.Rule + ")"
}

// Codes that the fence itself gives.
const (
	CodeLeaseConflict  = "lease_conflict"
	CodeCommitConflict = "commit_conflict"
	CodeJobTerminal    = "job_terminal"
	CodeNotFound       = "not_found"
	CodeInvalid        = "invalid"
)

// CodeOf is the code of err, or "" if it is no *Error.
func CodeOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Both refusals say the same whatever part was wrong (F4).
func leaseConflict(rule string) error {
	return &Error{Code: CodeLeaseConflict, Rule: rule, Message: "this run does not hold the lease: stop it"}
}

func commitConflict(rule string) error {
	return &Error{Code: CodeCommitConflict, Rule: rule, Message: "this run may not settle the job: discard its result"}
}
