package server

import (
	"context"
	"fmt"
	"slices"

	"rendermac/api"
	"rendermac/artifact"
	"rendermac/store"
)

// signParts makes URLs for parts whose digests are told with the request, each
// bound to its own (F16). What is held with another digest is dropped first.
func (u *uploads) signParts(ctx context.Context, c call, in *struct {
	ID   string `path:"id"`
	Body api.UploadParts
},
) (*body[api.UploadPartURLs], error) {
	release, err := u.alone(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	defer release()
	return onceMore(func() (*body[api.UploadPartURLs], error) { return u.bind(ctx, c, in.ID, in.Body.Parts) })
}

func (u *uploads) bind(ctx context.Context, c call, id string, asked []api.Part) (*body[api.UploadPartURLs], error) {
	up, err := u.visible(ctx, c, id)
	if err != nil {
		return nil, err
	}
	if err := u.checkParts(ctx, up, asked); err != nil {
		return nil, err
	}
	held, err := u.heldAs(ctx, up, asked)
	if err != nil {
		return nil, err
	}
	out := api.UploadPartURLs{Held: []int{}, Parts: []api.PartURL{}, ExpiresAt: u.urlsEnd()}
	for _, p := range asked {
		if _, is := held[p.Number]; is {
			out.Held = append(out.Held, p.Number)
			continue
		}
		url, err := u.signPart(ctx, c, up, artifact.Part(p), out.ExpiresAt)
		if err != nil {
			return nil, err
		}
		out.Parts = append(out.Parts, url)
	}
	return answerWith(out), nil
}

// heldAs is what is held after the parts that are known to have other digests
// have been dropped. Where the store tells none, the digest of the whole will.
func (u *uploads) heldAs(ctx context.Context, up store.Upload, asked []api.Part) (map[int]string, error) {
	held, err := u.held(ctx, up)
	if err != nil {
		return nil, err
	}
	var other []int
	for _, p := range asked {
		if digest := held[p.Number]; digest != "" && digest != p.SHA256 {
			other = append(other, p.Number)
		}
	}
	if len(other) == 0 {
		return held, nil
	}
	if err := u.o.Artifacts.Drop(ctx, up.Key, other); err != nil {
		return nil, err
	}
	return u.held(ctx, up) // a store may have dropped more
}

// checkParts lists every fault of the parts that were asked for.
func (u *uploads) checkParts(ctx context.Context, up store.Upload, asked []api.Part) error {
	announced, err := u.digests(ctx, up, 1, parts(up))
	if err != nil {
		return err
	}
	var faults []api.Fault
	for i, p := range asked {
		fault := func(field, message string) {
			faults = append(faults, api.Fault{Location: fmt.Sprintf("parts[%d].%s", i, field), Message: message})
		}
		switch {
		case p.Number > parts(up):
			fault("number", fmt.Sprintf("is beyond the upload's last part, %d", parts(up)))
			continue
		case slices.ContainsFunc(asked[:i], func(q api.Part) bool { return q.Number == p.Number }):
			fault("number", "was asked for before")
		}
		if p.Bytes != partLength(up, p.Number) {
			fault("bytes", fmt.Sprintf("must be %d, the length of this part", partLength(up, p.Number)))
		}
		if digest := announced[p.Number]; digest != "" && digest != p.SHA256 {
			fault("sha256", "was announced as another")
		}
	}
	if len(faults) > 0 {
		return invalid(faults...)
	}
	return nil
}
