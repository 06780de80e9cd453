package rendermac

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ends are the statuses that complete a type which the store puts together.
var ends = map[string][]string{
	"job.":     {"succeeded", "failed", "cancelled"},
	"attempt.": {"downloading", "running", "uploading"},
}

// docs/api.md lists every type of event that the store writes, and no other but
// those that only a stream has.
func TestEveryEventIsInTheDocs(t *testing.T) {
	page, err := os.ReadFile("docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Events\n")
	section, _, _ = strings.Cut(section, "\n## ")
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| (.*?) \|`).FindAllStringSubmatch(section, -1) {
		for _, name := range regexp.MustCompile("`([a-z_.]+)`").FindAllStringSubmatch(row[1], -1) {
			documented[name[1]] = true
		}
	}
	delete(documented, "progress")
	delete(documented, "reset")
	written := map[string]bool{"server.restored": true} // by store/restored.go, which chooses its id
	files, err := filepath.Glob("store/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			eventsIn(t, file, written)
		}
	}
	if !maps.Equal(documented, written) {
		t.Errorf("docs/api.md has the events\n%v\nand the store writes\n%v", slices.Sorted(maps.Keys(documented)), slices.Sorted(maps.Keys(written)))
	}
}

// eventsIn finds the types in the calls t.event("type", …) and
// t.event("prefix."+…, …).
func eventsIn(t *testing.T, file string, types map[string]bool) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if fn, ok := call.Fun.(*ast.SelectorExpr); !ok || fn.Sel.Name != "event" {
			return true
		}
		kind, prefix := call.Args[0], ""
		if sum, ok := kind.(*ast.BinaryExpr); ok {
			kind = sum.X
			prefix, _ = strconv.Unquote(kind.(*ast.BasicLit).Value)
		}
		text, ok := kind.(*ast.BasicLit)
		switch {
		case !ok || prefix != "" && ends[prefix] == nil:
			t.Errorf("%s writes an event whose type this test cannot read: write it as a string", file)
		case prefix == "":
			name, _ := strconv.Unquote(text.Value)
			types[name] = true
		}
		for _, end := range ends[prefix] {
			types[prefix+end] = true
		}
		return true
	})
}
