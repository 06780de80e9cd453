package config

import (
	"net/netip"
	"net/url"
	"strings"
)

func checkKind(c *Config) string {
	if c.Store.Kind != "dir" && c.Store.Kind != "s3" {
		return "must be dir or s3"
	}
	return ""
}

// checkPartBytes keeps to what S3 takes: all parts but the last have 5 MiB.
func checkPartBytes(c *Config) string {
	if c.Store.Kind == "s3" {
		return within(c.Store.PartBytes, 5<<20, 5<<30, "5MiB to 5GiB where store.kind is s3")
	}
	return within(c.Store.PartBytes, 1<<10, 5<<30, "1KiB to 5GiB")
}

func wantedByS3(c *Config, value string) string {
	if c.Store.Kind == "s3" && value == "" {
		return "must be set where store.kind is s3"
	}
	return ""
}

func checkEndpoint(c *Config) string {
	if fault := wantedByS3(c, c.Store.S3.Endpoint); fault != "" {
		return fault + ", such as https://s3.eu-central-1.amazonaws.com"
	}
	return endpoint(c, c.Store.S3.Endpoint)
}

// endpoint is checked for what would only show as an address that is not found.
func endpoint(c *Config, text string) string {
	if text == "" {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil {
		return "must be an http or https URL without a path, such as https://s3.example.com"
	}
	if _, err := netip.ParseAddr(u.Hostname()); err == nil && !c.Store.S3.PathStyle {
		return "has no name before which the bucket could stand: set store.s3.path_style to true"
	}
	return ""
}

func checkPrefix(c *Config) string {
	if p := c.Store.S3.Prefix; strings.HasPrefix(p, "/") || strings.Contains(p, "//") || len(p) > 256 {
		return "must be like studio or studio/renders"
	}
	return ""
}
