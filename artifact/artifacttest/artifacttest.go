// Package artifacttest is what every artifact.Store must do, as one suite. It
// writes and reads through signed URLs, as agents and buyers do.
package artifacttest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"rendermac/artifact"
)

// Fixture is a store to test, empty at first.
type Fixture struct {
	Store     artifact.Store
	PartBytes int64 // the smallest part the store takes

	// Base is put before URLs that are path and query only.
	Base string
	// Restart opens the same store as a new process would find it.
	Restart func() Fixture
	// Away takes the store out of reach until back is called.
	Away func(t *testing.T) (back func())
}

// Key is the object that the suite writes.
const Key = "outputs/job_1/att_1.mp4"

// Owner is the attempt that it writes for.
const Owner = "att_1"

// Run runs the suite; fresh makes a Fixture for each test.
func Run(t *testing.T, fresh func(t *testing.T) Fixture) {
	tests := []struct {
		name string
		run  func(t *testing.T, f Fixture)
	}{
		{"WriteAndRead", writeAndRead},
		{"EmptyObject", emptyObject},
		{"NotThere", notThere},
		{"Incomplete", incomplete},
		{"CompleteTwice", completeTwice},
		{"PublishedIsNotWrittenAgain", publishedIsNotWrittenAgain},
		{"DeleteTwice", deleteTwice},
		{"Pending", pending},
		{"SizeChanges", sizeChanges},
		{"RestartKeepsHeldParts", restartKeepsHeldParts},
		{"WrongParts", wrongParts},
		{"UnboundParts", unboundParts},
		{"HTMLIsNotShown", htmlIsNotShown},
		{"F8_AwayAndBack", awayAndBack},
		{"F16_CompleteWhileWriting", completeWhileWriting},
		{"F16_URLWritesNothingElse", urlWritesNothingElse},
		{"F16_URLDiesWithComplete", urlDiesWithComplete},
		{"F16_URLDiesWithAbort", urlDiesWithAbort},
		{"F16_URLDiesWithDrop", urlDiesWithDrop},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(t, fresh(t)) })
	}
}

// Bytes makes n bytes that are the same for the same seed.
func Bytes(seed uint64, n int64) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(seed)}).Read(b)
	return b
}

// Sum is the SHA-256 in hex.
func Sum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Cut cuts an object into its parts.
func Cut(object []byte, partBytes int64) [][]byte {
	parts := [][]byte{}
	for int64(len(object)) > partBytes {
		parts, object = append(parts, object[:partBytes]), object[partBytes:]
	}
	return append(parts, object)
}

// MustBegin opens a write of Key for object.
func (f Fixture) MustBegin(t testing.TB, object []byte) {
	t.Helper()
	if err := f.Store.Begin(t.Context(), Key, int64(len(object)), f.PartBytes); err != nil {
		t.Fatalf("Begin: %v", err)
	}
}

// MustSign gives a URL for part n, bound to its bytes.
func (f Fixture) MustSign(t testing.TB, n int, part []byte) artifact.URL {
	t.Helper()
	p := artifact.Part{Number: n, Bytes: int64(len(part)), SHA256: Sum(part)}
	u, err := f.Store.SignPart(t.Context(), Key, p, Owner, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatalf("SignPart %d: %v", n, err)
	}
	return u
}

// Put sends a body and returns the status; 0 where no answer came.
func (f Fixture) Put(t testing.TB, u artifact.URL, body []byte) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, f.absolute(u), bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range u.Headers {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}

func (f Fixture) absolute(u artifact.URL) string {
	if strings.HasPrefix(u.URL, "/") {
		return f.Base + u.URL
	}
	return u.URL
}

// MustPut sends part n through a URL of its own.
func (f Fixture) MustPut(t testing.TB, n int, part []byte) {
	t.Helper()
	if status := f.Put(t, f.MustSign(t, n, part), part); status != http.StatusOK {
		t.Fatalf("part %d: status %d, want 200", n, status)
	}
}

// MustHold checks which parts are held, with their bytes.
func (f Fixture) MustHold(t testing.TB, parts map[int][]byte) {
	t.Helper()
	held, err := f.Store.Held(t.Context(), Key)
	if err != nil {
		t.Fatalf("Held: %v", err)
	}
	if len(held) != len(parts) {
		t.Fatalf("%d parts are held, want %d: %v", len(held), len(parts), held)
	}
	for i, p := range held {
		if i > 0 && held[i-1].Number >= p.Number {
			t.Errorf("held parts are not sorted: %v", held)
		}
		if want := parts[p.Number]; p.Bytes != int64(len(want)) || p.SHA256 != Sum(want) {
			t.Errorf("part %d is held with other bytes than were sent", p.Number)
		}
	}
}

// MustComplete publishes Key and checks what was published.
func (f Fixture) MustComplete(t testing.TB, object []byte) {
	t.Helper()
	info, err := f.Store.Complete(t.Context(), Key)
	if err != nil {
		t.Fatalf("Complete: %v", err)
	}
	if want := (artifact.Info{Key: Key, Bytes: int64(len(object)), SHA256: Sum(object)}); info != want {
		t.Errorf("Complete = %+v, want %+v", info, want)
	}
	f.MustRead(t, object)
}

// MustRead checks the bytes of the published object.
func (f Fixture) MustRead(t testing.TB, object []byte) {
	t.Helper()
	o, info, err := f.Store.Open(t.Context(), Key)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	defer o.Close()
	got, err := io.ReadAll(o)
	if err != nil || !bytes.Equal(got, object) || info.Bytes != int64(len(object)) {
		t.Fatalf("the object has %d bytes (%s), want %d (%s); error %v", len(got), Sum(got), len(object), Sum(object), err)
	}
}
