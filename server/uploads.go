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
	completing sync.Map // upload id → chan that is closed when its completion has ended
}

func (u *uploads) create(ctx context.Context, c call, in *struct{ Body api.UploadRequest }) (*body[api.UploadCreated], error) {
	n, err := u.check(c.key.AccountID, in.Body)
	if err != nil {
		return nil, err
	}
	up, err := u.o.DB.CreateUpload(ctx, n)
	if err != nil {
		return nil, err
	}
	if err := u.o.Artifacts.Begin(ctx, up.Key, up.Bytes, up.PartBytes); err != nil {
		return nil, errors.Join(err, u.o.DB.DropUpload(ctx, up.ID))
	}
	p, err := u.sign(ctx, c, up, nil, 1)
	if err != nil {
		return nil, err
	}
	return answerWith(api.UploadCreated{ID: up.ID, PartBytes: up.PartBytes, Parts: p.urls, NextPart: p.next, ExpiresAt: p.expires}), nil
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
