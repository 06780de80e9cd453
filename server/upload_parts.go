package server

import (
	"context"
	"errors"
	"time"

	"rendermac/api"
	"rendermac/artifact"
	"rendermac/store"
)

const (
	uploadURLs   = 24 * time.Hour // how long they last
	partsPerPage = 256
)

func (u *uploads) get(ctx context.Context, c call, in *struct {
	ID       string `path:"id"`
	FromPart int    `query:"from_part" minimum:"1" default:"1"`
},
) (*body[api.Upload], error) {
	return onceMore(func() (*body[api.Upload], error) { return u.look(ctx, c, in.ID, in.FromPart) })
}

// onceMore looks once more where a write has ended while it was looked at: then it
// has been published, or retention has removed it and its row is gone.
func onceMore[T any](look func() (T, error)) (T, error) {
	out, err := look()
	if errors.Is(err, artifact.ErrNotFound) {
		out, err = look()
	}
	return out, err
}

func (u *uploads) look(ctx context.Context, c call, id string, from int) (*body[api.Upload], error) {
	up, err := u.visible(ctx, c, id)
	if err != nil {
		return nil, err
	}
	held, err := u.held(ctx, up)
	if err != nil {
		return nil, err
	}
	p, err := u.sign(ctx, c, up, held, from)
	if err != nil {
		return nil, err
	}
	out := api.Upload{ID: up.ID, Bytes: up.Bytes, PartBytes: up.PartBytes, Held: []int{}, Parts: p.urls, NextPart: p.next, ExpiresAt: p.expires}
	for n := 1; n <= parts(up); n++ {
		if _, is := held[n]; is {
			out.Held = append(out.Held, n)
		}
	}
	return answerWith(out), nil
}

func parts(up store.Upload) int { return int(max(1, (up.Bytes+up.PartBytes-1)/up.PartBytes)) }

func partLength(up store.Upload, n int) int64 {
	return min(up.PartBytes, up.Bytes-int64(n-1)*up.PartBytes)
}

// held says which parts are there, and with which digests where the store tells
// those. It opens the write anew where its bytes were
// refused and dropped; where it has been published, all of them are there.
func (u *uploads) held(ctx context.Context, up store.Upload) (map[int]string, error) {
	held := map[int]string{}
	err := error(artifact.ErrPublished)
	if !up.Complete {
		err = u.o.Artifacts.Begin(ctx, up.Key, up.Bytes, up.PartBytes)
	}
	if errors.Is(err, artifact.ErrPublished) {
		for n := range parts(up) {
			held[n+1] = ""
		}
		return held, nil
	}
	if err != nil {
		return nil, err
	}
	list, err := u.o.Artifacts.Held(ctx, up.Key)
	for _, p := range list {
		held[p.Number] = p.SHA256
	}
	return held, err
}

// signed is one page of part URLs.
type signed struct {
	urls    []api.PartURL
	next    *int
	expires time.Time
}

// sign makes URLs for the parts from a number on that are not held. Each is
// bound to its digest where that was announced, else to its length (F16); there
// is none where the store has begun to bind all of them to digests.
func (u *uploads) sign(ctx context.Context, c call, up store.Upload, held map[int]string, from int) (signed, error) {
	out := signed{urls: []api.PartURL{}, expires: u.urlsEnd()}
	digests, err := u.digests(ctx, up, 1, parts(up))
	if err != nil {
		return out, err
	}
	for n := from; n <= parts(up); n++ {
		if _, is := held[n]; is {
			continue
		}
		if len(out.urls) == partsPerPage {
			out.next = &n
			break
		}
		url, err := u.signPart(ctx, c, up, artifact.Part{Number: n, Bytes: partLength(up, n), SHA256: digests[n]}, out.expires)
		if errors.Is(err, artifact.ErrBound) {
			break
		}
		if err != nil {
			return out, err
		}
		out.urls = append(out.urls, url)
	}
	return out, nil
}

func (u *uploads) urlsEnd() time.Time { return u.o.Now().UTC().Truncate(time.Second).Add(uploadURLs) }

func (u *uploads) signPart(ctx context.Context, c call, up store.Upload, p artifact.Part, expires time.Time) (api.PartURL, error) {
	url, err := u.o.Artifacts.SignPart(ctx, up.Key, p, up.ID, expires)
	return api.PartURL{Number: p.Number, URL: absolute(u.base(c.echo), url.URL), Headers: headers(url)}, err
}

// digests are those that were announced with the upload.
func (u *uploads) digests(ctx context.Context, up store.Upload, from, limit int) (map[int]string, error) {
	list, err := u.o.DB.Parts(ctx, up.ID, from, limit)
	out := make(map[int]string, len(list))
	for _, p := range list {
		out[p.Number] = p.SHA256
	}
	return out, err
}
