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

func devicesCommand(g *globals) *cobra.Command {
	return listing(&cobra.Command{
		Use:     "devices",
		Short:   "List, show, pair, drain, resume, set and revoke devices",
		Example: "  rendermac devices\n  rendermac devices pair --name studio-2\n  rendermac devices drain studio-2",
	}, devicesListCommand(g), devicesShowCommand(g), devicesPairCommand(g), devicesDrainCommand(g), devicesResumeCommand(g),
		devicesSetCommand(g), devicesRevokeCommand(g))
}

func devicesListCommand(g *globals) *cobra.Command {
	var states []string
	cmd := withJSON(&cobra.Command{
		Use:     "list",
		Short:   "List the paired devices",
		Example: "  rendermac devices list --json\n  rendermac devices list --state revoked",
		Args:    cobra.NoArgs,
		RunE: g.asking(func(cmd *cobra.Command, client *api.Client, _ []string) error {
			devices, err := client.Devices(cmd.Context(), states...)
			if err != nil {
				return err
			}
			return show(cmd, api.List[api.Device]{Items: devices}, func(w io.Writer) error { return printDevices(w, devices, states) })
		}),
	})
	cmd.Flags().StringSliceVar(&states, "state", nil, "only these, with commas between: online, offline, draining, revoked (default all but revoked)")
	return cmd
}

func printDevices(w io.Writer, devices []api.Device, states []string) error {
	switch {
	case len(devices) == 0 && len(states) > 0:
		_, err := fmt.Fprintf(w, "No device is %s.\n", clean(strings.Join(states, " or ")))
		return err
	case len(devices) == 0:
		_, err := fmt.Fprintln(w, "No devices yet. Pair the first one: rendermac devices pair")
		return err
	}
	rows := [][]string{{"ID", "NAME", "STATE", "BUSY", "SERVICES", "SEEN"}}
	for _, d := range devices {
		rows = append(rows, []string{d.ID, d.Name, d.State, busyOf(d), strings.Join(d.Services, " "), ago(time.Now(), d.LastSeenAt)})
	}
	fit(rows, 1, len(rows[0]), widthOf(w))
	return printTable(w, rows[0], rows[1:])
}

func busyOf(d api.Device) string {
	if d.Slots == nil {
		return strconv.Itoa(d.Busy)
	}
	return fmt.Sprintf("%d of %d", d.Busy, *d.Slots)
}

func devicesPairCommand(g *globals) *cobra.Command {
	var name string
	cmd := withJSON(&cobra.Command{
		Use:     "pair",
		Short:   "Make a code that pairs one device",
		Long:    "Makes a pairing code and prints the command to type on the device, within ten minutes and once.",
		Example: "  rendermac devices pair --name studio-2",
		Args:    cobra.NoArgs,
		RunE: g.asking(func(cmd *cobra.Command, client *api.Client, _ []string) error {
			request := api.PairingRequest{}
			if name != "" {
				request.Name = &name
			}
			pairing, err := client.CreatePairing(cmd.Context(), request)
			if err != nil {
				return err
			}
			return show(cmd, pairing, func(w io.Writer) error {
				fmt.Fprintf(cmd.ErrOrStderr(), "Type this on the device before %s; it works once:\n", pairing.ExpiresAt.Local().Format("15:04"))
				_, err := fmt.Fprintln(w, clean(pairing.Command))
				return err
			})
		}),
	})
	cmd.Flags().StringVar(&name, "name", "", "what to call the device (default its own name)")
	return cmd
}
