package config

import (
	"cmp"
	"fmt"
	"strings"

	"rendermac/media"
)

const exampleHead = `# RenderMac's settings: every key, with its default and why it is there.
# Copy this file to config.yaml in the data directory and keep what you change;
# null means that the default applies. An environment variable wins over this
# file (RENDERMAC_LEASE_TTL for lease.ttl), a flag over both.
`

// exampleText is config.example.yaml.
func exampleText() string {
	var b strings.Builder
	b.WriteString(exampleHead)
	var open []string // the sections that the last key stood in
	for _, k := range withPrices(services()) {
		path := strings.Split(k.name, ".")
		if section, service, _ := strings.Cut(k.name, "."); section == "pricing" {
			path = []string{section, service} // whose name has dots of its own
		}
		depth := len(path) - 1
		for i := range depth {
			if i >= len(open) || open[i] != path[i] {
				fmt.Fprintf(&b, "\n%s%s:\n", indent(i), path[i])
				open = append(open[:min(i, len(open))], path[i])
			}
		}
		if open = open[:min(depth, len(open))]; depth == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s# %s\n%s%s: %s\n", indent(depth), k.why, indent(depth), path[depth], cmp.Or(k.fallback, "null"))
	}
	return b.String()
}

func services() (names []string) {
	for _, s := range media.All() {
		names = append(names, s.Name)
	}
	return names
}

func indent(depth int) string { return strings.Repeat("  ", depth) }
