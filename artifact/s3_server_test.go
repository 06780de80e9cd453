package artifact_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/minio/minio-go/v7"
	"golang.org/x/sync/errgroup"

	"rendermac/artifact"
	"rendermac/artifact/artifacttest"
)

func TestS3_ProbeKnowsWhatAServerChecks(t *testing.T) {
	server := artifacttest.StartS3(t)
	good := server.Options(t)
	careless := good
	careless.Endpoint = artifacttest.StartCareless(t, server)
	for _, c := range []struct {
		o        artifact.S3Options
		want     artifact.S3Facts
		warnings int
	}{{good, artifact.S3Facts{Digest: true, Length: true, Listed: true}, 0}, {careless, artifact.S3Facts{}, 3}} {
		facts, err := mustOpenS3(t, c.o).Probe(t.Context())
		if err != nil || facts != c.want || len(facts.Warnings()) != c.warnings {
			t.Errorf("Probe = %+v, %v; want %+v", facts, err, c.want)
		}
		mustHoldOnly(t, server, c.o, 0)
	}
}

// F16: where nothing is checked, what is published is still whole, named by
// ETags, and hashed by the store itself.
func TestS3_F16_CarelessServer(t *testing.T) {
	server := artifacttest.StartS3(t)
	o := server.Options(t)
	o.Endpoint = artifacttest.StartCareless(t, server)
	f := bucket(t, o)
	object := artifacttest.Bytes(50, 1000)
	f.MustBegin(t, object)
	u := f.MustSign(t, 1, object)
	f.Put(t, u, artifacttest.Bytes(51, 1001))
	if _, err := f.Store.Complete(t.Context(), artifacttest.Key); !errors.Is(err, artifact.ErrIncomplete) {
		t.Fatalf("Complete of a part that is too long: %v, want ErrIncomplete", err)
	}
	other := artifacttest.Bytes(52, 1000)
	f.Put(t, u, other)
	f = f.Restart()
	if held, err := f.Store.Held(t.Context(), artifacttest.Key); err != nil || len(held) != 1 || held[0] != (artifact.Part{Number: 1, Bytes: 1000}) {
		t.Errorf("held: %v, %v; want the part without a digest", held, err)
	}
	f.MustComplete(t, other) // which is not what its sender said: the server finds that out
}

// A server without If-None-Match at Complete.
func TestS3_ServerWithoutConditions(t *testing.T) {
	o, proxy := behind(t, artifacttest.StartS3(t))
	f := bucket(t, o)
	proxy.Meet(func(_ int, r *http.Request) artifacttest.Fate {
		if r.Header.Get("If-None-Match") != "" {
			return artifacttest.Unknown
		}
		return artifacttest.Passes
	})
	for i := range 2 {
		object := artifacttest.Bytes(uint64(53+i), 1000)
		f.MustBegin(t, object)
		f.MustPut(t, 1, object)
		f.MustComplete(t, object)
		if err := f.Store.Delete(t.Context(), artifacttest.Key); err != nil {
			t.Fatal(err)
		}
	}
	asked := 0
	for _, r := range proxy.Seen() {
		if r.Header.Get("If-None-Match") != "" {
			asked++
		}
	}
	if asked == 0 || asked > 3 {
		t.Errorf("If-None-Match was sent %d times, want it to be given up after the first answer", asked)
	}
}

// A multipart that the bucket's rules have thrown away: nothing is held, and the
// upload begins anew.
func TestS3_MultipartThatExpired(t *testing.T) {
	server := artifacttest.StartS3(t)
	o := server.Options(t)
	object := artifacttest.Bytes(55, 1000)
	for name, next := range map[string]func(f artifacttest.Fixture) artifacttest.Fixture{
		"in this process": func(f artifacttest.Fixture) artifacttest.Fixture { return f },
		"in the next":     func(f artifacttest.Fixture) artifacttest.Fixture { return f.Restart() },
	} {
		f := bucket(t, o)
		f.MustBegin(t, object)
		stale := f.MustSign(t, 1, object)
		f.MustPut(t, 1, object)
		if err := server.Client(t).RemoveIncompleteUpload(t.Context(), o.Bucket, "studio/objects/"+artifacttest.Key); err != nil {
			t.Fatal(err)
		}
		f = next(f)
		if _, err := f.Store.Complete(t.Context(), artifacttest.Key); !errors.Is(err, artifact.ErrIncomplete) {
			t.Errorf("%s: Complete = %v, want ErrIncomplete", name, err)
		}
		if status := f.Put(t, stale, object); status != http.StatusNotFound {
			t.Errorf("%s: the stale URL answers %d", name, status)
		}
		f.MustBegin(t, object)
		f.MustHold(t, nil)
		f.MustPut(t, 1, object)
		f.MustComplete(t, object)
		if err := f.Store.Delete(t.Context(), artifacttest.Key); err != nil {
			t.Fatal(err)
		}
	}
}

// The server is killed with a part half sent; it starts again, and the part is
// sent again through the same URL.
func TestS3_ServerKilledInTheMiddleOfAPart(t *testing.T) {
	server := artifacttest.StartS3(t)
	f := bucket(t, server.Options(t))
	object := artifacttest.Bytes(56, 2*artifact.MinS3Part)
	parts := artifacttest.Cut(object, artifact.MinS3Part)
	f.MustBegin(t, object)
	f.MustPut(t, 1, parts[0])
	u := f.MustSign(t, 2, parts[1])
	half := &killing{Reader: bytes.NewReader(parts[1]), after: 1 << 20, kill: server.Kill}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, u.URL, half)
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = int64(len(parts[1]))
	for name, value := range u.Headers {
		r.Header.Set(name, value)
	}
	if answer, err := http.DefaultClient.Do(r); err == nil {
		answer.Body.Close()
		t.Fatalf("status %d from a server that was killed", answer.StatusCode)
	}
	server.Start(t)
	f.MustHold(t, map[int][]byte{1: parts[0]})
	if status := f.Put(t, u, parts[1]); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	f.MustComplete(t, object)
}

// killing is a body in the middle of which something is killed.
type killing struct {
	io.Reader
	after int
	kill  func()
	once  sync.Once
}

func (k *killing) Read(p []byte) (int, error) {
	if k.after <= 0 {
		k.once.Do(k.kill)
	}
	n, err := k.Reader.Read(p[:min(len(p), 64<<10)])
	k.after -= n
	return n, err
}

// More parts than a page of the server's list has.
func TestS3_HeldOverManyPages(t *testing.T) {
	f := bucket(t, artifacttest.StartS3(t).Options(t))
	const n = 1003
	if err := f.Store.Begin(t.Context(), artifacttest.Key, n, 1); err != nil {
		t.Fatal(err)
	}
	var sending errgroup.Group
	sending.SetLimit(8)
	for i := range n {
		part := []byte{byte(i)}
		u := f.MustSign(t, i+1, part)
		sending.Go(func() error {
			if status := f.Put(t, u, part); status != http.StatusOK {
				return errors.New(strconv.Itoa(status))
			}
			return nil
		})
	}
	if err := sending.Wait(); err != nil {
		t.Fatal(err)
	}
	held, err := f.Restart().Store.Held(t.Context(), artifacttest.Key)
	if err != nil || len(held) != n || held[n-1].Number != n || held[n-1].SHA256 != artifacttest.Sum([]byte{byte((n - 1) % 256)}) {
		t.Errorf("%d parts are held, %v", len(held), err)
	}
}

// A connection that breaks while the object is hashed is taken up where it broke.
func TestS3_HashGoesOnWhereTheConnectionBroke(t *testing.T) {
	o, proxy := behind(t, artifacttest.StartS3(t))
	f := bucket(t, o)
	object := artifacttest.Bytes(57, 3<<20)
	f.MustBegin(t, object)
	f.MustPut(t, 1, object)
	var ranges []string
	proxy.Meet(func(_ int, r *http.Request) artifacttest.Fate {
		if r.Method != http.MethodGet || r.Header.Get("Range") == "" {
			return artifacttest.Passes
		}
		ranges = append(ranges, r.Header.Get("Range"))
		return map[int]artifacttest.Fate{1: artifacttest.Broken, 2: artifacttest.Overtaxed, 3: artifacttest.Broken}[len(ranges)]
	})
	info, err := f.Store.Complete(t.Context(), artifacttest.Key)
	if err != nil || info.SHA256 != artifacttest.Sum(object) {
		t.Fatalf("Complete = %+v, %v", info, err)
	}
	if len(ranges) != 4 || ranges[0] != "bytes=0-3145727" || ranges[1] == ranges[0] || ranges[3] == ranges[1] {
		t.Errorf("asked for %q", ranges)
	}
}

// A reader of small things costs few requests.
func TestS3_ReadAheadSavesRequests(t *testing.T) {
	o, proxy := behind(t, artifacttest.StartS3(t))
	f := bucket(t, o)
	object := artifacttest.Bytes(58, 3<<20)
	f.MustBegin(t, object)
	f.MustPut(t, 1, object)
	f.MustComplete(t, object)
	proxy.Meet(nil)
	read, _, err := f.Store.Open(t.Context(), artifacttest.Key)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	small := make([]byte, 8)
	for at := int64(0); at < 1<<20; at += 4096 {
		for _, at := range []int64{at, int64(len(object)) - 8 - at%4096} { // the head, and a table at the end
			if _, err := read.ReadAt(small, at); err != nil || !bytes.Equal(small, object[at:][:8]) {
				t.Fatalf("at %d: %v", at, err)
			}
		}
	}
	if _, err := read.ReadAt(small, int64(len(object))-4); !errors.Is(err, io.EOF) {
		t.Errorf("a read over the end: %v, want EOF", err)
	}
	if n := len(proxy.Seen()); n > 6 {
		t.Errorf("%d requests for 512 small reads", n)
	}
}

// What is read is one object, though another should take its place meanwhile.
func TestS3_ReadIsPinned(t *testing.T) {
	server := artifacttest.StartS3(t)
	o := server.Options(t)
	f := bucket(t, o)
	f.MustBegin(t, []byte("first"))
	f.MustPut(t, 1, []byte("first"))
	f.MustComplete(t, []byte("first"))
	read, _, err := f.Store.Open(t.Context(), artifacttest.Key)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	name := "studio/objects/" + artifacttest.Key
	if _, err := server.Client(t).PutObject(t.Context(), o.Bucket, name, strings.NewReader("other"), 5, minio.PutObjectOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(read); err == nil || !strings.Contains(err.Error(), "was replaced while it was read") {
		t.Errorf("read %q, %v", got, err)
	}
	if _, info, err := f.Store.Open(t.Context(), artifacttest.Key); err != nil || info.SHA256 != "" {
		t.Errorf("the digest of another object is taken for its own: %+v, %v", info, err)
	}
}

// An overtaxed server is away, not wrong; and no error carries what is secret.
func TestS3_ErrorsSayWhatToDoAndNoSecret(t *testing.T) {
	server := artifacttest.StartS3(t)
	o, proxy := behind(t, server)
	taxed, missing, wrong, nobody, stranger := o, o, o, o, o
	stranger.AccessKey, stranger.Endpoint = "no-such-user", server.Endpoint
	missing.Bucket, wrong.SecretKey, wrong.Endpoint, missing.Endpoint = "none-such", "another-secret", server.Endpoint, server.Endpoint
	nobody.Endpoint = "http://127.0.0.1:1"
	proxy.Meet(func(int, *http.Request) artifacttest.Fate { return artifacttest.Overtaxed })
	for says, o := range map[string]artifact.S3Options{
		"503 SlowDown":                     taxed,
		"has no bucket none-such: make it": missing,
		"refuses the access key":           wrong,
		"knows no such access key":         stranger,
		"cannot be reached just now: dial": nobody,
	} {
		s := mustOpenS3(t, o)
		_, _, opened := s.Open(t.Context(), artifacttest.Key)
		for verb, err := range map[string]error{"Check": s.Check(t.Context()), "Find": s.Find(t.Context()), "Begin": s.Begin(t.Context(), "a", 1, 1)} {
			if !errors.Is(err, artifact.ErrUnavailable) || !strings.Contains(err.Error(), says) {
				t.Errorf("%s says %v, want …%s", verb, err, says)
			}
			if strings.Contains(err.Error(), o.SecretKey) || strings.Contains(err.Error(), "X-Amz") || strings.Contains(err.Error(), "http://") {
				t.Errorf("%s tells too much: %v", verb, err)
			}
		}
		if errors.Is(opened, artifact.ErrNotFound) || opened == nil {
			t.Errorf("Open: %v", opened)
		}
	}
}

// F8: an empty bucket does not take the place of the one that has the files.
func TestS3_F8_FindsItsOwnStoreOnly(t *testing.T) {
	server := artifacttest.StartS3(t)
	o := server.Options(t)
	o.Used = true
	used := mustOpenS3(t, o)
	if err := used.Find(t.Context()); err == nil || !strings.Contains(err.Error(), `there is no store in the bucket `+o.Bucket+` under "studio/"`) {
		t.Errorf("Find in an empty bucket: %v", err)
	}
	for verb, err := range map[string]error{
		"Begin": used.Begin(t.Context(), artifacttest.Key, 1, artifact.MinS3Part), "Abort": used.Abort(t.Context(), artifacttest.Key),
		"Complete": errorOf(used.Complete(t.Context(), artifacttest.Key)), "Held": errorOf(used.Held(t.Context(), artifacttest.Key)),
		"Pending": errorOf(used.Pending(t.Context())), "Check": used.Check(t.Context()), "Delete": used.Delete(t.Context(), artifacttest.Key),
	} {
		if !errors.Is(err, artifact.ErrUnavailable) {
			t.Errorf("%s in a bucket that is not the store: %v, want ErrUnavailable", verb, err)
		}
	}
	fresh := o
	fresh.Used = false
	if err := mustOpenS3(t, fresh).Check(t.Context()); err != nil {
		t.Errorf("Check of a new store: %v", err)
	}
	if err := used.Check(t.Context()); err != nil {
		t.Errorf("Check of a store that is there by now: %v", err)
	}
	o.Prefix = "other"
	if err := mustOpenS3(t, o).Find(t.Context()); err == nil {
		t.Error("another prefix was taken for the store")
	}
}

// F8: of two servers that are given one prefix, one is told.
func TestS3_F8_RefusesAnothersStore(t *testing.T) {
	server := artifacttest.StartS3(t)
	refused := func(when string, o artifact.S3Options) {
		t.Helper()
		err := mustOpenS3(t, o).Begin(t.Context(), artifacttest.Key, 1, artifact.MinS3Part)
		if wrong := new(artifact.SettingsError); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "another server's store") {
			t.Errorf("%s: %v", when, err)
		}
	}
	mine := server.Options(t)
	other, marker := mine, "studio/store"
	other.ID = "another"
	put := func(text string) {
		t.Helper()
		_, err := server.Client(t).PutObject(t.Context(), mine.Bucket, marker, strings.NewReader(text), int64(len(text)), minio.PutObjectOptions{})
		mustDo(t, err)
	}
	mustDo(t, mustOpenS3(t, mine).Find(t.Context()))
	refused("a new server", other)
	other.Used = true
	refused("a server that has kept files", other)
	put("{}")
	mine.Used, other.Used = true, false
	refused("a new server, and a marker without an id", other)
	mustDo(t, mustOpenS3(t, mine).Find(t.Context())) // as that of an earlier build
	other.Used = true
	refused("the marker has an id by now", other)

	mine = server.Options(t)
	other = mine
	other.ID = "another"
	var both errgroup.Group
	results := make([]error, 2)
	for i, o := range []artifact.S3Options{mine, other} {
		s := mustOpenS3(t, o)
		both.Go(func() error { results[i] = s.Find(t.Context()); return nil })
	}
	mustDo(t, both.Wait())
	if (results[0] == nil) == (results[1] == nil) {
		t.Errorf("two servers that begin at once are told %v and %v", results[0], results[1])
	}
}

// Who looks without a database makes no store.
func TestS3_WithoutAnIDNoStoreIsMade(t *testing.T) {
	server := artifacttest.StartS3(t)
	o := server.Options(t)
	looks := o
	looks.ID = ""
	mustDo(t, mustOpenS3(t, looks).Check(t.Context()))
	mustDo(t, mustOpenS3(t, o).Check(t.Context()))
	if err := mustOpenS3(t, looks).Check(t.Context()); err == nil || !strings.Contains(err.Error(), "remove the object studio/store") {
		t.Errorf("a store that is there: %v", err)
	}
}

func errorOf[T any](_ T, err error) error { return err }
