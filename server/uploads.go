package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"rendermac/api"
	"rendermac/artifact"
	"rendermac/fence"
	"rendermac/store"
)

// uploads are files on their way from a buyer.
type uploads struct {
	*Server
	busy sync.Map // upload id → chan that is closed when what must be alone with it has ended
}

func (u *uploads) create(ctx context.Context, c call, in *struct{ Body api.UploadRequest }) (*made[api.UploadCreated], error) {
	return onceMore(func() (*made[api.UploadCreated], error) { return u.make(ctx, c, in.Body) })
}

func (u *uploads) make(ctx context.Context, c call, r api.UploadRequest) (*made[api.UploadCreated], error) {
	up, replayed, err := u.open(ctx, c, r)
	if err != nil {
		return nil, err
	}
	held, err := u.held(ctx, up) // begins what an earlier request has not, if it was cut off
	if err != nil && !replayed {
		return nil, errors.Join(err, u.o.DB.DropUpload(ctx, c.once, up.ID))
	}
	if err != nil {
		return nil, err
	}
	from := 1
	if r.Parts != nil && len(r.Parts) == 0 { // their digests come later, and URLs with them
		from += parts(up)
	}
	p, err := u.sign(ctx, c, up, held, from)
	if err != nil {
		return nil, err
	}
	return madeOf(store.Made{Replayed: replayed}, api.UploadCreated{ID: up.ID, PartBytes: up.PartBytes, Parts: p.urls, NextPart: p.next, ExpiresAt: p.expires}), nil
}

// open makes an upload, or finds the one that its key has made before.
func (u *uploads) open(ctx context.Context, c call, r api.UploadRequest) (up store.Upload, replayed bool, err error) {
	if c.made.Replayed {
		up, err = u.o.DB.MadeUpload(ctx, c.made)
		return up, true, err
	}
	n, err := u.check(c.key.AccountID, r)
	if err != nil {
		return up, false, err
	}
	return u.o.DB.CreateUploadOnce(ctx, c.once, n)
}

// check lists every fault of an announced file.
func (u *uploads) check(account string, r api.UploadRequest) (store.NewUpload, error) {
	n := store.NewUpload{AccountID: account, Name: r.Name, Bytes: r.Bytes, PartBytes: artifact.PartBytes(r.Bytes, u.o.PartBytes)}
	if r.SHA256 != nil {
		n.SHA256 = *r.SHA256
	}
	var faults []api.Fault
	if fault := nameFault(r.Name); fault != "" {
		faults = append(faults, api.Fault{Location: "name", Message: fault})
	}
	if r.Bytes > u.o.MaxUploadBytes {
		faults = append(faults, api.Fault{Location: "bytes", Message: fmt.Sprintf("is more than this server takes: at most %d", u.o.MaxUploadBytes)})
	} else if fault := partsFault(&n, r.Parts); fault != "" {
		faults = append(faults, api.Fault{Location: "parts", Message: fault})
	}
	if len(faults) > 0 {
		return n, invalid(faults...)
	}
	return n, nil
}

// partsFault takes over the parts whose digests are known beforehand.
func partsFault(n *store.NewUpload, parts []api.Part) string {
	if len(parts) == 0 {
		return ""
	}
	for _, p := range parts {
		n.Parts = append(n.Parts, store.Part(p))
	}
	var f *fence.Error
	if errors.As(fence.CheckParts(n.Bytes, n.PartBytes, n.Parts), &f) {
		return f.Message
	}
	return ""
}

// nameFault says why a name is no single path element, or nothing.
func nameFault(name string) string {
	switch {
	case name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00"):
		return "must be one path element"
	case len(name) > 255:
		return "is longer than 255 bytes"
	case !utf8.ValidString(name):
		return "is no valid UTF-8"
	}
	return ""
}

// visible loads an upload that the caller may know of.
func (u *uploads) visible(ctx context.Context, c call, id string) (store.Upload, error) {
	up, err := u.o.DB.UploadByID(ctx, id)
	if err == nil && !c.sees(up.AccountID) {
		err = notFound("upload")
	}
	return up, err
}
