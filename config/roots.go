package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// SharedRoot is a folder that the server and the Macs all mount: where this
// machine has it, and which accounts the server lets use it, by name or id.
type SharedRoot struct {
	Path     string   `json:"path"`
	Accounts []string `json:"accounts"`
}

// houseAccount may use a root that names no accounts: it is the one that the
// first start makes. Others are named, for a root shows them all of its files.
const houseAccount = "studio"

// parseRoots reads them as JSON: so does the environment give them.
func parseRoots(text string) (map[string]SharedRoot, error) {
	var all map[string]SharedRoot
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&all); err != nil {
		return nil, err
	}
	for name, root := range all {
		if root.Accounts == nil {
			root.Accounts = []string{houseAccount}
		}
		root.Path = filepath.Clean(root.Path)
		all[name] = root
	}
	return all, nil
}

// checkRoots sees to what the environment says too.
func checkRoots(c *Config) string {
	for _, name := range slices.Sorted(maps.Keys(c.SharedRoots)) {
		if fault := rootFault(name, c.SharedRoots[name].Path); fault != "" {
			return fault
		}
	}
	return ""
}

var rootName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// rootFault is what is wrong with a root, told behind the name of the section.
func rootFault(name, path string) string {
	switch {
	case !rootName.MatchString(name):
		return fmt.Sprintf("has a root %q: its name must be 1 to 64 letters, digits, - and _, and begin with a letter or digit", name)
	case !filepath.IsAbs(path):
		return "has a root " + name + " without an absolute path: give shared_roots." + name + ".path"
	}
	return ""
}

// roots reads the section from a file, where each mistake has its line.
func (r *reader) roots(section string, n *yaml.Node) (string, error) {
	all := map[string]SharedRoot{}
	for i := 0; i < len(n.Content); i += 2 {
		at, value := n.Content[i], n.Content[i+1]
		key := section + "." + at.Value
		if _, twice := all[at.Value]; twice {
			return "", r.fault(at, "%s stands here twice: remove one", key)
		}
		root, err := r.root(key, value)
		if err != nil {
			return "", err
		}
		if fault := rootFault(at.Value, root.Path); fault != "" {
			return "", r.fault(at, "%s %s", section, fault)
		}
		all[at.Value] = root
	}
	text, err := json.Marshal(all) // sorted by name
	return string(text), err
}

func (r *reader) root(key string, n *yaml.Node) (root SharedRoot, err error) {
	if n.Kind != yaml.MappingNode {
		return root, r.fault(n, "%s must hold path, and may hold accounts", key)
	}
	seen := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		at, value := n.Content[i], n.Content[i+1]
		if seen[at.Value] {
			return root, r.fault(at, "%s.%s stands here twice: remove one", key, at.Value)
		}
		seen[at.Value] = true
		switch {
		case at.Value == "path" && value.Kind == yaml.ScalarNode && value.ShortTag() == "!!str" && filepath.IsAbs(value.Value):
			root.Path = value.Value
		case at.Value == "path":
			return root, r.fault(value, "%s.path must be an absolute path", key)
		case at.Value == "accounts" && isNull(value):
		case at.Value == "accounts":
			if root.Accounts, err = r.names(key+".accounts", value); err != nil {
				return root, err
			}
		default:
			return root, r.fault(at, "unknown key %q: a shared root has path and accounts", key+"."+at.Value)
		}
	}
	return root, nil
}

func (r *reader) names(key string, n *yaml.Node) ([]string, error) {
	names := []string{}
	if n.Kind != yaml.SequenceNode {
		return nil, r.fault(n, "%s must be a list of accounts' names or ids, such as [studio]", key)
	}
	for _, item := range n.Content {
		if item.Kind != yaml.ScalarNode || isNull(item) || item.Value == "" {
			return nil, r.fault(item, "%s must be a list of accounts' names or ids, such as [studio]", key)
		}
		names = append(names, item.Value)
	}
	return names, nil
}
