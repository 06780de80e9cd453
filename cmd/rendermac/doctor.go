package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"rendermac/config"
)

// finding is what one check of the doctor found, and what to do about it.
type finding struct {
	Level string `json:"level"` // ok, warn, fail
	Check string `json:"check"`
	Found string `json:"found"`
	Do    string `json:"do"`
}

// doctor goes through its checks in order and tells each finding at once.
type doctor struct {
	c        *config.Config
	tell     func(finding)
	findings []finding
	failed   int
}

func (d *doctor) find(level, check, found, do string) {
	f := finding{level, check, found, do}
	d.findings = append(d.findings, f)
	if level == "fail" {
		d.failed++
	}
	d.tell(f)
}

func (d *doctor) ok(check, found string)       { d.find("ok", check, found, "") }
func (d *doctor) warn(check, found, do string) { d.find("warn", check, found, do) }
func (d *doctor) fail(check, found, do string) { d.find("fail", check, found, do) }

func doctorCommand(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "doctor",
		Short: "Check this machine and say what to do",
		Long: "Checks config, data directory, database, store, shared roots, disk, port, clock, ffmpeg with its encoders and\n" +
			"filters, Remotion, and sleep settings. Exits 1 if something must be mended.",
		Example: "  rendermac doctor\n  rendermac doctor --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			d := &doctor{tell: func(f finding) { printFinding(out, f) }}
			if asJSON(cmd) {
				d.tell = func(finding) {}
			}
			d.run(cmd.Context(), g)
			if asJSON(cmd) {
				if err := printJSON(out, d.findings); err != nil {
					return err
				}
			}
			if d.failed > 0 {
				return fmt.Errorf("%d of %d checks failed", d.failed, len(d.findings))
			}
			return nil
		},
	})
}

func printFinding(w io.Writer, f finding) {
	text := f.Found
	if f.Do != "" {
		text += ": " + f.Do
	}
	fmt.Fprintf(w, "%-5s %-9s %s\n", f.Level, f.Check, clean(text))
}

// run is every check. Without a config the others would look in wrong places.
func (d *doctor) run(ctx context.Context, g *globals) {
	c, err := g.config(nil)
	if err != nil {
		d.fail("config", err.Error(), "mend it, or remove the line")
		return
	}
	d.c = c
	d.ok("config", "every setting is in order; see rendermac config")
	d.folder("data", c.Data)
	d.database()
	d.store(ctx)
	d.folder("work", c.Agent.WorkDir)
	d.cache()
	d.roots()
	d.disk()
	d.port(ctx)
	d.pairing(ctx)
	d.ffmpeg(ctx)
	d.remotion(ctx)
	d.sleep(ctx)
}
