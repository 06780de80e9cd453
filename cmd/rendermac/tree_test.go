package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// silent are the commands that print no data: they do something, run until they
// are stopped, or print what another program reads as it is.
var silent = []string{
	"rendermac agent", "rendermac demo", "rendermac devices revoke", "rendermac jobs log", "rendermac keys revoke", "rendermac pair", "rendermac serve",
	"rendermac completion bash", "rendermac completion fish", "rendermac completion powershell", "rendermac completion zsh",
}

// TestEveryCommandIsWhole holds the whole tree to one habit.
func TestEveryCommandIsWhole(t *testing.T) {
	var quiet []string
	eachCommand(newRoot(&globals{}), func(c *cobra.Command) {
		path := c.CommandPath()
		if c.Short == "" || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: its line is %q", path, c.Short)
		}
		if !strings.Contains(c.Example, path) {
			t.Errorf("%s: its help has no example of its own", path)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s: --%s says nothing", path, f.Name)
			}
		})
		if !c.HasSubCommands() && c.Flags().Lookup("json") == nil {
			quiet = append(quiet, path)
		}
	})
	slices.Sort(quiet)
	want := slices.Sorted(slices.Values(silent))
	if !slices.Equal(quiet, want) {
		t.Errorf("without --json are\n%v, and should be\n%v", quiet, want)
	}
}

var exampleLine = regexp.MustCompile(`rendermac((?: +(?:[^\s()|;>"']+|"[^"]*"|'[^']*'))*)`)

// TestExamplesParse holds every example to flags and arguments that exist.
func TestExamplesParse(t *testing.T) {
	parsed := 0
	eachCommand(newRoot(&globals{}), func(c *cobra.Command) {
		for _, line := range strings.Split(c.Example, "\n") {
			m := exampleLine.FindStringSubmatch(line)
			if m == nil {
				t.Errorf("%s: %q is no example", c.CommandPath(), line)
				continue
			}
			root := newRoot(&globals{}) // flags keep what they were given
			cmd, args, err := root.Find(strings.Fields(m[1]))
			if err == nil {
				err = cmd.ParseFlags(args)
			}
			if err == nil {
				err = cmd.ValidateArgs(cmd.Flags().Args())
			}
			if err != nil {
				t.Errorf("%s: %q: %v", c.CommandPath(), line, err)
			}
			parsed++
		}
	})
	if parsed < 40 {
		t.Errorf("only %d examples", parsed)
	}
}

func eachCommand(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range c.Commands() {
		eachCommand(sub, do)
	}
}
