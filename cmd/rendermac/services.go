package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"rendermac/api"
)

func servicesCommand(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:     "services [NAME]",
		Short:   "List what can be asked for, or show one service's params and presets",
		Example: "  rendermac services\n  rendermac services ffmpeg.transcode",
		Args:    cobra.MaximumNArgs(1),
		RunE: g.asking(func(cmd *cobra.Command, client *api.Client, args []string) error {
			if len(args) == 1 {
				service, err := findService(cmd.Context(), client, args[0])
				if err != nil {
					return err
				}
				return show(cmd, service, func(w io.Writer) error { return printService(w, service) })
			}
			services, err := client.Services(cmd.Context())
			if err != nil {
				return err
			}
			return show(cmd, api.List[api.Service]{Items: services}, func(w io.Writer) error { return printServices(w, services) })
		}),
	})
}

func printServices(w io.Writer, services []api.Service) error {
	var rows [][]string
	for _, s := range services {
		var presets []string
		for _, p := range s.Presets {
			presets = append(presets, p.Name)
		}
		rows = append(rows, []string{s.Name, s.Title, strconv.Itoa(s.DevicesOnline), strings.Join(presets, " ")})
	}
	return printTable(w, []string{"NAME", "TITLE", "DEVICES", "PRESETS"}, rows)
}

func printService(w io.Writer, s *api.Service) error {
	schema, err := readSchema(s.Params)
	if err != nil {
		return fmt.Errorf("the server's schema of %s cannot be read: %w", s.Name, err)
	}
	fmt.Fprintf(w, "%s: %s (devices online: %d)\n\n", clean(s.Name), clean(s.Title), s.DevicesOnline)
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		p := schema.Properties[name]
		otherwise := plainJSON(p.Default)
		if slices.Contains(schema.Required, name) {
			otherwise = "required"
		}
		rows = append(rows, []string{name, p.choices(), otherwise, p.Description})
	}
	if err := printTable(w, []string{"PARAM", "TYPE", "DEFAULT", "WHAT"}, rows); err != nil {
		return err
	}
	rows = nil
	for _, p := range s.Presets {
		rows = append(rows, []string{p.Name, p.Title, string(p.Params)})
	}
	fmt.Fprintln(w)
	return printTable(w, []string{"PRESET", "TITLE", "PARAMS"}, rows)
}

// choices is what a param may be: its words where it has some, else its type,
// and how small and large a number may be.
func (p property) choices() string {
	if kind := strings.Join(p.Type, " or "); len(p.Enum) == 0 {
		if p.Minimum != nil && p.Maximum != nil {
			kind += ", " + plainNumber(*p.Minimum) + " to " + plainNumber(*p.Maximum)
		}
		return kind
	}
	var words []string
	for _, e := range p.Enum {
		words = append(words, fmt.Sprint(e))
	}
	return strings.Join(words, ", ")
}

// plainJSON is a default as a person writes it.
func plainJSON(text json.RawMessage) string {
	var word string
	if json.Unmarshal(text, &word) == nil {
		return orDash(&word)
	}
	word = string(text)
	return orDash(&word)
}
