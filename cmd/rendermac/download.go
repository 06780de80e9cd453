package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rendermac/api"
)

func jobsDownloadCommand(g *globals) *cobra.Command {
	var out string
	var force bool
	cmd := withJSON(&cobra.Command{
		Use:   "download ID",
		Short: "Download a job's verified output",
		Long: "Downloads a job's output, checks its length and SHA-256, and only then gives the file its name.\n" +
			"What an interrupt leaves is hidden beside it, named to its end with .rendermac-part; the same\n" +
			"command goes on with it. The path goes to stdout.",
		Example: "  rendermac jobs download job_01kbd3m8q5w9x2c7e4r6t8y0za\n  rendermac jobs download job_01kbd3m8q5w9x2c7e4r6t8y0za -o interview-web.mp4",
		Args:    cobra.MatchAll(cobra.ExactArgs(1), jobIDs),
		RunE: g.asking(func(cmd *cobra.Command, client *api.Client, args []string) error {
			job, err := client.Job(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			board := newBoard(cmd.ErrOrStderr(), 1)
			line := board.line(job.ID)
			path, err := download(cmd.Context(), client, job, out, force, line)
			if err != nil {
				line.end("failed", false)
				board.close()
				if interrupted(cmd.Context(), err) {
					err = errors.New("interrupted: the same command goes on with the download")
				}
				return err
			}
			line.end("verified, "+size(job.Artifact.Bytes), true)
			board.close()
			noteExtension(cmd.ErrOrStderr(), job, path)
			saved := map[string]any{"path": path, "bytes": job.Artifact.Bytes, "sha256": job.Artifact.SHA256}
			return show(cmd, saved, func(w io.Writer) error {
				_, err := fmt.Fprintln(w, clean(path))
				return err
			})
		}),
	})
	cmd.Flags().StringVarP(&out, "output", "o", ".", "the file, or the folder, to write to")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite a file that exists")
	return cmd
}

// download writes a job's output to out: a file, or a folder where it takes the
// name that the job gives it. It answers the path.
func download(ctx context.Context, client *api.Client, job *api.Job, out string, force bool, line *line) (string, error) {
	if job.Artifact == nil {
		return "", fmt.Errorf("job %s has no output: it is %s", job.ID, job.Status)
	}
	if at := job.Artifact.DeletedAt; at != nil {
		return "", fmt.Errorf("the output of job %s was deleted by retention on %s: retry the job to make it again, if its inputs are still there", job.ID, at.Format(time.DateOnly))
	}
	path := out
	if info, err := os.Stat(out); err == nil && info.IsDir() {
		path = filepath.Join(out, baseName(job))
	}
	if err := checkFolder(path); err != nil {
		return "", err
	}
	line.transfer("downloading", job.Artifact.Bytes)
	goesOn := func(held int64) { line.goesOn("download", held) }
	if err := client.ResumeDownload(ctx, job, path, force, goesOn, line.add); err != nil {
		return "", err
	}
	return path, nil
}

// noteExtension warns of a file that is not what its name says.
func noteExtension(w io.Writer, job *api.Job, path string) {
	is, says := filepath.Ext(baseName(job)), filepath.Ext(path)
	if says != "" && !strings.EqualFold(is, says) {
		fmt.Fprintf(w, "Note: %s is named %s but is a %s file; rename it, or some programs will not open it.\n", clean(path), clean(says), clean(is))
	}
}

// baseName is the output's name with every way out of the folder removed: it
// comes from elsewhere.
func baseName(job *api.Job) string {
	name := job.Artifact.Name
	name = clean(name[strings.LastIndexAny(name, `/\`)+1:])
	if name == "" || name == "." || name == ".." {
		return job.ID
	}
	return name
}
