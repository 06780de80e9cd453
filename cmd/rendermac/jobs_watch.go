package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rendermac/api"
)

func jobsWatchCommand(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "watch [ID]",
		Short: "Follow a job until it has ended, or everything that happens",
		Long: "With an ID it shows how that job goes on, and ends with it: the exit code is 3 if it failed, 4 if it\n" +
			"was cancelled. Without one it prints every event as it comes, a line each, until Ctrl-C.\n" +
			"With --json each event is one line of JSON. A server that restarts meanwhile is waited for.",
		Example: "  rendermac jobs watch job_01kbd3m8q5w9x2c7e4r6t8y0za\n  rendermac jobs watch --json",
		Args:    cobra.MatchAll(cobra.MaximumNArgs(1), jobIDs),
		RunE:    g.asking(watch),
	})
}

func watch(cmd *cobra.Command, client *api.Client, args []string) error {
	id := strings.Join(args, "")
	if id != "" && !asJSON(cmd) {
		return watchJob(cmd, client, id)
	}
	out := cmd.OutOrStdout()
	err := client.Events(cmd.Context(), id, func(e *api.Event) error {
		if asJSON(cmd) {
			return json.NewEncoder(out).Encode(e)
		}
		return printEvent(out, e)
	})
	switch {
	case interrupted(cmd.Context(), err) && id == "": // the way to end it
		return nil
	case interrupted(cmd.Context(), err):
		return errNotWatched
	case err != nil || id == "":
		return err
	}
	job, err := client.Job(cmd.Context(), id)
	if err != nil {
		return err
	}
	return (&outcome{file: id, job: job}).fault()
}

var errNotWatched = errors.New("interrupted; the job goes on")

// watchJob tells the story of one job.
func watchJob(cmd *cobra.Command, client *api.Client, id string) error {
	o := &outcome{file: id}
	board := newBoard(cmd.ErrOrStderr(), 1)
	line := board.line(id)
	o.job, o.err = client.Wait(cmd.Context(), id, func(now *api.Job) { line.follow(now, "") }, line.waits)
	if o.err != nil {
		line.end("not watched any more", false)
		board.close()
		if interrupted(cmd.Context(), o.err) {
			return errNotWatched
		}
		return o.err
	}
	line.end(o.job.Status, o.job.Status == api.JobSucceeded)
	board.close()
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", clean(id), clean(o.job.Status)); err != nil {
		return err
	}
	return o.fault()
}

// printEvent is when, what, whose, and what more there is to say.
func printEvent(w io.Writer, e *api.Event) error {
	parts := []string{stamp(&e.At), fmt.Sprintf("%-19s", e.Type)}
	for _, id := range []*string{e.JobID, e.AttemptID, e.DeviceID} {
		if id != nil {
			parts = append(parts, *id)
		}
	}
	var data map[string]any
	_ = json.Unmarshal(e.Data, &data) // what cannot be read has nothing to say
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if data[key] != nil {
			parts = append(parts, fmt.Sprintf("%s=%v", key, data[key]))
		}
	}
	if e.Type == api.EventReset {
		parts = append(parts, "events may have been missed")
	}
	_, err := fmt.Fprintln(w, strings.TrimRight(clean(strings.Join(parts, " ")), " "))
	return err
}
