package fence

import (
	"fmt"
	"regexp"
)

// Part is one part of an upload as its sender has measured it. An empty SHA256
// binds the part to its length only.
type Part struct {
	Number int
	Bytes  int64
	SHA256 string
}

var digest = regexp.MustCompile(`^[0-9a-f]{64}$`)

const (
	// mostParts is what an object store takes.
	mostParts = 10_000
	// mostListed is how many of a result's parts an agent makes: with their
	// digests they stay below the megabyte that a frame may have.
	mostListed = 8192
)

// PartBytes is how long the parts of a result are: as long as the agent was told,
// or so much longer, in whole MiB, that one message can list them.
func PartBytes(bytes, told int64) int64 {
	if told <= 0 || (bytes-1)/told < mostListed {
		return told
	}
	const mib = 1 << 20
	least := (bytes-1)/mostListed + 1
	return max(told, (least-1)/mib*mib+mib)
}

// CheckParts says whether parts, numbered from 1 in order, are a file of so
// many bytes: each part_bytes long but for the last; an empty file is one empty
// part; each bears the SHA-256 that its URL is bound to (F16).
func CheckParts(bytes, partBytes int64, parts []Part) error {
	want := int64(1)
	if bytes > 0 {
		want = (bytes-1)/partBytes + 1 // not bytes+partBytes: that may overflow
	}
	if bytes < 0 || int64(len(parts)) != want {
		return badParts("%d bytes are %d parts of %d bytes, not %d: number them from 1", bytes, want, partBytes, len(parts))
	}
	if want > mostParts {
		return badParts("%d parts are too many: make them longer, so that they are %d at most", want, mostParts)
	}
	for i, p := range parts {
		switch {
		case p.Number != i+1 || p.Bytes != min(partBytes, bytes-int64(i)*partBytes):
			return badParts("part %d has a wrong number or length: every part but the last is %d bytes", i+1, partBytes)
		case !digest.MatchString(p.SHA256):
			return badParts("part %d needs a sha256 in lower-case hex", i+1)
		}
	}
	return nil
}

func badParts(format string, args ...any) error {
	return &Error{Code: CodeInvalid, Rule: "F16", Message: fmt.Sprintf(format, args...)}
}
