package config

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"runtime"
	"strconv"
	"time"
)

const time100ms = 100 * time.Millisecond

func atLeast[T cmp.Ordered](value, low T, words string) string {
	if value < low {
		return "must be at least " + words
	}
	return ""
}

func within[T cmp.Ordered](value, low, high T, words string) string {
	if value < low || value > high {
		return "must be " + words
	}
	return ""
}

func absolute(path string) string {
	if path != "" && !filepath.IsAbs(path) {
		return "must be an absolute path"
	}
	return ""
}

func inData(name string) func(*Config) string {
	return func(c *Config) string { return filepath.Join(c.Data, name) }
}

func coresOver(n int) string { return strconv.Itoa(max(1, runtime.NumCPU()/n)) }

func checkListen(c *Config) string {
	_, port, err := net.SplitHostPort(c.Listen)
	if _, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil {
		return "must be an address and a port, such as 127.0.0.1:7420"
	}
	return ""
}

func checkPublicURL(c *Config) string {
	if c.PublicURL == "" {
		return ""
	}
	u, err := url.Parse(c.PublicURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return "must be an http or https URL, such as https://render.example.com"
	}
	return ""
}

func checkTLS(c *Config) string {
	if (c.TLS.Cert == "") != (c.TLS.Key == "") {
		return "and tls.key go together: set both or neither"
	}
	return cmp.Or(absolute(c.TLS.Cert), absolute(c.TLS.Key))
}

func checkRemotion(c *Config) string {
	if (c.Agent.Remotion.Command == "") != (c.Agent.Remotion.Browser == "") {
		return "and agent.remotion.browser go together: set both or neither"
	}
	return absolute(c.Agent.Remotion.Command)
}

// checkHeartbeat leaves room for one lost sign.
func checkHeartbeat(c *Config) string {
	if c.Lease.Heartbeat <= 0 || c.Lease.Heartbeat > c.Lease.TTL/2 {
		return fmt.Sprintf("is %s: must be at most half of lease.ttl, %s", c.Lease.Heartbeat, c.Lease.TTL/2)
	}
	return ""
}

func checkBackupEvery(c *Config) string {
	if c.Backup.Every != 0 && c.Backup.Every < time.Minute {
		return "must be at least 1m, or 0s for never"
	}
	return ""
}
