package web

// Settings is what an admin sets up.
type Settings struct{}

func (Settings) template() string { return "settings.html" }
