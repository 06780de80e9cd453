package web

// Devices is the Macs.
type Devices struct{}

func (Devices) template() string { return "devices.html" }
