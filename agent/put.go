package agent

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"

	"rendermac/agentproto"
	"rendermac/failpoint"
	"rendermac/fence"
	"rendermac/fetch"
)

// errStale is a part's URL that is not obeyed any more.
var errStale = errors.New("the part's URL is not valid any more")

// piece is one part with where it goes.
type piece struct {
	agentproto.Part
	to      agentproto.PartURL
	content *io.SectionReader
}

// askedFirst is from what length on a store is asked whether it takes a part
// before it is sent: one that refuses early and closes the connection would show
// as a broken line, and its reason would be lost.
const askedFirst = 1 << 20

// put sends a part once.
func (u *upload) put(ctx context.Context, t *transfer, p piece) error {
	// A position of this try's own: the transport may still read for the last one.
	body := t.body(io.NewSectionReader(p.content, 0, p.Bytes))
	if p.Bytes == 0 {
		body = http.NoBody
	}
	header := map[string]string{}
	maps.Copy(header, p.to.Headers)
	if p.Bytes >= askedFirst && !u.unasked.Load() {
		header["Expect"] = "100-continue"
	}
	failpoint.At("agent.part.before")
	answer, err := u.r.a.do(ctx, http.MethodPut, p.to.URL, body, p.Bytes, header)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	failpoint.At("agent.part.after")
	switch {
	case answer.StatusCode/100 == 2:
		return nil
	case answer.StatusCode == http.StatusExpectationFailed && header["Expect"] != "":
		u.unasked.Store(true)
		return u.put(ctx, t, p)
	}
	return p.refused(fetch.Refusal(answer), answer.Request.URL.Host == u.r.a.base.Host)
}

// mismatches are what stores call bytes that are not those a URL is bound to.
var mismatches = []string{"digest_mismatch", "BadDigest", "InvalidDigest", "XAmzContentChecksumMismatch", "XAmzContentSHA256Mismatch"}

// refused is what to do about an answer that did not take the part, be it our
// server's, an S3 store's or a proxy's. Ours is whether the address was our server's.
func (p piece) refused(said *fetch.RefusedError, ours bool) error {
	switch {
	case said.Code == "part_held": // another try got through: the bytes are bound (F16)
		return nil
	case said.Status == http.StatusForbidden, said.Status == http.StatusNotFound, said.Code == "ExpiredToken":
		return fetch.Hopeless{Err: fmt.Errorf("%w: %w", errStale, said)}
	case said.Status == http.StatusRequestEntityTooLarge:
		return fetch.Hopeless{Err: failed(fence.UploadFailed, "%s", p.tooLarge(ours))}
	case slices.Contains(mismatches, said.Code) && !p.unchanged():
		return fetch.Hopeless{Err: failed(fence.UploadFailed, "part %d of the result has changed on this machine's disk since it was finished: check that disk", p.Number)}
	default:
		return said
	}
}

// tooLarge says what to do about a proxy: S3 takes no parts as short as we do.
func (p piece) tooLarge(ours bool) string {
	if ours {
		return fmt.Sprintf("a proxy before the server refuses bodies of %d bytes: set store.part_bytes: 1MiB on the server, or let the proxy pass more", p.Bytes)
	}
	return fmt.Sprintf("a proxy before the S3 store refuses bodies of %d bytes: let it pass them, or set store.part_bytes: 5MiB on the server", p.Bytes)
}

// unchanged is whether the file still has the bytes that were measured.
func (p piece) unchanged() bool {
	sum := sha256.New()
	_, err := io.Copy(sum, io.NewSectionReader(p.content, 0, p.Bytes))
	return err == nil && hexSum(sum) == p.SHA256
}
