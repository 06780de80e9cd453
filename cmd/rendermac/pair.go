package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"rendermac/agent"
	"rendermac/agentproto"
	"rendermac/api"
	"rendermac/config"
)

func pairCommand(g *globals) *cobra.Command {
	var name string
	var force bool
	cmd := &cobra.Command{
		Use:   "pair URL CODE",
		Short: "Pair this machine with a server",
		Long: "Pairs this machine with the server at URL and keeps the device token in the data directory.\n" +
			"The code comes from `rendermac devices pair` on the server.",
		Example: "  rendermac pair http://192.168.1.20:7420 K7QD-2MXP",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.config(nil)
			if err != nil {
				return err
			}
			server, err := serverURL(args[0])
			if err != nil {
				return err
			}
			if old, err := loadPairing(c.Data); err == nil && !force {
				return fmt.Errorf("this machine is paired already, with %s as %s: pass --force to pair it anew, or another --data for a second agent", clean(old.URL), clean(old.DeviceID))
			}
			p, err := pair(cmd.Context(), c, server, args[1], cmp.Or(name, hostName()))
			if err != nil {
				return err
			}
			work := "rendermac agent"
			if g.data != "" {
				work += " --data " + shellWord(g.data)
			}
			_, err = fmt.Fprintf(cmd.ErrOrStderr(), "Paired with %s as %s. Start working: %s\n", clean(p.URL), clean(p.DeviceID), clean(work))
			return err
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "what to call this machine (default its host name)")
	cmd.Flags().BoolVar(&force, "force", false, "forget the pairing that this machine has")
	return cmd
}

// pair redeems a code and keeps the token.
func pair(ctx context.Context, c *config.Config, server, code, name string) (*pairing, error) {
	slot, err := reservePairing(c.Data)
	if err != nil {
		return nil, err
	}
	defer slot.drop()
	facts := agent.Facts(ctx, agent.Options{WorkDir: c.Data}) // what its ffmpeg can do, the agent says in hello
	answer, err := api.NewClient(server, "", version).Pair(ctx, api.PairRequest{Code: code, Name: name, Device: machine(facts)})
	var refused *api.Error
	if errors.As(err, &refused) && refused.Code == api.CodeBadCode {
		return nil, errors.New("the server does not take this code: make a new one with rendermac devices pair")
	}
	var silent *api.Unreachable
	if errors.As(err, &silent) {
		return nil, fmt.Errorf("no server answers at %s (%w): check the address, as the server's start prints it; 127.0.0.1 is this machine itself", server, silent.Cause)
	}
	if err != nil {
		return nil, err
	}
	p := pairing{URL: server, DeviceID: answer.DeviceID, DeviceName: name, DeviceToken: answer.DeviceToken}
	return &p, slot.save(p)
}

func machine(d agentproto.Device) api.Machine {
	return api.Machine{
		Platform: d.Platform, Arch: d.Arch, Model: d.Model, OSVersion: d.OSVersion, CPUs: d.CPUs,
		MemoryBytes: d.MemoryBytes, FreeDiskBytes: d.FreeDiskBytes, Encoders: d.Encoders, Features: d.Features,
	}
}

func serverURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", usagef("the server's URL must be like http://192.168.1.20:7420, not %q", text)
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// hostName is this machine's name without its domain.
func hostName() string {
	name, _ := os.Hostname()
	name, _, _ = strings.Cut(name, ".")
	return cmp.Or(name, "device")
}
