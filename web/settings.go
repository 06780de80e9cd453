package web

import "slices"

// Settings is what an admin sets up, and what of it anybody may see.
type Settings struct {
	Own     Account // the session's own
	Presets []Preset
	Admin   *AdminSettings // nil below admin
}

// AdminSettings is what only an admin sees.
type AdminSettings struct {
	Accounts   Accounts
	Keys       Keys
	Deliveries Deliveries
	Storage    Storage
	Backups    Backups
	Server     Server
}

func (Settings) template() string { return "settings.html" }

type section struct{ ID, Name string }

// Sections are the page's parts, in the order in which they stand there.
func (s Settings) Sections() []section {
	if s.Admin == nil {
		return []section{{"account", "Account"}, {"presets", "Presets"}, {"server", "This server"}}
	}
	return []section{
		{"accounts", "Accounts"},
		{"api-keys", "API keys"},
		{"webhooks", "Webhooks"},
		{"presets", "Presets"},
		{"storage", "Storage"},
		{"backups", "Backups"},
		{"server", "This server"},
	}
}

// OwnPresets are those from the server's config.
func (s Settings) OwnPresets() [][]Preset { return s.presets(true) }

// BuiltIn are those that every RenderMac has.
func (s Settings) BuiltIn() [][]Preset { return s.presets(false) }

// presets are together by their names: one may be something else in another service.
func (s Settings) presets(own bool) (list [][]Preset) {
	for _, p := range s.Presets {
		if p.Own != own {
			continue
		}
		at := slices.IndexFunc(list, func(have []Preset) bool { return have[0].Name == p.Name })
		if at < 0 {
			at, list = len(list), append(list, nil)
		}
		list[at] = append(list[at], p)
	}
	return list
}
