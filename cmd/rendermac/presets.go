package main

import (
	"fmt"
	"maps"
	"slices"

	"rendermac/config"
	"rendermac/media"
)

// presetChecker holds a config's presets against the services, each after the
// ones before it.
func presetChecker() func(string, config.Preset) (param, fault string) {
	var catalogue media.Catalogue
	return func(name string, p config.Preset) (string, string) {
		if f := offer(&catalogue, name, p); f != nil {
			return f.Location, f.Message
		}
		return "", ""
	}
}

// catalogueOf is the services with the config's presets, which Load has checked.
func catalogueOf(c *config.Config) (catalogue media.Catalogue, err error) {
	for _, name := range slices.Sorted(maps.Keys(c.Presets)) {
		if f := offer(&catalogue, name, c.Presets[name]); f != nil {
			return catalogue, fmt.Errorf("presets.%s %s", name, f.Message)
		}
	}
	return catalogue, nil
}

func offer(catalogue *media.Catalogue, name string, p config.Preset) *media.Fault {
	return catalogue.Add(p.Service, media.Preset{Name: name, Title: p.Title, Params: p.Params})
}
