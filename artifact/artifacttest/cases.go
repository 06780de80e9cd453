package artifacttest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rendermac/artifact"
)

// Three parts, the last one short, sent at once and in no order.
func writeAndRead(t *testing.T, f Fixture) {
	object := Bytes(1, 2*f.PartBytes+12345)
	f.MustBegin(t, object)
	var sending sync.WaitGroup
	for i, part := range Cut(object, f.PartBytes) {
		u := f.MustSign(t, i+1, part)
		sending.Go(func() {
			if status := f.Put(t, u, part); status != http.StatusOK {
				t.Errorf("part %d: status %d", i+1, status)
			}
		})
	}
	sending.Wait()
	f.MustComplete(t, object)

	o, _, err := f.Store.Open(t.Context(), Key)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	some := make([]byte, 1000)
	if _, err := o.ReadAt(some, f.PartBytes-500); err != nil || Sum(some) != Sum(object[f.PartBytes-500:][:1000]) {
		t.Errorf("ReadAt over the border of two parts reads other bytes (error %v)", err)
	}
	if at, err := o.Seek(-10, io.SeekEnd); err != nil || at != int64(len(object))-10 {
		t.Errorf("Seek = %d, %v", at, err)
	}
	f.download(t, object)
}

func (f Fixture) download(t *testing.T, object []byte) {
	u, err := f.Store.SignGet(t.Context(), Key, "Interview \"1\".mp4", time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	for header, want := range map[string][]byte{"": object, "bytes=100-199": object[100:200], fmt.Sprintf("bytes=%d-", len(object)-7): object[len(object)-7:]} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.absolute(u), nil)
		if err != nil {
			t.Fatal(err)
		}
		if header != "" {
			r.Header.Set("Range", header)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || Sum(got) != Sum(want) {
			t.Errorf("GET with Range %q: status %d, %d bytes, want %d; error %v", header, answer.StatusCode, len(got), len(want), err)
		}
		if named := answer.Header.Get("Content-Disposition"); !strings.Contains(named, "filename*=UTF-8''Interview%20%221%22.mp4") {
			t.Errorf("Content-Disposition %q does not carry the name", named)
		}
	}
}

func emptyObject(t *testing.T, f Fixture) {
	f.MustBegin(t, nil)
	if _, err := f.Store.Complete(t.Context(), Key); !errors.Is(err, artifact.ErrIncomplete) {
		t.Fatalf("Complete before the empty part: %v, want ErrIncomplete", err)
	}
	f.MustPut(t, 1, nil)
	f.MustHold(t, map[int][]byte{1: nil})
	f.MustComplete(t, nil)
}

func notThere(t *testing.T, f Fixture) {
	ctx := t.Context()
	_, signing := f.Store.SignPart(ctx, Key, artifact.Part{Number: 1}, Owner, time.Now().Add(time.Hour))
	_, holding := f.Store.Held(ctx, Key)
	_, completing := f.Store.Complete(ctx, Key)
	_, _, opening := f.Store.Open(ctx, Key)
	for verb, err := range map[string]error{
		"SignPart": signing, "Held": holding, "Complete": completing, "Open": opening,
		"Drop": f.Store.Drop(ctx, Key, []int{1}),
	} {
		if !errors.Is(err, artifact.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", verb, err)
		}
	}
	for verb, err := range map[string]error{"Abort": f.Store.Abort(ctx, Key), "Delete": f.Store.Delete(ctx, Key), "Check": f.Store.Check(ctx)} {
		if err != nil {
			t.Errorf("%s: %v", verb, err)
		}
	}
}

func incomplete(t *testing.T, f Fixture) {
	object := Bytes(2, 2*f.PartBytes)
	parts := Cut(object, f.PartBytes)
	f.MustBegin(t, object)
	f.MustPut(t, 2, parts[1])
	if _, err := f.Store.Complete(t.Context(), Key); !errors.Is(err, artifact.ErrIncomplete) {
		t.Fatalf("Complete = %v, want ErrIncomplete", err)
	}
	f.MustHold(t, map[int][]byte{2: parts[1]})
	f.MustPut(t, 1, parts[0])
	f.MustComplete(t, object)
}

func completeTwice(t *testing.T, f Fixture) {
	object := Bytes(3, f.PartBytes)
	f.MustBegin(t, object)
	f.MustPut(t, 1, object)
	f.MustComplete(t, object)
	f.MustComplete(t, object)
	f.Restart().MustComplete(t, object)
}

func publishedIsNotWrittenAgain(t *testing.T, f Fixture) {
	object := Bytes(4, f.PartBytes)
	f.MustBegin(t, object)
	f.MustPut(t, 1, object)
	f.MustComplete(t, object)
	if err := f.Store.Begin(t.Context(), Key, 10, f.PartBytes); !errors.Is(err, artifact.ErrPublished) {
		t.Errorf("Begin = %v, want ErrPublished", err)
	}
	if err := f.Store.Abort(t.Context(), Key); err != nil {
		t.Errorf("Abort: %v", err)
	}
	f.MustRead(t, object)
}

func deleteTwice(t *testing.T, f Fixture) {
	first, second := Bytes(5, f.PartBytes), Bytes(6, f.PartBytes)
	for _, object := range [][]byte{first, second} {
		f.MustBegin(t, object)
		f.MustPut(t, 1, object)
		f.MustComplete(t, object)
		for range 2 {
			if err := f.Store.Delete(t.Context(), Key); err != nil {
				t.Fatalf("Delete: %v", err)
			}
		}
		if _, _, err := f.Store.Open(t.Context(), Key); !errors.Is(err, artifact.ErrNotFound) {
			t.Fatalf("Open = %v, want ErrNotFound", err)
		}
	}
}

func pending(t *testing.T, f Fixture) {
	other := "uploads/upl_1/a file with spaces & ünïcode?.mov"
	f.MustBegin(t, Bytes(7, f.PartBytes))
	if err := f.Store.Begin(t.Context(), other, f.PartBytes, f.PartBytes); err != nil {
		t.Fatal(err)
	}
	f = f.Restart()
	if keys, err := f.Store.Pending(t.Context()); err != nil || !slices.Equal(keys, []string{Key, other}) {
		t.Errorf("Pending = %q, %v", keys, err)
	}
	for _, key := range []string{Key, other} {
		if err := f.Store.Abort(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	if keys, err := f.Restart().Store.Pending(t.Context()); err != nil || len(keys) > 0 {
		t.Errorf("Pending after Abort = %q, %v", keys, err)
	}
}

// An agent that asks again with a longer result goes on from what it has sent.
func sizeChanges(t *testing.T, f Fixture) {
	long := Bytes(8, 3*f.PartBytes+5)
	parts := Cut(long, f.PartBytes)
	f.MustBegin(t, long[:2*f.PartBytes+5])
	f.MustPut(t, 1, parts[0])
	f.MustPut(t, 3, long[2*f.PartBytes:2*f.PartBytes+5])
	f.MustBegin(t, long)
	f = f.Restart()
	f.finish(t, long)

	if err := f.Store.Delete(t.Context(), Key); err != nil {
		t.Fatal(err)
	}
	f.MustBegin(t, long)
	f.MustPut(t, 1, parts[0])
	f.MustPut(t, 4, parts[3])
	short := long[:f.PartBytes+7]
	f.MustBegin(t, short)
	f.finish(t, short)
}

// finish sends what is missing and publishes.
func (f Fixture) finish(t *testing.T, object []byte) {
	t.Helper()
	held, err := f.Store.Held(t.Context(), Key)
	if err != nil {
		t.Fatal(err)
	}
	for i, part := range Cut(object, f.PartBytes) {
		if !slices.Contains(held, artifact.Part{Number: i + 1, Bytes: int64(len(part)), SHA256: Sum(part)}) {
			f.MustPut(t, i+1, part)
		}
	}
	f.MustComplete(t, object)
}

func restartKeepsHeldParts(t *testing.T, f Fixture) {
	object := Bytes(9, 3*f.PartBytes)
	parts := Cut(object, f.PartBytes)
	f.MustBegin(t, object)
	later := f.MustSign(t, 2, parts[1])
	f.MustPut(t, 1, parts[0])
	f.MustPut(t, 3, parts[2])
	f = f.Restart()
	f.MustBegin(t, object)
	f.MustHold(t, map[int][]byte{1: parts[0], 3: parts[2]})
	if status := f.Put(t, later, parts[1]); status != http.StatusOK {
		t.Errorf("a URL from before the restart answers %d, want 200", status)
	}
	f.Restart().MustComplete(t, object)
}
