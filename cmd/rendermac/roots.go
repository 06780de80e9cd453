package main

import (
	"maps"
	"slices"
	"strings"

	"rendermac/config"
	"rendermac/roots"
	"rendermac/server"
)

// serverRoots are the shared roots as the server wants them.
func serverRoots(c *config.Config) map[string]server.SharedRoot {
	all := map[string]server.SharedRoot{}
	for name, root := range c.SharedRoots {
		all[name] = server.SharedRoot(root)
	}
	return all
}

// roots checks that each shared root can be used, and says what it is here.
func (d *doctor) roots() {
	for _, name := range slices.Sorted(maps.Keys(d.c.SharedRoots)) {
		root := d.c.SharedRoots[name]
		if err := roots.Check(root.Path); err != nil {
			d.fail("root", name+", "+root.Path+": "+err.Error(), "mount the volume, let this user read it, or correct shared_roots."+name+".path")
			continue
		}
		use := "no account may use it on this server"
		if len(root.Accounts) > 0 {
			use = "on this server for " + strings.Join(root.Accounts, ", ")
		}
		d.ok("root", name+" is "+root.Path+" here and can be read; "+use)
	}
}
