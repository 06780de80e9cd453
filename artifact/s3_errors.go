package artifact

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/minio/minio-go/v7"
)

// errGone is an upload that the server does not know any more: it was completed,
// aborted, or thrown away by a rule of the bucket's.
var errGone = errors.New("the S3 server has forgotten this upload")

// SettingsError is ErrUnavailable for a reason that somebody has to mend.
type SettingsError struct{ text string }

func (e *SettingsError) Error() string { return e.text }

func (e *SettingsError) Unwrap() error { return ErrUnavailable }

// failure says what an S3 server's answer means for the caller of a verb. What
// is no clear answer is ErrUnavailable: it says nothing of the objects. Neither
// addresses nor keys come along.
func (s *S3) failure(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err() // the caller's own, not that of one try
	}
	answer := minio.ToErrorResponse(err)
	switch answer.Code {
	case "NoSuchKey", "NotFound":
		return ErrNotFound
	case "NoSuchUpload":
		return errGone
	case "NoSuchBucket":
		return &SettingsError{fmt.Sprintf("the S3 server has no bucket %s: make it, or correct store.s3.bucket", s.o.Bucket)}
	case "InvalidAccessKeyId", "XAdminUserNotFound": // the latter is versitygw's, with a 404
		return &SettingsError{fmt.Sprintf("the S3 server knows no such access key (%s): correct store.s3.access_key or its secret", answer.Code)}
	case "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded", "QuotaExceeded":
		return fmt.Errorf("%w: the S3 server says %s", ErrFull, answer.Code)
	}
	switch status := answer.StatusCode; {
	case status == 0:
		return fmt.Errorf("%w: %s", ErrUnavailable, withoutAddress(err))
	case status == http.StatusInsufficientStorage:
		return fmt.Errorf("%w: the S3 server says %s", ErrFull, answer.Code)
	case status == http.StatusForbidden:
		return &SettingsError{fmt.Sprintf("the S3 server refuses the access key (%s): correct store.s3.access_key or its secret, or let it do what Files on S3 in docs/operations.md says", answer.Code)}
	case status >= 500, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status == http.StatusConflict:
		return fmt.Errorf("%w: the S3 server answered %d %s", ErrUnavailable, status, answer.Code)
	default:
		return fmt.Errorf("the S3 server answered %d %s: %.200s", status, answer.Code, answer.Message)
	}
}

// refused tells whether the server answered with one of these codes.
func refusedWith(err error, codes ...string) bool {
	code := minio.ToErrorResponse(err).Code
	for _, c := range codes {
		if c == code {
			return true
		}
	}
	return false
}

// withoutAddress keeps URLs out of logs.
func withoutAddress(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
