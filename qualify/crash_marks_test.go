package qualify

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
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
	for _, passes := range []map[string][]string{server.calm(scripts), newAgentDay(t, film).calm(), starts, server.calmPairing()} {
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

// marksInSource are those of the module's production code. Only a route's is no
// literal: see changes.
func marksInSource(t *testing.T) (marks []string) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || path == "../failpoint/failpoint.go" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, call := range markCall.FindAllStringSubmatch(string(text), -1) {
			mark, no := strconv.Unquote(call[1])
			if no == nil {
				marks = append(marks, mark)
			} else if path != "../server/routes.go" {
				t.Errorf("%s: %s is no literal", path, call[0])
			}
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
