package main

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"rendermac/api"
	"rendermac/config"
	"rendermac/media"
)

// globals are the flags that every command has.
type globals struct {
	file, data          string
	logLevel, logFormat string
	server              config.ClientFlags
	begun               bool // the command line was understood: what fails now is no wrong usage
}

func newRoot(g *globals) *cobra.Command {
	root := &cobra.Command{
		Use:           "rendermac",
		Short:         "Named media services on Macs you own, fenced",
		Long:          "RenderMac runs named media services, such as transcodes, on paired Macs, and\npublishes only results that it has verified.",
		Example:       "  rendermac submit interview.mov --preset web-1080p --wait -o interview-web.mp4\n  rendermac jobs",
		Version:       version,
		SilenceErrors: true, SilenceUsage: true,
		DisableSuggestions: true, // one sentence an error
		Args:               cobra.NoArgs,
		RunE:               func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE:  func(*cobra.Command, []string) error { return g.begin() },
	}
	flags := root.PersistentFlags()
	flags.StringVar(&g.file, "config", "", "the config file (default config.yaml in the data directory)")
	flags.StringVar(&g.data, "data", "", "the data directory (default RENDERMAC_DATA, else the platform's own place)")
	flags.StringVar(&g.logLevel, "log-level", "info", "debug, info, warn or error")
	flags.StringVar(&g.logFormat, "log-format", "text", "text or json")
	flags.StringVar(&g.server.URL, "url", "", "the server that client commands speak to (default RENDERMAC_URL, else the one on this machine)")
	flags.StringVar(&g.server.Key, "key", "", "the API key for it (default RENDERMAC_API_KEY); other users of this machine can see flags")
	root.AddCommand(commands(g)...)
	withCompletion(root)
	g.completions(root)
	return root
}

// begin runs before each command, once its flags and arguments are in order.
func (g *globals) begin() error {
	log, err := g.logger()
	if err != nil {
		return err
	}
	slog.SetDefault(log)
	for _, sentence := range config.Strays(g.options().Services) {
		log.Warn(sentence)
	}
	g.begun = true
	return nil
}

func (g *globals) logger() (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(g.logLevel)); err != nil {
		return nil, usagef("--log-level must be debug, info, warn or error")
	}
	options := &slog.HandlerOptions{Level: level}
	switch g.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(os.Stderr, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(os.Stderr, options)), nil
	}
	return nil, usagef("--log-format must be text or json")
}

func (g *globals) options() config.Options {
	o := config.Options{File: g.file, Data: g.data, Preset: presetChecker()}
	for _, service := range media.All() {
		o.Services = append(o.Services, service.Name)
	}
	return o
}

// config is the effective config, with these flags of the command on top.
func (g *globals) config(flags map[string]string) (*config.Config, error) {
	o := g.options()
	o.Flags = flags
	return config.Load(o)
}

// client speaks to the server that flags, environment or files name.
func (g *globals) client() (*api.Client, error) {
	server, err := config.FindServer(g.server, g.options())
	if err != nil {
		return nil, err
	}
	if server.Key == "" {
		return nil, fmt.Errorf("there is no API key for %s: copy the key from admin.key in the server's data directory into RENDERMAC_API_KEY, or pass --key", server.URL)
	}
	return api.NewClient(server.URL, server.Key, version), nil
}

// withCompletion adds the scripts that make a shell complete on Tab.
func withCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	cmd, _, _ := root.Find([]string{"completion"}) // just added
	cmd.Short = "Print a script that completes commands, ids and presets in your shell"
	cmd.Long = "Prints a completion script. Ids, accounts, services and presets are asked of the server as you press Tab."
	cmd.Example = "  source <(rendermac completion bash)\n  rendermac completion zsh > \"${fpath[1]}/_rendermac\""
	for _, shell := range cmd.Commands() {
		shell.Short = "For " + shell.Name() + "; --help says where to put it"
		shell.Example = "  rendermac completion " + shell.Name()
	}
}
