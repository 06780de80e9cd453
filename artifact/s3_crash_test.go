package artifact_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"rendermac/artifact"
	"rendermac/artifact/artifacttest"
)

// behind is a bucket whose server is reached through a proxy.
func behind(t testing.TB, server *artifacttest.S3Server) (artifact.S3Options, *artifacttest.Proxy) {
	t.Helper()
	proxy := artifacttest.StartProxy(t, server.Endpoint)
	o := server.Options(t)
	o.Endpoint = proxy.URL
	return o, proxy
}

// dieAt is a connection to the server that ends for good with its nth request,
// before or after that arrives.
func dieAt(nth int, how artifacttest.Fate) func(int, *http.Request) artifacttest.Fate {
	return func(n int, _ *http.Request) artifacttest.Fate {
		switch {
		case n < nth:
			return artifacttest.Passes
		case n == nth:
			return how
		default:
			return artifacttest.Lost
		}
	}
}

// The process dies at each of its requests, before or after the server has heard
// it, and the next one goes on: with the right bytes at the end, and nothing
// left over.
func TestS3_CrashAtEveryRequest(t *testing.T) {
	server := artifacttest.StartS3(t)
	for name, live := range map[string]func(*testing.T, artifacttest.Fixture) error{"upload": upload, "change of mind": changeOfMind} {
		for _, how := range []artifacttest.Fate{artifacttest.Lost, artifacttest.Unheard} {
			t.Run(fmt.Sprint(name, how), func(t *testing.T) {
				t.Parallel()
				for nth, died := 1, true; died; nth++ {
					died = crashAt(t, server, live, nth, how)
					if nth == 1 && !died || nth > 60 {
						t.Fatalf("%d requests were made", nth)
					}
				}
			})
		}
	}
}

// crashAt lives through one crash; false says that there was no nth request.
func crashAt(t *testing.T, server *artifacttest.S3Server, live func(*testing.T, artifacttest.Fixture) error, nth int, how artifacttest.Fate) (died bool) {
	o, proxy := behind(t, server)
	f := bucket(t, o)
	proxy.Meet(dieAt(nth, how))
	if err := live(t, f); err == nil {
		died = len(proxy.Seen()) >= nth
	} else if died = true; !errors.Is(err, artifact.ErrUnavailable) && !errors.Is(err, errPut) {
		t.Fatalf("request %d: %v", nth, err)
	}
	proxy.Meet(nil)
	f = f.Restart()
	if err := live(t, f); err != nil {
		t.Fatalf("after a crash at request %d: %v", nth, err)
	}
	f.MustRead(t, crashObject)
	mustHoldOnly(t, server, o, 3) // the object, its digest, and the store's marker
	return died
}

var (
	crashObject = artifacttest.Bytes(40, 1000)
	errPut      = errors.New("a part could not be put")
)

// upload is what a client does until it is through. It can be begun again.
func upload(t *testing.T, f artifacttest.Fixture) error {
	switch err := f.Store.Begin(t.Context(), artifacttest.Key, 1000, f.PartBytes); {
	case errors.Is(err, artifact.ErrPublished):
	case err != nil:
		return err
	default:
		if err := sendOnly(t, f, crashObject); err != nil {
			return err
		}
	}
	info, err := f.Store.Complete(t.Context(), artifacttest.Key)
	if err == nil && info.SHA256 != artifacttest.Sum(crashObject) {
		err = fmt.Errorf("published with %s", info.SHA256)
	}
	return err
}

func sendOnly(t *testing.T, f artifacttest.Fixture, object []byte) error {
	held, err := f.Store.Held(t.Context(), artifacttest.Key)
	if err != nil || len(held) == 1 {
		return err
	}
	u, err := f.Store.SignPart(t.Context(), artifacttest.Key, artifact.Part{Number: 1, Bytes: int64(len(object)), SHA256: artifacttest.Sum(object)}, artifacttest.Owner, time.Now().Add(time.Hour))
	if err != nil {
		return err
	}
	if status := f.Put(t, u, object); status != http.StatusOK {
		return fmt.Errorf("%w: status %d", errPut, status)
	}
	return nil
}

// changeOfMind begins, drops, aborts, begins anew with another size, and only
// then uploads.
func changeOfMind(t *testing.T, f artifacttest.Fixture) error {
	if err := f.Store.Begin(t.Context(), artifacttest.Key, 500, f.PartBytes); err != nil && !errors.Is(err, artifact.ErrPublished) {
		return err
	} else if err != nil {
		return upload(t, f)
	}
	if err := sendOnly(t, f, crashObject[:500]); err != nil {
		return err
	}
	if err := f.Store.Drop(t.Context(), artifacttest.Key, []int{1}); err != nil {
		return err
	}
	if err := sendOnly(t, f, crashObject[:500]); err != nil {
		return err
	}
	if err := f.Store.Abort(t.Context(), artifacttest.Key); err != nil {
		return err
	}
	return upload(t, f)
}

// mustHoldOnly checks that so many objects are in the bucket, and no multipart.
func mustHoldOnly(t *testing.T, server *artifacttest.S3Server, o artifact.S3Options, want int) {
	t.Helper()
	client := server.Client(t)
	var names []string
	for object := range client.ListObjects(t.Context(), o.Bucket, minio.ListObjectsOptions{Recursive: true}) {
		if object.Err != nil {
			t.Fatal(object.Err)
		}
		names = append(names, object.Key)
	}
	if len(names) != want {
		t.Errorf("the bucket holds %q, want %d objects", names, want)
	}
	for multipart := range client.ListIncompleteUploads(t.Context(), o.Bucket, "", true) {
		t.Errorf("a multipart is left: %+v", multipart)
	}
}
