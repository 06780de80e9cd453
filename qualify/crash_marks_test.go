package qualify

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Every mark is every mark in the source, and the answer of every operation that
// changes something: the scripts pass them all.
func TestCrash_EveryMarkIsPassed(t *testing.T) {
	film := crashFilm(t)
	server := newMacDay(t, film)
	starts, _ := calmStarts(t)
	passed := map[string]bool{}
	for _, passes := range []map[string][]string{server.calm(scripts), newAgentDay(t, film).calm(), starts, server.calmPairing(), newRestoreDay(t).calm()} {
		for _, marks := range passes {
			for _, mark := range marks {
				passed[mark] = true
			}
		}
	}
	marks := append(marksInSource(t), server.changes()...)
	for _, mark := range marks {
		if !passed[mark] {
			t.Errorf("no script passes %s, so nothing is ever killed there", mark)
		}
	}
	t.Logf("%d marks", len(marks))
}

var markCall = regexp.MustCompile(`failpoint\.At\(([^)]*)\)`)

// marksInSource are those of the module's production code, but for the answers of
// operations: see changes.
func marksInSource(t *testing.T) (marks []string) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "../failpoint/") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, call := range markCall.FindAllStringSubmatch(string(text), -1) {
			mark, no := strconv.Unquote(call[1])
			if no != nil {
				t.Errorf("%s: %s is no literal", path, call[0])
				continue
			}
			marks = append(marks, mark)
		}
		return err
	})
	if err != nil || len(marks) == 0 {
		t.Fatalf("%d marks found: %v", len(marks), err)
	}
	return marks
}

// changes are the answers of the operations that change something.
func (d *day) changes() (marks []string) {
	d.Helper()
	answer, err := http.Get(d.url + "/v1/openapi.json")
	if err != nil {
		d.Fatal(err)
	}
	defer answer.Body.Close()
	var document struct {
		Paths map[string]map[string]struct{ OperationID string }
	}
	if err := json.NewDecoder(answer.Body).Decode(&document); err != nil {
		d.Fatal(err)
	}
	for _, operations := range document.Paths {
		for method, operation := range operations {
			if method != "get" && method != "head" {
				marks = append(marks, "server.answer."+operation.OperationID)
			}
		}
	}
	if len(marks) == 0 {
		d.Fatal("no operation changes anything")
	}
	return marks
}

// A binary for users knows no mark, nor how to be steered by one (ADR 0008).
func TestCrash_AShippedBinaryHasNoMarks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rendermac")
	if out, err := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "rendermac/cmd/rendermac").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	shipped, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tested, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	marked, err := os.ReadFile(tested)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"RENDERMAC_FAILPOINTS", "server.answer.", "store.commit.before", "artifact.publish.rename.before", "agent.keep.before"} {
		if bytes.Contains(shipped, []byte(name)) || !bytes.Contains(marked, []byte(name)) {
			t.Errorf("%s: in the shipped binary %v, in the one for tests %v", name, bytes.Contains(shipped, []byte(name)), bytes.Contains(marked, []byte(name)))
		}
	}
}
