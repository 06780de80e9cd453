package webtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A name that turns itself round is shown for what it is, wherever it stands, and
// the line for a terminal still names the file.
func TestNew_ANameThatTurnsItselfRoundIsShown(t *testing.T) {
	s := mustStudio(t)
	name, said := "evil\u202evom.it's.mov", `evil\u202evom.it's.mov`
	file := filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(file, noise(1000), 0o600))
	p := s.open("/new")
	p.SetFiles("#files", file)
	p.WaitText("unread")
	if shown := p.Text(".file .name"); shown != said {
		t.Errorf("in the list stands %q", shown)
	}
	line := p.Text("#line-rendermac")
	word := strings.TrimPrefix(line[:strings.Index(line, " --url")], "rendermac submit ")
	read, err := exec.CommandContext(t.Context(), "bash", "-c", "printf %s "+word).Output()
	if must(t, err); string(read) != name || strings.Contains(word, "\u202e") {
		t.Errorf("a shell reads %s as %q", word, read)
	}
	p.Click("Make the job")
	p.WaitText("The job is made.")
	p.Click(`evil\u202evom.it's.mp4`)
	p.WaitPath("/jobs/" + s.jobs()[0].ID)
	p.WaitText(said)
	p.Go("/jobs")
	p.WaitText(`evil\u202evom.it's.mp4`)
}
