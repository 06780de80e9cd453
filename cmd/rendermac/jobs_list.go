package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rendermac/api"
	"rendermac/config"
)

// jobsQuery is what `rendermac jobs list` was asked for.
type jobsQuery struct {
	api.JobQuery
	labels       []string
	since, until string
	all          bool
}

func jobsListCommand(g *globals) *cobra.Command {
	q := &jobsQuery{}
	cmd := withJSON(&cobra.Command{
		Use:   "list",
		Short: "List jobs, newest first",
		Long:  "Lists jobs, the newest first. A job is listed if it fits all the flags.",
		Example: "  rendermac jobs list --status queued,active\n  rendermac jobs list --label client=acme --since 2026-12-01 --all\n" +
			"  rendermac jobs list --query interview --json",
		Args: cobra.NoArgs,
		RunE: g.asking(q.run),
	})
	f := cmd.Flags()
	f.StringVar(&q.Status, "status", "", "only these, with commas between: queued, active, verifying, cancelling, succeeded, failed, cancelled")
	f.StringVar(&q.Service, "service", "", "only jobs of this service")
	f.StringVar(&q.Account, "account", "", "only jobs of this account, by id or name")
	f.StringVar(&q.Device, "device", "", "only jobs that this device has run or runs, by id or name")
	f.StringArrayVar(&q.labels, "label", nil, "only jobs with this label, key=value (may be repeated: all must match)")
	f.StringVar(&q.Query, "query", "", "only jobs with this in the output's name, an input's name or a label's value, or at the start of their id")
	f.StringVar(&q.since, "since", "", "only jobs made since then: 2026-12-01, 2026-12-01T08:00:00Z, or 24h or 7d for as long ago")
	f.StringVar(&q.until, "until", "", "only jobs made before then, written as for --since")
	f.IntVar(&q.Limit, "limit", 50, "how many at most")
	f.BoolVar(&q.all, "all", false, "all of them, however many there are")
	return cmd
}

func (q *jobsQuery) run(cmd *cobra.Command, client *api.Client, _ []string) error {
	if err := q.check(); err != nil {
		return err
	}
	if err := q.find(cmd.Context(), client); err != nil {
		return err
	}
	list, err := client.Jobs(cmd.Context(), q.JobQuery)
	if err != nil {
		return err
	}
	return show(cmd, list, func(w io.Writer) error {
		if list.NextCursor != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "These are the newest %d; more with --limit or --all.\n", len(list.Items))
		}
		if len(list.Items) == 0 {
			_, err := fmt.Fprintln(w, q.none())
			return err
		}
		return printJobs(w, list.Items)
	})
}

// find takes an account or a device by its name as well.
func (q *jobsQuery) find(ctx context.Context, client *api.Client) (err error) {
	if q.Account != "" {
		if q.Account, err = accountID(ctx, client, q.Account); err != nil {
			return err
		}
	}
	if q.Device != "" {
		q.Device, err = client.FindDevice(ctx, q.Device)
	}
	return err
}

// check reads the flags that are more than text.
func (q *jobsQuery) check() (err error) {
	if q.Limit < 1 {
		return usagef("--limit must be at least 1")
	}
	if q.all {
		q.Limit = 0
	}
	for _, label := range q.labels {
		key, value, ok := strings.Cut(label, "=")
		if !ok || key == "" {
			return usagef("--label must be key=value")
		}
		q.Labels = append(q.Labels, key+":"+value)
	}
	if q.Since, err = momentAgo("--since", q.since); err != nil {
		return err
	}
	q.Until, err = momentAgo("--until", q.until)
	return err
}

// momentAgo is a time as people write it; none where there is no text.
func momentAgo(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := config.ParseDuration(text); err == nil && ago >= 0 {
		return time.Now().Add(-ago), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateTime, time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usagef("%s must be a day as 2026-12-01, a time as 2026-12-01T08:00:00Z, or how long ago, as 24h or 7d", flag)
}

// none says that nothing was found, and why that may be.
func (q *jobsQuery) none() string {
	switch all := q.Status + q.Service + q.Account + q.Device + q.Query + q.since + q.until + strings.Join(q.labels, ""); all {
	case "":
		return "No jobs yet. Submit the first one: rendermac submit FILE"
	case q.Status:
		return "No jobs with status " + clean(q.Status) + "."
	}
	return "No job matches."
}
