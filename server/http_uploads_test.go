package server

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rendermac/api"
	"rendermac/media/probe"
)

// mustClip makes a small real clip.
func mustClip(t *testing.T, encoding ...string) []byte {
	t.Helper()
	name := filepath.Join(t.TempDir(), "clip.mp4")
	args := append([]string{"-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc=s=64x36:d=0.4:r=25"}, encoding...)
	out, err := exec.Command("ffmpeg", append(args, name)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	clip, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return clip
}

func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func TestUploads_WholeStory(t *testing.T) {
	h := mustServe(t, func(o *Options) { o.PartBytes = 2048 })
	clip := mustClip(t, "-pix_fmt", "yuv420p")
	u := into[api.UploadCreated](h.post("/v1/uploads", h.submit, api.UploadRequest{Name: "clip.mp4", Bytes: int64(len(clip))}).is(201))
	if want := (len(clip) + 2047) / 2048; len(u.Parts) != want || u.NextPart != nil || u.PartBytes != 2048 || !u.ExpiresAt.After(h.clock.Now()) {
		t.Fatalf("got %d parts, want %d: %+v", len(u.Parts), want, u)
	}
	piece := func(n int) []byte { return clip[(n-1)*2048 : min(n*2048, len(clip))] }
	for _, p := range u.Parts[1:] {
		h.mustPut(p, piece(p.Number))
	}
	complete := "/v1/uploads/" + u.ID + "/complete"
	h.post(complete, h.submit, nil).refuses(409, "upload_incomplete")

	now := into[api.Upload](h.get("/v1/uploads/"+u.ID, h.submit).is(200))
	if len(now.Held) != len(u.Parts)-1 || slices.Contains(now.Held, 1) || len(now.Parts) != 1 || now.Parts[0].Number != 1 || now.Bytes != int64(len(clip)) {
		t.Fatalf("of all but part 1 the server says %+v", now)
	}
	h.put(now.Parts[0], piece(1)[1:]).refuses(422, "digest_mismatch")
	h.mustPut(now.Parts[0], piece(1))
	h.put(u.Parts[0], piece(1)).refuses(409, "part_held")

	first := h.post(complete, h.submit, api.UploadComplete{SHA256: ptr(sum(clip))}).is(200)
	done := into[api.UploadDone](first)
	if done.ID != u.ID || done.Name != "clip.mp4" || done.Bytes != int64(len(clip)) || done.SHA256 != sum(clip) {
		t.Errorf("completed as %+v", done)
	}
	if m := done.Media; m == nil || m.ReadBy != "server" || m.Container != "mp4" || len(m.Streams) != 1 || m.Streams[0].Width != 64 {
		t.Errorf("the media is %+v", done.Media)
	}
	if again := h.post(complete, h.submit, nil).is(200); !bytes.Equal(again.body, first.body) {
		t.Errorf("repeating answers %s, not %s", again.body, first.body)
	}
	h.post(complete, h.submit, api.UploadComplete{SHA256: ptr(sum(nil))}).refuses(422, "digest_mismatch")
	h.post(complete, h.submit, nil).is(200)
	after := into[api.Upload](h.get("/v1/uploads/"+u.ID, h.submit).is(200))
	if len(after.Held) != len(u.Parts) || len(after.Parts) != 0 || after.NextPart != nil {
		t.Errorf("a complete upload still wants %+v", after)
	}
}

func TestUploads_PagesOfParts(t *testing.T) {
	h := mustServe(t, func(o *Options) { o.PartBytes = 1 })
	u := into[api.UploadCreated](h.post("/v1/uploads", h.submit, `{"name":"a","bytes":600}`).is(201))
	if len(u.Parts) != 256 || u.NextPart == nil || *u.NextPart != 257 {
		t.Fatalf("the first page has %d parts, then %v", len(u.Parts), u.NextPart)
	}
	h.mustPut(u.Parts[255], []byte("x"))
	at := "/v1/uploads/" + u.ID + "?from_part="
	second := into[api.Upload](h.get(at+"256", h.submit).is(200))
	if len(second.Parts) != 256 || second.Parts[0].Number != 257 || *second.NextPart != 513 || !slices.Equal(second.Held, []int{256}) {
		t.Errorf("the page from 256, which is held, begins at %d and goes on at %v", second.Parts[0].Number, second.NextPart)
	}
	last := into[api.Upload](h.get(at+"513", h.submit).is(200))
	if len(last.Parts) != 88 || last.Parts[87].Number != 600 || last.NextPart != nil {
		t.Errorf("the last page has %d parts, then %v", len(last.Parts), last.NextPart)
	}
	if beyond := into[api.Upload](h.get(at+"601", h.submit).is(200)); len(beyond.Parts) != 0 {
		t.Errorf("beyond the end there are %d parts", len(beyond.Parts))
	}
	h.get(at+"0", h.submit).refuses(422, "invalid_request")
}

// F16: with digests announced, a URL takes these bytes and no others.
func TestF16_AnnouncedDigestsBindTheParts(t *testing.T) {
	h := mustServe(t, func(o *Options) { o.PartBytes = 4 })
	content := []byte("abcdef")
	parts := []api.Part{{Number: 1, Bytes: 4, SHA256: sum(content[:4])}, {Number: 2, Bytes: 2, SHA256: sum(content[4:])}}
	u := into[api.UploadCreated](h.post("/v1/uploads", h.submit, api.UploadRequest{Name: "a", Bytes: 6, SHA256: ptr(sum(content)), Parts: parts}).is(201))
	h.put(u.Parts[0], []byte("abcX")).refuses(422, "digest_mismatch")
	h.mustPut(u.Parts[0], content[:4])
	again := into[api.Upload](h.get("/v1/uploads/"+u.ID, h.submit).is(200))
	h.put(again.Parts[0], []byte("eX")).refuses(422, "digest_mismatch")
	h.mustPut(again.Parts[0], content[4:])
	h.post("/v1/uploads/"+u.ID+"/complete", h.submit, nil).is(200)
}

// Bytes that are not the announced ones are dropped; the same upload then takes
// the right ones.
func TestUploads_WrongDigestLetsTheClientSendAgain(t *testing.T) {
	h := mustServe(t)
	right, other := []byte("right"), []byte("wrong")
	for name, announce := range map[string]api.UploadRequest{
		"announced at first": {Name: "a", Bytes: 5, SHA256: ptr(sum(right))},
		"announced at last":  {Name: "a", Bytes: 5},
	} {
		t.Run(name, func(t *testing.T) {
			u := into[api.UploadCreated](h.post("/v1/uploads", h.submit, announce).is(201))
			complete := func() reply {
				return h.post("/v1/uploads/"+u.ID+"/complete", h.submit, api.UploadComplete{SHA256: ptr(sum(right))})
			}
			h.mustPut(u.Parts[0], other)
			complete().refuses(422, "digest_mismatch")
			complete().refuses(409, "upload_incomplete")
			now := into[api.Upload](h.get("/v1/uploads/"+u.ID, h.submit).is(200))
			if len(now.Held) != 0 || len(now.Parts) != 1 {
				t.Fatalf("after the refusal: %+v", now)
			}
			h.put(u.Parts[0], other).refuses(403, "bad_signature")
			h.mustPut(now.Parts[0], right)
			if done := into[api.UploadDone](complete().is(200)); done.SHA256 != sum(right) {
				t.Errorf("completed with %s", done.SHA256)
			}
		})
	}
}

// Of many completions at once, right and wrong ones, none may drop what another
// has completed.
func TestUploads_CompletionsAtOnce(t *testing.T) {
	h := mustServe(t)
	content := noise(300_000)
	u := into[api.UploadCreated](h.post("/v1/uploads", h.submit, api.UploadRequest{Name: "a", Bytes: int64(len(content))}).is(201))
	h.mustPut(u.Parts[0], content)
	var wait sync.WaitGroup
	for i := range 12 {
		wait.Go(func() {
			claim := sum(content)
			if i%3 == 2 {
				claim = sum(nil)
			}
			h.post("/v1/uploads/"+u.ID+"/complete", h.submit, api.UploadComplete{SHA256: &claim})
		})
	}
	wait.Wait()
	up, err := h.db.UploadByID(t.Context(), u.ID)
	if err != nil {
		t.Fatal(err)
	}
	object, _, err := h.files.Open(t.Context(), up.Key)
	if (err == nil) != up.Complete {
		t.Fatalf("complete is %v and opening the object says %v", up.Complete, err)
	}
	if err == nil {
		object.Close()
	}
}

func TestUploads_WhatIsNoMedia(t *testing.T) {
	h := mustServe(t)
	for name, content := range map[string][]byte{"note.mp4": []byte("a text named .mp4"), "empty.mov": nil} {
		u := into[api.UploadCreated](h.post("/v1/uploads", h.submit, api.UploadRequest{Name: name, Bytes: int64(len(content))}).is(201))
		if len(u.Parts) != 1 {
			t.Fatalf("%s has %d parts", name, len(u.Parts))
		}
		h.mustPut(u.Parts[0], content)
		done := into[api.UploadDone](h.post("/v1/uploads/"+u.ID+"/complete", h.submit, "{}").is(200))
		if done.Media != nil || done.SHA256 != sum(content) {
			t.Errorf("%s completed as %+v", name, done)
		}
	}
}

func TestUploads_Refusals(t *testing.T) {
	h := mustServe(t, func(o *Options) { o.MaxUploadBytes = 1 << 50 })
	h.post("/v1/uploads", h.submit, `{"name":"a","bytes":1125899906842625}`).refuses(422, "invalid_request")
	h.post("/v1/uploads", h.submit, `{"name":"a","bytes":1125899906842624}`).refuses(507, "storage_full")
	bad := map[string]string{
		"a folder":       `{"name":"a/b","bytes":1}`,
		"the folder":     `{"name":"..","bytes":1}`,
		"a NUL":          `{"name":"a\u0000","bytes":1}`,
		"256 bytes":      fmt.Sprintf(`{"name":%q,"bytes":1}`, strings.Repeat("é", 128)),
		"parts too few":  fmt.Sprintf(`{"name":"a","bytes":2000000,"parts":[{"number":1,"bytes":1048576,"sha256":"%s"}]}`, sum(nil)),
		"parts unsorted": fmt.Sprintf(`{"name":"a","bytes":1,"parts":[{"number":2,"bytes":1,"sha256":"%s"}]}`, sum(nil)),
	}
	for name, body := range bad {
		t.Run(name, func(t *testing.T) {
			if p := h.post("/v1/uploads", h.submit, body).refuses(422, "invalid_request"); len(p.Errors) != 1 {
				t.Errorf("faults: %+v", p.Errors)
			}
		})
	}
	for _, name := range []string{"-rf.mov", "a b'\".mov", "é\U0001F3AC.mov", "two\nlines.mov", strings.Repeat("x", 255)} {
		h.post("/v1/uploads", h.submit, api.UploadRequest{Name: name, Bytes: 1}).is(201)
	}
}

func TestUploads_URLsEnd(t *testing.T) {
	h := mustServe(t)
	u := into[api.UploadCreated](h.post("/v1/uploads", h.submit, `{"name":"a","bytes":1}`).is(201))
	h.clock.Advance(u.ExpiresAt.Sub(h.clock.Now()) - time.Millisecond)
	h.put(u.Parts[0], []byte("xy")).refuses(422, "digest_mismatch") // not yet
	h.clock.Advance(time.Millisecond)
	h.put(u.Parts[0], []byte("x")).refuses(403, "bad_signature")
	now := into[api.Upload](h.get("/v1/uploads/"+u.ID, h.submit).is(200))
	h.mustPut(now.Parts[0], []byte("x"))
}

func TestUploads_ProbeIsTheServersOwn(t *testing.T) {
	h := mustServe(t)
	clip := mustClip(t, "-pix_fmt", "yuv420p")
	want, err := probe.File(bytes.NewReader(clip), int64(len(clip)))
	if err != nil {
		t.Fatal(err)
	}
	done := h.mustUpload(h.submit, "clip.mp4", clip)
	if got := done.Media; got == nil || got.DurationS != want.DurationS || got.Container != want.Container {
		t.Errorf("the upload's media is %+v, want %+v", done.Media, want)
	}
}
