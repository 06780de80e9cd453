package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"rendermac/agent"
	"rendermac/config"
)

func serveCommand(g *globals) *cobra.Command {
	var listen, publicURL string
	var withAgent bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: "Runs the server on its data directory. The first start makes the database and an admin key\n" +
			"(admin.key in the data directory), and on a terminal prints a link that signs in to the dashboard.\n" +
			"Once it is ready it logs msg=listening with its address.",
		Example: "  rendermac serve --with-agent\n  rendermac serve --listen 0.0.0.0:7420",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			flags := map[string]string{}
			if cmd.Flags().Changed("listen") {
				flags["listen"] = listen
			}
			if cmd.Flags().Changed("public-url") {
				flags["public_url"] = publicURL
			}
			c, err := g.config(flags)
			if err != nil {
				return err
			}
			return serve(cmd.Context(), c, withAgent, cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "", "the address to listen on; port 0 takes a free one (default 127.0.0.1:7420)")
	cmd.Flags().StringVar(&publicURL, "public-url", "", "how agents and clients reach this server, if not as they connect")
	cmd.Flags().BoolVar(&withAgent, "with-agent", false, "also run an agent in this process")
	return cmd
}

// serve runs until ctx ends or something breaks.
func serve(ctx context.Context, c *config.Config, withAgent bool, out io.Writer) error {
	log := slog.Default()
	var options agent.Options
	if withAgent {
		var err error
		if options, err = agentOptions(c, nil); err != nil {
			return err
		}
	}
	p, err := startPlant(ctx, c, log)
	if err != nil {
		return err
	}
	defer p.stop()
	working := make(chan error, 1)
	agentCtx, leave := context.WithCancel(ctx)
	defer leave()
	if withAgent {
		if err := ownPairing(ctx, p, c, &options); err != nil {
			return err
		}
		go func() { working <- agent.Run(agentCtx, options) }()
	}
	log.Info("listening", "addr", p.addr)
	welcome(ctx, out, p, c)
	select {
	case <-ctx.Done():
		err = nil
	case err = <-p.failed:
	case err = <-working:
		withAgent = false
	}
	if withAgent {
		leave()
		err = errors.Join(err, <-working)
	}
	log.Info("stopping")
	return err
}

// welcome tells a person what to do next; a log file is spared it, and with it a
// link that signs in.
func welcome(ctx context.Context, out io.Writer, p *plant, c *config.Config) {
	if p.wideURL != "" {
		fmt.Fprintf(out, "Other Macs pair with %s\n", p.wideURL)
		if c.TLS.Cert == "" && c.PublicURL == "" {
			slog.Warn("without TLS, keys and device tokens cross the network in clear", "set", "tls.cert, tls.key")
		}
	}
	if f, ok := out.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
		greet(ctx, out, p, c)
	}
}

func greet(ctx context.Context, out io.Writer, p *plant, c *config.Config) {
	open := "Open the dashboard with a link from: rendermac dashboard"
	if p.adminKey != "" {
		fmt.Fprintf(out, "A new admin key is in %s/admin.key; commands on this machine find it.\n", c.Data)
		if link, err := p.signIn(ctx, c); err == nil {
			open = "Open the dashboard within 15 minutes, signed in: " + link + "\nThis link works once; rendermac dashboard makes another."
		}
	}
	fmt.Fprintf(out, "RenderMac serves at %s. Pair a Mac with: rendermac devices pair\n%s\n", p.url, open)
}

// otherMacs is the address that other machines reach, where the server listens
// on more than loopback.
func otherMacs(addr string) string {
	at, err := netip.ParseAddrPort(addr)
	switch {
	case err != nil || at.Addr().IsLoopback():
		return ""
	case !at.Addr().IsUnspecified():
		return addr
	}
	addrs, _ := net.InterfaceAddrs() // none found is none said
	for _, a := range addrs {
		prefix, err := netip.ParsePrefix(a.String())
		if err == nil && prefix.Addr().Is4() && !prefix.Addr().IsLoopback() && !prefix.Addr().IsLinkLocalUnicast() {
			return netip.AddrPortFrom(prefix.Addr(), at.Port()).String()
		}
	}
	return ""
}
