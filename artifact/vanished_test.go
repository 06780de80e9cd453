package artifact_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"rendermac/artifact"
	"rendermac/artifact/artifacttest"
)

// An open write whose data somebody has removed holds nothing, and goes on from
// its first byte; what is published is what was sent afterwards.
func TestDir_DataThatVanished(t *testing.T) {
	object := artifacttest.Bytes(60, 2*partBytes)
	parts := artifacttest.Cut(object, partBytes)
	for what, remove := range map[string]func(t *testing.T, folder string){
		"the data": func(t *testing.T, folder string) { mustDo(t, os.Remove(mustFind(t, folder, ".data"))) },
		"data and journal": func(t *testing.T, folder string) {
			mustDo(t, os.Remove(mustFind(t, folder, ".data")))
			mustDo(t, os.Remove(mustFind(t, folder, ".journal")))
		},
		"the folder of both": func(t *testing.T, folder string) { mustDo(t, os.RemoveAll(filepath.Join(folder, "writes"))) },
	} {
		t.Run(what+", found by a part", func(t *testing.T) {
			folder := t.TempDir()
			f := serve(t, folder)
			f.MustBegin(t, object)
			stale := f.MustSign(t, 1, parts[0])
			f.MustPut(t, 1, parts[0])
			remove(t, folder)
			if status := f.Put(t, f.MustSign(t, 2, parts[1]), parts[1]); status != http.StatusForbidden {
				t.Errorf("a part is answered %d, want 403: ask for a new URL", status)
			}
			if status := f.Put(t, stale, parts[0]); status != http.StatusForbidden {
				t.Errorf("the URL of what was held is answered %d, want 403", status)
			}
			f.MustHold(t, nil)
			f.MustPut(t, 2, parts[1])
			f.MustHold(t, map[int][]byte{2: parts[1]})
			f.MustPut(t, 1, parts[0])
			f.MustComplete(t, object)
		})
		t.Run(what+", found by Complete", func(t *testing.T) {
			folder := t.TempDir()
			f := serve(t, folder)
			f.MustBegin(t, object)
			for i, part := range parts {
				f.MustPut(t, i+1, part)
			}
			remove(t, folder)
			if _, err := f.Store.Complete(t.Context(), artifacttest.Key); !errors.Is(err, artifact.ErrIncomplete) {
				t.Errorf("Complete says %v, want ErrIncomplete", err)
			}
			f.MustHold(t, nil)
			f = f.Restart()
			f.MustBegin(t, object)
			f.MustHold(t, nil)
			for i, part := range parts {
				f.MustPut(t, i+1, part)
			}
			f.MustComplete(t, object)
		})
	}
}
