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
		Short:   "List, pair and revoke devices",
		Example: "  rendermac devices\n  rendermac devices pair --name studio-2",
	}, devicesListCommand(g), devicesPairCommand(g), devicesRevokeCommand(g))
}

func devicesListCommand(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:     "list",
		Short:   "List the paired devices",
		Example: "  rendermac devices list --json",
		Args:    cobra.NoArgs,
		RunE: g.asking(func(cmd *cobra.Command, client *api.Client, _ []string) error {
			devices, err := client.Devices(cmd.Context())
			if err != nil {
				return err
			}
			return show(cmd, api.List[api.Device]{Items: devices}, func(w io.Writer) error { return printDevices(w, devices) })
		}),
	})
}

func printDevices(w io.Writer, devices []api.Device) error {
	if len(devices) == 0 {
		_, err := fmt.Fprintln(w, "No devices yet. Pair the first one: rendermac devices pair")
		return err
	}
	var rows [][]string
	for _, d := range devices {
		busy := strconv.Itoa(d.Busy)
		if d.Slots != nil {
			busy += " of " + strconv.Itoa(*d.Slots)
		}
		rows = append(rows, []string{d.ID, d.Name, d.State, busy, strings.Join(d.Services, " "), ago(time.Now(), d.LastSeenAt)})
	}
	return printTable(w, []string{"ID", "NAME", "STATE", "BUSY", "SERVICES", "SEEN"}, rows)
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

func devicesRevokeCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:     "revoke ID",
		Short:   "End a device's pairing for good",
		Long:    "Ends a device's pairing. Its connection closes, its runs go to other devices, and its token never works again.",
		Example: "  rendermac devices revoke dev_01kbd3m8q5w9x2c7e4r6t8y0za",
		Args:    cobra.ExactArgs(1),
		RunE: g.asking(func(cmd *cobra.Command, client *api.Client, args []string) error {
			if err := client.RevokeDevice(cmd.Context(), args[0]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.ErrOrStderr(), "%s is revoked.\n", clean(args[0]))
			return err
		}),
	}
}
