package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"rendermac/agent"
	"rendermac/config"
)

func agentCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "agent",
		Short: "Work for the server that this machine is paired with",
		Long: "Runs jobs for the server that this machine is paired with, until it is stopped.\n" +
			"It reconnects by itself, and stops only where that would change nothing.",
		Example: "  rendermac pair http://192.168.1.20:7420 K7QD-2MXP\n  rendermac agent",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := g.config(nil)
			if err != nil {
				return err
			}
			p, err := loadPairing(c.Data)
			if err != nil {
				return err
			}
			options, err := agentOptions(c, p)
			if err != nil {
				return err
			}
			slog.Info("starting", "server", p.URL)
			return agent.Run(cmd.Context(), options)
		},
	}
}

func agentOptions(c *config.Config, p *pairing) (agent.Options, error) {
	o := agent.Options{
		DataDir: c.Data, WorkDir: c.Agent.WorkDir, Cache: c.Agent.Cache, Slots: c.Agent.Slots, Stall: c.Agent.Stall,
		Remotion: agent.Remotion(c.Agent.Remotion), SharedRoots: map[string]string{}, Version: version, Log: slog.Default(),
	}
	for name, root := range c.SharedRoots {
		o.SharedRoots[name] = root.Path
	}
	if p != nil {
		o.URL, o.Token = p.URL, p.DeviceToken
	}
	var err error
	o.FFmpeg, o.FFprobe, err = findFFmpeg(c)
	return o, err
}

// ownPairing is the pairing of the agent that runs in the server's own process:
// the one of its data directory if it is this server's, else a new one.
func ownPairing(ctx context.Context, p *plant, c *config.Config, o *agent.Options) error {
	o.URL = p.url
	if have, err := loadPairing(c.Data); err == nil {
		known, err := p.db.KnowsToken(ctx, have.DeviceToken)
		if err != nil {
			return err
		}
		if o.Token = have.DeviceToken; known {
			return nil
		}
		if have.URL != p.url {
			return fmt.Errorf("this data directory is paired with %s: run the agent with another --data", have.URL)
		}
	}
	code, err := p.db.CreatePairing(ctx, hostName())
	if err != nil {
		return err
	}
	paired, err := pair(ctx, c, p.url, code.Code, hostName())
	if err != nil {
		return err
	}
	o.Token = paired.DeviceToken
	return nil
}
