package artifact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Begin implements Store.
func (d *Dir) Begin(ctx context.Context, key string, bytes, partBytes int64) error {
	want := layout{bytes, partBytes}
	if err := cmp.Or(CheckKey(key), want.check(), d.ready()); err != nil {
		return err
	}
	unlock, err := d.lock(ctx, key)
	if err != nil {
		return err
	}
	defer unlock()
	return told(d.root, d.begin(key, want), bytes)
}

func (d *Dir) begin(key string, want layout) error {
	if w := d.find(key); w != nil {
		if w.layout == want {
			return d.room(w.missing())
		}
		if w.partBytes == want.partBytes {
			return w.resize(want.bytes)
		}
		if err := d.end(w); err != nil { // no part of it has its place any more
			return err
		}
	}
	return d.create(key, want)
}

func (d *Dir) create(key string, l layout) error {
	if _, err := d.stat(key); !errors.Is(err, ErrNotFound) {
		return cmp.Or(err, ErrPublished)
	}
	if err := d.room(l.bytes); err != nil {
		return err
	}
	w := newWrite(d.root, nameOf(key))
	if err := w.remove(); err != nil { // what an Abort could not
		return err
	}
	if err := w.create(key, l); err != nil {
		return errors.Join(err, w.remove())
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writes[key] = w
	return nil
}

// room says that so many bytes have none.
func (d *Dir) room(bytes int64) error {
	left, err := free(d.root)
	if err == nil && left < bytes {
		err = &FullError{Need: bytes, Free: left}
	}
	return err
}

// SignPart implements Store.
func (d *Dir) SignPart(_ context.Context, key string, p Part, owner string, expires time.Time) (URL, error) {
	if err := d.ready(); err != nil {
		return URL{}, err
	}
	w := d.find(key)
	if w == nil {
		return URL{}, ErrNotFound
	}
	w.mu.Lock()
	grant, length := w.grant(p.Number), w.length(p.Number)
	w.mu.Unlock()
	if p.Bytes != length {
		return URL{}, fmt.Errorf("part %d of %s cannot be %d bytes long: parts are %d bytes but for the last", p.Number, key, p.Bytes, w.partBytes)
	}
	p.SHA256 = strings.ToLower(p.SHA256)
	return d.sign(http.MethodPut, key, partQuery(p, owner, grant), expires), nil
}

// Held implements Store.
func (d *Dir) Held(_ context.Context, key string) ([]Part, error) {
	if err := d.ready(); err != nil {
		return nil, err
	}
	w := d.find(key)
	if w == nil {
		return nil, ErrNotFound
	}
	return w.list(), nil
}

// Drop implements Store.
func (d *Dir) Drop(ctx context.Context, key string, numbers []int) error {
	if err := d.ready(); err != nil {
		return err
	}
	unlock, err := d.lock(ctx, key)
	if err != nil {
		return err
	}
	defer unlock()
	w := d.find(key)
	if w == nil {
		return ErrNotFound
	}
	if len(numbers) == 0 {
		return nil
	}
	return told(d.root, w.drop(numbers, w.bytes), w.bytes)
}

// Abort implements Store.
func (d *Dir) Abort(ctx context.Context, key string) error {
	if err := d.ready(); err != nil {
		return err
	}
	unlock, err := d.lock(ctx, key)
	if err != nil {
		return err
	}
	defer unlock()
	if w := d.find(key); w != nil {
		return told(d.root, d.end(w), 0)
	}
	return told(d.root, newWrite(d.root, nameOf(key)).remove(), 0) // what an earlier one could not remove
}

// end removes an open write. Where its files cannot be removed its URLs are
// dead all the same; another Abort or Begin removes them, or the next start.
func (d *Dir) end(w *write) error {
	w.freeze(everyPart)
	defer w.thaw(true)
	d.forget(w.key)
	return w.remove()
}

// Pending implements Store.
func (d *Dir) Pending(context.Context) ([]string, error) {
	if err := d.ready(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.writes)), nil
}
