package config

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
)

// URLFile is where a running server says how this machine reaches it: its port
// may be one that no config knows.
func URLFile(data string) string { return filepath.Join(data, "server.url") }

// At is how the server that runs with c is reached at addr.
func (c *Config) At(addr string) string {
	at := *c
	at.Listen = addr
	if host, port, err := net.SplitHostPort(addr); err == nil {
		if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
			at.Listen = net.JoinHostPort("127.0.0.1", port)
		}
	}
	return at.LocalURL()
}

// runningURL is where the server of this data directory runs now, else where it
// would.
func (c *Config) runningURL() string {
	if text, err := os.ReadFile(URLFile(c.Data)); err == nil {
		return strings.TrimSpace(string(text))
	}
	return c.LocalURL()
}
