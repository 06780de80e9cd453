// Package rendermac holds the tests of the house itself: who may import whom,
// and that each room says what it is for.
package rendermac

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rooms is the import table: what of ours a package may import, and why. What
// is not listed is forbidden.
var rooms = map[string]struct {
	imports []string
	why     string
}{
	"lasting":               {nil, "what must outlast a power cut is synced in one way"},
	"failpoint":             {nil, "a mark that is nothing outside the tests in qualify"},
	"qualify":               {nil, "tests only: the product from outside"},
	"program":               {[]string{"failpoint"}, "agent and server run programs in one way, which none outlives"},
	"roots":                 {nil, "server and agents open files under a shared root in one way, which no link leads out of"},
	"fence":                 {nil, "rules that need nothing can be tested alone"},
	"api":                   {[]string{"fetch"}, "the HTTP wire is the same for server, command line and outsiders"},
	"artifact":              {[]string{"failpoint", "lasting"}, "bytes know nothing of jobs"},
	"config":                {nil, "only cmd sees it: the others take plain structs"},
	"media/probe":           {nil, "the verifier's core reads bytes and nothing else"},
	"fetch":                 {nil, "a download is the same for agent and client, and knows neither"},
	"agentproto":            {[]string{"fence"}, "the agents' wire"},
	"store":                 {[]string{"failpoint", "fence", "lasting"}, "a verb loads, lets fence decide, and writes"},
	"media/whole":           {nil, "a walk through a container needs nothing else"},
	"media":                 {[]string{"media/probe", "media/whole"}, "a service says what its result must be"},
	"agent":                 {[]string{"agentproto", "failpoint", "fetch", "lasting", "media", "media/probe", "fence", "program", "roots", "unzip"}, "a Mac speaks the wire and sees no database"},
	"server":                {[]string{"api", "agentproto", "artifact", "failpoint", "fence", "media", "media/probe", "program", "roots", "store", "web"}, "wire → store → wire"},
	"web":                   {nil, "it renders what it is handed"},
	"unzip":                 {nil, "strangers' zips are unpacked in one way, whatever they are for"},
	"cmd/rendermac":         {[]string{"agent", "agentproto", "api", "artifact", "config", "failpoint", "lasting", "media", "media/probe", "program", "roots", "server", "store"}, "wiring: everything but web and fence"},
	"artifact/artifacttest": {[]string{"artifact"}, "one suite for every store"},
	"fence/fencetest":       {nil, "one number of random histories for model and store"},
	"store/storetest":       {[]string{"fence", "store"}, "a job's first steps, for tests"},
	"web/storybook":         {[]string{"web"}, "every page in every state, from canned data"},
	"web/webtest":           {nil, "a browser for tests, which knows no page"},
	"media/mediatest":       {[]string{"media", "media/probe"}, "real clips, for tests"},
}

// goFiles calls fn for every Go file of ours, with the folder it is in.
func goFiles(t *testing.T, fn func(dir, file string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && file != "." || d.Name() == "testdata" || d.Name() == "bin" || d.Name() == "build") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(file, ".go") {
			fn(filepath.ToSlash(filepath.Dir(file)), file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestImportsFollowTheTable(t *testing.T) {
	seen := map[string]bool{}
	goFiles(t, func(dir, file string) {
		if strings.HasSuffix(file, "_test.go") || dir == "." {
			return
		}
		room, ok := rooms[dir]
		if !ok {
			t.Errorf("%s is in no room of the table", file)
			return
		}
		seen[dir] = true
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			ours, ok := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), "rendermac/")
			if ok && !slices.Contains(room.imports, ours) {
				t.Errorf("%s imports %s: %s may not (%s)", file, ours, dir, room.why)
			}
			if ok && strings.HasSuffix(ours, "test") && !strings.HasSuffix(dir, "test") {
				t.Errorf("%s imports %s, which is for tests only", file, ours)
			}
		}
	})
	for dir := range rooms {
		if !seen[dir] {
			t.Errorf("the table has a room %s that is not there", dir)
		}
	}
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	said := map[string]bool{}
	goFiles(t, func(dir, file string) {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		said[dir] = said[dir] || f.Doc != nil && len(strings.TrimSpace(f.Doc.Text())) > 20
	})
	for dir, ok := range said {
		if !ok {
			t.Errorf("package %s has no doc comment", dir)
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)

func TestLinksInTheDocsResolve(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	adr, err := filepath.Glob("docs/adr/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(append(pages, adr...), "README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.FromSlash(path.Join(path.Dir(filepath.ToSlash(page)), m[1]))); err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[1])
			}
		}
	}
}
