package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"rendermac/api"
)

func statsCommand(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:     "stats",
		Short:   "Show the queue, and how the last 24 hours went",
		Long:    "Shows the queue by service, how long jobs waited and ran, and how busy the devices are. An admin key sees all accounts, any other its own.",
		Example: "  rendermac stats\n  rendermac stats --json",
		Args:    cobra.NoArgs,
		RunE: g.asking(func(cmd *cobra.Command, client *api.Client, _ []string) error {
			stats, err := client.Stats(cmd.Context())
			if err != nil {
				return err
			}
			return show(cmd, stats, func(w io.Writer) error { return printStats(w, stats) })
		}),
	})
}

func printStats(w io.Writer, s *api.Stats) error {
	queue := [][]string{depthRow("all", s.Queue.Depth)}
	for _, q := range s.Queue.Services {
		queue = append(queue, depthRow(q.Service, q.Depth))
	}
	times := [][]string{timesRow("wait", s.Wait), timesRow("run", s.Run), timesRow("verify", s.Verify)}
	var devices [][]string
	for _, d := range s.Devices {
		devices = append(devices, loadRow(d))
	}
	day := api.Hour{}
	for _, h := range s.Hours {
		day.Submitted, day.Succeeded, day.Failed, day.Cancelled = day.Submitted+h.Submitted, day.Succeeded+h.Succeeded, day.Failed+h.Failed, day.Cancelled+h.Cancelled
	}
	for _, table := range []struct {
		head []string
		rows [][]string
	}{
		{[]string{"QUEUE", "QUEUED", "ACTIVE", "VERIFYING", "CANCELLING"}, queue},
		{[]string{"TIME", "JOBS", "P50", "P90", "P99"}, times},
		{[]string{"DEVICE", "NAME", "STATE", "BUSY", "LAST 24 H"}, devices},
	} {
		if len(table.rows) == 0 {
			continue
		}
		if err := printTable(w, table.head, table.rows); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	_, err := fmt.Fprintf(w, "Last 24 h: %d submitted, %d succeeded, %d failed, %d cancelled.\n", day.Submitted, day.Succeeded, day.Failed, day.Cancelled)
	return err
}

func depthRow(name string, d api.Depth) []string {
	return []string{name, strconv.Itoa(d.Queued), strconv.Itoa(d.Active), strconv.Itoa(d.Verifying), strconv.Itoa(d.Cancelling)}
}

func timesRow(name string, p api.Percentiles) []string {
	row := []string{name, strconv.Itoa(p.Jobs)}
	for _, seconds := range []*float64{p.P50, p.P90, p.P99} {
		text := "–"
		if seconds != nil {
			text = fmt.Sprintf("%.1f s", *seconds)
		}
		row = append(row, text)
	}
	return row
}

func loadRow(d api.DeviceLoad) []string {
	busy, share := strconv.Itoa(d.Busy), "–"
	if d.Slots != nil {
		busy += "/" + strconv.Itoa(*d.Slots)
	}
	if d.BusyShare != nil {
		share = fmt.Sprintf("%.0f %%", *d.BusyShare*100)
	}
	return []string{d.ID, d.Name, d.State, busy, share}
}
