package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rendermac/api"
)

// askingOf is asking about the one device that a person has named, by id or by
// its whole name.
func (g *globals) askingOf(work func(cmd *cobra.Command, client *api.Client, id string) error) func(*cobra.Command, []string) error {
	return g.asking(func(cmd *cobra.Command, client *api.Client, args []string) error {
		id, err := client.FindDevice(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return work(cmd, client, id)
	})
}

func devicesShowCommand(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:     "show ID|NAME",
		Short:   "Show a device",
		Example: "  rendermac devices show studio-2",
		Args:    cobra.ExactArgs(1),
		RunE: g.askingOf(func(cmd *cobra.Command, client *api.Client, id string) error {
			d, err := client.Device(cmd.Context(), id)
			if err != nil {
				return err
			}
			return show(cmd, d, func(w io.Writer) error { return printDevice(w, d) })
		}),
	})
}

func devicesDrainCommand(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:     "drain ID|NAME",
		Short:   "Give a device no more work; what it runs goes on",
		Example: "  rendermac devices drain studio-2",
		Args:    cobra.ExactArgs(1),
		RunE:    g.draining(true, "%s takes no more work; what it runs goes on. Undo: rendermac devices resume %s\n"),
	})
}

func devicesResumeCommand(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:     "resume ID|NAME",
		Short:   "Give a drained device work again",
		Example: "  rendermac devices resume studio-2",
		Args:    cobra.ExactArgs(1),
		RunE:    g.draining(false, "%s takes work again. Undo: rendermac devices drain %s\n"),
	})
}

func (g *globals) draining(drain bool, said string) func(*cobra.Command, []string) error {
	return g.askingOf(func(cmd *cobra.Command, client *api.Client, id string) error {
		d, err := client.ChangeDevice(cmd.Context(), id, api.DeviceChange{Draining: &drain})
		if err != nil {
			return err
		}
		return show(cmd, d, func(io.Writer) error {
			_, err := fmt.Fprintf(cmd.ErrOrStderr(), said, clean(d.Name), d.ID)
			return err
		})
	})
}

func devicesSetCommand(g *globals) *cobra.Command {
	var name, slots string
	var tags []string
	cmd := withJSON(&cobra.Command{
		Use:     "set ID|NAME",
		Short:   "Name a device, set its slots and tags",
		Long:    "Sets what is given and leaves the rest. Fewer slots count at once; more than the agent has free, when it next connects.",
		Example: "  rendermac devices set studio-2 --slots 2 --tags hdr,studio-b\n  rendermac devices set studio-2 --slots auto --tags ''",
		Args:    cobra.ExactArgs(1),
	})
	cmd.Flags().StringVar(&name, "name", "", "what to call it")
	cmd.Flags().StringVar(&slots, "slots", "", "how many jobs at once; auto leaves it to the agent")
	cmd.Flags().StringSliceVar(&tags, "tags", nil, "all its tags, with commas between; '' is none")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		given := cmd.Flags().Changed
		var change api.DeviceChange
		if given("name") {
			change.Name = &name
		}
		if given("tags") {
			change.Tags = new(append([]string{}, tags...))
		}
		if given("slots") {
			n, err := slotsOf(slots)
			if err != nil {
				return err
			}
			change.Slots = &n
		}
		if change == (api.DeviceChange{}) {
			return usagef("say what to set: --name, --slots or --tags")
		}
		return g.askingOf(func(cmd *cobra.Command, client *api.Client, id string) error {
			d, err := client.ChangeDevice(cmd.Context(), id, change)
			if err != nil {
				return err
			}
			return show(cmd, d, func(w io.Writer) error { return printDevice(w, d) })
		})(cmd, args)
	}
	return cmd
}

// slotsOf is nil for auto.
func slotsOf(text string) (*int, error) {
	if text == "auto" {
		return nil, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return nil, usagef("--slots must be a number from 0, or auto")
	}
	return &n, nil
}

func printDevice(w io.Writer, d *api.Device) error {
	rows := [][]string{
		{"name", d.Name},
		{"state", d.State},
		{"busy", busyOf(*d)},
		{"services", strings.Join(d.Services, " ")},
	}
	if d.Slots != nil { // an admin sees the rest
		rows = append(rows, []string{"tags", strings.Join(d.Tags, " ")}, []string{"seen", ago(time.Now(), d.LastSeenAt)})
	}
	return printTable(w, []string{"id", d.ID}, rows)
}

func devicesRevokeCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:     "revoke ID|NAME",
		Short:   "End a device's pairing for good",
		Long:    "Ends a device's pairing. Its connection closes, its runs go to other devices, and its token never works again.",
		Example: "  rendermac devices revoke studio-2",
		Args:    cobra.ExactArgs(1),
		RunE: g.askingOf(func(cmd *cobra.Command, client *api.Client, id string) error {
			if err := client.RevokeDevice(cmd.Context(), id); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.ErrOrStderr(), "%s is revoked.\n", clean(id))
			return err
		}),
	}
}
