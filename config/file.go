package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// entry is one value in a file, as text, and the line it stands on.
type entry struct {
	text  string
	line  int
	lines map[string]int // of what stands in a section of the user's own names
}

// readFile reads a YAML file by its node tree, which knows the lines. Every key
// must be a known one; null means that the default applies.
func readFile(path string, keys []key) (map[string]entry, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var root yaml.Node
	if err := yaml.NewDecoder(file).Decode(&root); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %s", path, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	r := reader{path: path, keys: keys, entries: map[string]entry{}, seen: map[string]int{}}
	for _, document := range root.Content {
		if err := r.mapping("", document); err != nil {
			return nil, err
		}
	}
	return r.entries, nil
}

type reader struct {
	path    string
	keys    []key
	entries map[string]entry
	seen    map[string]int
}

func (r *reader) fault(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", r.path, n.Line, fmt.Sprintf(format, args...))
}

// mapping reads the keys under prefix.
func (r *reader) mapping(prefix string, n *yaml.Node) error {
	if isNull(n) {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return r.fault(n, "%s must hold keys, such as %s", cmp.Or(strings.TrimSuffix(prefix, "."), "the file"), r.under(prefix))
	}
	for i := 0; i < len(n.Content); i += 2 {
		name := prefix + n.Content[i].Value
		if first, twice := r.seen[name]; twice {
			return r.fault(n.Content[i], "%s stands on line %d already: remove one", name, first)
		}
		r.seen[name] = n.Content[i].Line
		if err := r.value(name, n.Content[i], n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// under is a key that may stand under prefix.
func (r *reader) under(prefix string) string {
	at := slices.IndexFunc(r.keys, func(k key) bool { return strings.HasPrefix(k.name, prefix) })
	return r.keys[at].name
}

// value reads what stands at name: a known key, or the head of known keys.
func (r *reader) value(name string, at, n *yaml.Node) error {
	for _, k := range r.keys {
		if k.name == name {
			return r.leaf(k, n)
		}
		if strings.HasPrefix(k.name, name+".") {
			return r.mapping(name+".", n)
		}
	}
	return r.fault(at, "unknown key %q: did you mean %s?", name, nearest(name, r.keys))
}

// leaf takes one value, if YAML reads it as what the key holds.
func (r *reader) leaf(k key, n *yaml.Node) error {
	if isNull(n) {
		return nil
	}
	text, lines := n.Value, map[string]int(nil)
	switch {
	case k.holdsRoots() && n.Kind == yaml.MappingNode:
		var err error
		if text, err = r.roots(k.name, n); err != nil {
			return err
		}
	case k.name == "presets" && n.Kind == yaml.MappingNode:
		var err error
		if text, lines, err = r.presets(k.name, n); err != nil {
			return err
		}
	case k.isList() && n.Kind == yaml.SequenceNode:
		text = joined(n.Content)
	case n.Kind != yaml.ScalarNode, !k.takes(text, n.ShortTag()):
		return r.fault(n, "%s must be %s", k.name, k.wants())
	}
	r.entries[k.name] = entry{text, n.Line, lines}
	return nil
}

func joined(nodes []*yaml.Node) string {
	var items []string
	for _, n := range nodes {
		items = append(items, n.Value)
	}
	return strings.Join(items, ",")
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }
