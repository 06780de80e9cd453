package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"rendermac/api"
	"rendermac/artifact"
	"rendermac/store"
)

// complete closes an upload. Hashing may outlast the client's patience: it goes
// on without it, and the client that asks again finds it done.
func (u *uploads) complete(ctx context.Context, c call, in *struct {
	ID   string `path:"id"`
	Body *api.UploadComplete
},
) (*body[api.UploadDone], error) {
	claimed := ""
	if in.Body != nil && in.Body.SHA256 != nil {
		claimed = *in.Body.SHA256
	}
	release, err := u.alone(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	defer release()
	ctx = context.WithoutCancel(ctx)
	up, err := u.visible(ctx, c, in.ID)
	if err == nil && !up.Complete {
		up, err = u.finish(ctx, up, claimed)
	}
	if err == nil && claimed != "" && claimed != up.SHA256 {
		err = refuse(http.StatusUnprocessableEntity, api.CodeDigestMismatch, "The upload was completed before, with another SHA-256.")
	}
	if err != nil {
		return nil, err
	}
	return answerWith(api.UploadDone{ID: up.ID, Name: up.Name, Bytes: up.Bytes, SHA256: up.SHA256, Media: showMedia(up.Media)}), nil
}

// alone lets what may drop bytes of one upload follow one another: a completion
// that finds other bytes than were announced, and a request for other parts.
func (u *uploads) alone(ctx context.Context, id string) (release func(), err error) {
	mine := make(chan struct{})
	for {
		other, busy := u.busy.LoadOrStore(id, mine)
		if !busy {
			return func() { u.busy.Delete(id); close(mine) }, nil
		}
		select {
		case <-other.(chan struct{}):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// finish publishes what was uploaded, compares the digest with what was
// announced, at first or now, and looks at what it is. Bytes that are not the
// announced ones are dropped, and the upload stays open for the right ones.
func (u *uploads) finish(ctx context.Context, up store.Upload, claimed string) (store.Upload, error) {
	info, err := u.o.Artifacts.Complete(ctx, up.Key)
	if errors.Is(err, artifact.ErrNotFound) {
		err = artifact.ErrIncomplete
	}
	if err != nil {
		return up, err
	}
	if up.SHA256 != "" && up.SHA256 != info.SHA256 || claimed != "" && claimed != info.SHA256 {
		if err := u.o.Artifacts.Delete(ctx, up.Key); err != nil {
			return up, err
		}
		return up, refuse(http.StatusUnprocessableEntity, api.CodeDigestMismatch,
			"The bytes do not have the SHA-256 that was announced and were dropped; send every part again, with the URLs that GET /v1/uploads/"+up.ID+" gives.")
	}
	media, err := u.uploadProbe(ctx, up.Key)
	if errors.Is(err, artifact.ErrNotFound) { // retention found it too old to be completed
		return up, notFound("upload")
	}
	if err != nil {
		return up, err
	}
	return u.o.DB.CompleteUpload(ctx, up.ID, info.SHA256, media)
}

// uploadProbe says what an upload is, as far as its kind is read here.
func (s *Server) uploadProbe(ctx context.Context, key string) (json.RawMessage, error) {
	object, info, err := s.o.Artifacts.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	defer object.Close()
	return mediaOf(object, info.Bytes)
}
