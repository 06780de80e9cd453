package artifact

import (
	"errors"
	"fmt"
	"net/http"
)

// Refusal is the answer to somebody whose signed URL was not obeyed. Codes and
// statuses are those of the HTTP API.
type Refusal struct {
	Status int
	Code   string
	Detail string
}

func (r *Refusal) Error() string { return r.Detail }

var (
	errSignature = &Refusal{http.StatusForbidden, "bad_signature", "This URL is not signed for this request; ask for a new one."}
	errExpired   = &Refusal{http.StatusForbidden, "bad_signature", "This URL has expired; ask for a new one."}
	errEnded     = &Refusal{http.StatusForbidden, "bad_signature", "The grant behind this URL has ended; if the upload goes on, ask for a new one."}
	errPartHeld  = &Refusal{http.StatusConflict, "part_held", "This part is held already; go on with the next one."}
	errPartBusy  = &Refusal{http.StatusServiceUnavailable, "store_unavailable", "Another request is writing this part; try again."}
	errBroken    = &Refusal{http.StatusUnprocessableEntity, "digest_mismatch", "The body broke off; send the part again."}
	errDigest    = &Refusal{http.StatusUnprocessableEntity, "digest_mismatch", "The bytes do not have the SHA-256 that was announced; send the part again."}
)

func wrongLength(p Part) error {
	return &Refusal{http.StatusUnprocessableEntity, "digest_mismatch", fmt.Sprintf("Part %d is %d bytes long and these were more or fewer; send the part again.", p.Number, p.Bytes)}
}

// refusal turns what a store's verb answered into what the client is told. An
// error that is the store's own fault stays as it is.
func refusal(err error) error {
	switch {
	case errors.Is(err, ErrNotFound):
		return &Refusal{http.StatusNotFound, "not_found", "There is no such object."}
	case errors.Is(err, ErrFull):
		return &Refusal{http.StatusInsufficientStorage, "storage_full", err.Error() + "."}
	}
	return err
}
