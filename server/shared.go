package server

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"rendermac/api"
	"rendermac/fence"
	"rendermac/roots"
	"rendermac/store"
)

// SharedRoot is a folder that the agents mount too.
type SharedRoot struct {
	Path     string
	Accounts []string // names or ids of those that may use it
}

// sharedRoot is one of them, as the server works with it.
type sharedRoot struct {
	SharedRoot
	calls chan struct{} // holds one token for each that may be hanging
}

// A network volume that has gone lets calls hang in the kernel, where nothing
// ends them: of each root so many may, and a request waits so long.
const (
	maxHanging = 4
	lookTime   = 10 * time.Second
)

func newSharedRoots(options map[string]SharedRoot) map[string]*sharedRoot {
	all := map[string]*sharedRoot{}
	for name, o := range options {
		all[name] = &sharedRoot{o, make(chan struct{}, maxHanging)}
	}
	return all
}

var errHangs = errors.Join(roots.ErrUnavailable, errors.New("its volume does not answer"))

// call does what may hang, and leaves it to itself once ctx has ended.
func (r *sharedRoot) call(ctx context.Context, do func() error) error {
	select {
	case r.calls <- struct{}{}:
	case <-ctx.Done():
		return errHangs
	}
	done := make(chan error, 1)
	go func() {
		defer func() { <-r.calls }()
		done <- do()
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return errHangs
	}
}

// rootFor is the root of this name if the account may use it, else nil: to the
// others it does not exist.
func (s *Server) rootFor(ctx context.Context, account, name string) (*sharedRoot, error) {
	root := s.roots[name]
	if root == nil || slices.Contains(root.Accounts, account) {
		return root, nil
	}
	called, err := s.o.DB.AccountName(ctx, account)
	if err != nil || !slices.Contains(root.Accounts, called) {
		return nil, err
	}
	return root, nil
}

// sharedInput looks for a file under a shared root. That the root cannot be used
// just now is nobody's fault: the same request may work later.
func (s *Server) sharedInput(ctx context.Context, account, path string) (*fence.Fault, error) {
	wrong := func(message string) *fence.Fault { return &fence.Fault{Location: "path", Message: message} }
	name, file, bad := roots.Split(path)
	if bad != "" {
		return wrong(bad), nil
	}
	root, err := s.rootFor(ctx, account, name)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return wrong("names no shared root that this account may use"), nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	err = root.call(ctx, func() error {
		f, err := roots.Open(root.Path, file)
		if err == nil {
			err = f.Close()
		}
		return err
	})
	var fault *roots.Fault
	switch {
	case errors.As(err, &fault):
		return wrong(fault.Message), nil
	case err != nil:
		s.o.Log.Warn("shared root not usable", "root", name, "err", err)
		return nil, refuse(http.StatusServiceUnavailable, api.CodeStoreUnavailable,
			"The shared root "+name+" cannot be used on the server just now: see that its volume is mounted there, and try again.").with("Retry-After", "10")
	}
	return nil, nil
}

// rootNeeds are the features of devices that mount what the inputs are under.
func rootNeeds(paths ...string) (features []string) {
	for _, path := range paths {
		if path != "" {
			root, _, _ := roots.Split(path)
			features = append(features, "root:"+root)
		}
	}
	return features
}

// firstPath is the first input by path, or empty.
func firstPath(inputs []store.NewInput) string {
	for _, in := range inputs {
		if in.Path != "" {
			return in.Path
		}
	}
	return ""
}
