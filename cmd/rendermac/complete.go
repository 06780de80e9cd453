package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"rendermac/api"
)

// completionTime bounds what a shell waits for after Tab.
const completionTime = 2 * time.Second

// words are what can stand in one place of a command line. They may be asked of
// the server; one that does not answer has none, silently.
type words func(context.Context, *api.Client, *cobra.Command) []cobra.Completion

// argumentWords are by group of commands and by the word in their usage.
var argumentWords = map[string]words{
	"jobs ID": jobWords, "jobs ID N": jobWords, "devices ID|NAME": deviceWords, "keys ID": keyWords, "accounts ACCOUNT": accountWords, "rendermac NAME": serviceWords,
}

var flagWords = map[string]words{
	"service": serviceWords, "preset": presetWords, "device": deviceWords, "account": accountWords,
	"scope": fixed(scopes...), "webhook-event": fixed(webhookEvents...),
	"status":    fixed(api.JobQueued, api.JobActive, api.JobVerifying, api.JobCancelling, api.JobSucceeded, api.JobFailed, api.JobCancelled),
	"log-level": fixed("debug", "info", "warn", "error"), "log-format": fixed("text", "json"),
}

// completions gives every command its completion: what it takes for arguments is
// in its usage, and a flag means the same everywhere.
func (g *globals) completions(cmd *cobra.Command) {
	name, usage, _ := strings.Cut(cmd.Use, " ")
	if cmd.HasParent() {
		name = cmd.Parent().Name()
	}
	word := strings.Trim(usage, "[]…")
	if of, ok := argumentWords[name+" "+word]; ok {
		many := strings.HasSuffix(usage, "…")
		cmd.ValidArgsFunction = g.completing(func(args []string) bool { return many || len(args) == 0 }, of)
	} else if usage == "" {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, flags := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
		flags.VisitAll(func(f *pflag.Flag) {
			if of, ok := flagWords[f.Name]; ok {
				always := func([]string) bool { return true }
				_ = cmd.RegisterFlagCompletionFunc(f.Name, g.completing(always, of)) // a group shares its list's flags: the second time is refused
			}
		})
	}
	for _, sub := range cmd.Commands() {
		g.completions(sub)
	}
}

func (g *globals) completing(room func(args []string) bool, of words) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if !room(args) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, stop := context.WithTimeout(cmd.Context(), completionTime)
		defer stop()
		client, err := g.client()
		if err != nil {
			client = api.NewClient("http://127.0.0.1:0", "", version) // answers nothing; fixed words need none
		}
		before := begun[:strings.LastIndex(begun, ",")+1] // of a list with commas
		var fit []cobra.Completion
		for _, word := range of(ctx, client, cmd) {
			id, _, _ := strings.Cut(word, "\t")
			if strings.HasPrefix(before+id, begun) && !slices.Contains(args, id) {
				fit = append(fit, before+word)
			}
		}
		return fit, cobra.ShellCompDirectiveNoFileComp
	}
}

func fixed(all ...string) words {
	return func(context.Context, *api.Client, *cobra.Command) []cobra.Completion { return all }
}

// described is a word with what a shell shows beside it.
func described(word, what string) cobra.Completion {
	return cobra.CompletionWithDesc(clean(word), clean(what))
}

func jobWords(ctx context.Context, client *api.Client, _ *cobra.Command) (all []cobra.Completion) {
	page, err := client.Jobs(ctx, api.JobQuery{Limit: 50})
	if err != nil {
		return nil
	}
	for _, j := range page.Items {
		all = append(all, described(j.ID, j.Status+" "+orDash(j.OutputName)))
	}
	return all
}

func deviceWords(ctx context.Context, client *api.Client, _ *cobra.Command) (all []cobra.Completion) {
	devices, _ := client.Devices(ctx) // none, where it fails
	for _, d := range devices {
		all = append(all, described(d.ID, d.Name+", "+d.State))
	}
	return all
}

func keyWords(ctx context.Context, client *api.Client, _ *cobra.Command) (all []cobra.Completion) {
	keys, _ := client.Keys(ctx)
	for _, k := range keys {
		if k.RevokedAt == nil {
			all = append(all, described(k.ID, k.Name+", "+k.Scope))
		}
	}
	return all
}

func accountWords(ctx context.Context, client *api.Client, _ *cobra.Command) (all []cobra.Completion) {
	accounts, _ := client.Accounts(ctx)
	for _, a := range accounts {
		all = append(all, described(a.Name, a.ID))
	}
	return all
}

func serviceWords(ctx context.Context, client *api.Client, _ *cobra.Command) (all []cobra.Completion) {
	services, _ := client.Services(ctx)
	for _, s := range services {
		all = append(all, described(s.Name, s.Title))
	}
	return all
}

// presetWords are the presets of the service that --service names.
func presetWords(ctx context.Context, client *api.Client, cmd *cobra.Command) (all []cobra.Completion) {
	name, _ := cmd.Flags().GetString("service")
	service, err := findService(ctx, client, name)
	if err != nil {
		return nil
	}
	for _, p := range service.Presets {
		all = append(all, described(p.Name, p.Title))
	}
	return all
}
