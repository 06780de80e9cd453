package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Server is where the client commands find their server.
type Server struct {
	URL, Key string // Key is "" where none was found
	Values   []Value
	local    bool // the URL is that of this machine's own server
}

// ClientFlags are the flags that point client commands at a server.
type ClientFlags struct{ URL, Key string }

var clientKeys = []key{{name: "url", into: anyText}, {name: "key", into: anyText}}

// anyText is where the reader of a client's file, which keeps what it reads, would put it.
func anyText(*Config) any { return new(string) }

// ClientFile is where client commands look for a url and a key.
func ClientFile() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", errors.New("there is no home directory for a client config: pass --url and --key")
	}
	return filepath.Join(dir, "rendermac", "client.yaml"), nil
}

// FindServer asks flags, environment, the client file, and then the data
// directory of a server on this machine. A key goes to no other server than the
// one that it was written down for.
func FindServer(flags ClientFlags, o Options) (*Server, error) {
	s := &Server{}
	file, err := ClientFile()
	if err != nil && (flags.URL == "" || flags.Key == "") {
		return nil, err
	}
	entries, err := readFile(file, clientKeys)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	source, err := s.findURL(flags, file, entries, o)
	if err != nil {
		return nil, err
	}
	s.Values = append(s.Values, Value{"url", s.URL, source})
	source, err = s.findKey(flags, file, entries, o)
	if err != nil {
		return nil, err
	}
	s.Values = append(s.Values, Value{"key", mask(s.Key), source})
	return s, nil
}

func (s *Server) findURL(flags ClientFlags, file string, entries map[string]entry, o Options) (source string, err error) {
	switch {
	case flags.URL != "":
		s.URL, source = flags.URL, "flag --url"
	case os.Getenv("RENDERMAC_URL") != "":
		s.URL, source = os.Getenv("RENDERMAC_URL"), "environment RENDERMAC_URL"
	case entries["url"].text != "":
		s.URL, source = entries["url"].text, at(file, entries["url"])
	default:
		c, err := Load(o)
		if err != nil {
			return "", err
		}
		s.URL, source, s.local = c.runningURL(), "the server on this machine", true
	}
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("%s: the server's URL must be like http://127.0.0.1:7420", source)
	}
	s.URL = strings.TrimRight(s.URL, "/")
	return source, nil
}

func (s *Server) findKey(flags ClientFlags, file string, entries map[string]entry, o Options) (source string, err error) {
	switch {
	case flags.Key != "":
		s.Key, source = flags.Key, "flag --key"
	case os.Getenv("RENDERMAC_API_KEY") != "":
		s.Key, source = os.Getenv("RENDERMAC_API_KEY"), "environment RENDERMAC_API_KEY"
	case entries["key"].text != "" && strings.TrimRight(entries["url"].text, "/") == s.URL:
		s.Key, source = entries["key"].text, at(file, entries["key"])
	case s.local || isLoopback(s.URL):
		return s.findAdminKey(o)
	}
	return cmp.Or(source, "none"), nil
}

// findAdminKey reads the key that a server on this machine made at its first start.
func (s *Server) findAdminKey(o Options) (source string, err error) {
	data, _, err := dataDir(o.Data)
	if err != nil {
		return "", err
	}
	path := filepath.Join(data, "admin.key")
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return "none", nil
	}
	if err != nil {
		return "", fmt.Errorf("the server's key cannot be read: %w", err)
	}
	s.Key = strings.TrimSpace(string(text))
	return path, nil
}

// LocalURL is how this machine reaches a server that runs with c.
func (c *Config) LocalURL() string {
	host, port, _ := net.SplitHostPort(c.Listen) // checked by Load
	if addr, err := netip.ParseAddr(host); host == "" || err == nil && addr.IsUnspecified() {
		host = "127.0.0.1"
	}
	if c.TLS.Cert != "" {
		return cmp.Or(c.PublicURL, "https://"+net.JoinHostPort(host, port))
	}
	return "http://" + net.JoinHostPort(host, port)
}

func isLoopback(server string) bool {
	u, err := url.Parse(server)
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && addr.IsLoopback()
}

func at(file string, e entry) string { return fmt.Sprintf("%s:%d", file, e.line) }

func mask(secret string) string {
	if secret == "" {
		return ""
	}
	return "********"
}
