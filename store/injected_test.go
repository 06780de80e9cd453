package store_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Time and randomness are handed to store and fence, so that a test decides
// both: no file of theirs asks the system.
func TestClockAndRandomnessAreInjected(t *testing.T) {
	asks := []string{"time.Now", "time.Since", "time.Until", "time.After", "time.AfterFunc", "time.NewTimer", "time.NewTicker", "time.Tick", "time.Sleep"}
	for _, dir := range []string{".", "../fence"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		must(t, err)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			must(t, err)
			for _, imported := range file.Imports {
				if strings.HasPrefix(strings.Trim(imported.Path.Value, `"`), "math/rand") || imported.Path.Value == `"crypto/rand"` {
					t.Errorf("%s imports %s", name, imported.Path.Value)
				}
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if pkg, ok := s.X.(*ast.Ident); ok && slices.Contains(asks, pkg.Name+"."+s.Sel.Name) {
						t.Errorf("%s calls %s.%s", name, pkg.Name, s.Sel.Name)
					}
				}
				return true
			})
		}
	}
}
