// Package config is how a RenderMac process learns its settings: flags win over
// the environment, that over the file, that over the defaults. Each value knows
// where it came from, and a mistake in the file is named with its line.
package config

import (
	"cmp"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/viper"
)

// Config is every setting that has an effect, parsed and checked.
type Config struct {
	Data           string // the data directory, absolute
	File           string // the config file, which need not be there
	Listen         string
	PublicURL      string // "" takes it from each request
	TLS            struct{ Cert, Key string }
	TrustedProxies []netip.Prefix
	Store          struct {
		Kind      string // dir or s3
		Path      string
		PartBytes int64
		S3        S3
	}
	Uploads struct{ MaxBytes int64 }
	Lease   struct {
		TTL, Heartbeat, DeviceTTL time.Duration
		Resume                    bool
	}
	Jobs struct {
		MaxAttempts  int
		RetryBackoff time.Duration
	}
	Verify struct {
		Workers  int
		Decode   bool
		Deadline time.Duration
	}
	Pricing     map[string]int64 // credits by service
	SharedRoots map[string]SharedRoot
	Presets     map[string]Preset
	Backup      struct {
		Every  time.Duration // 0 is never
		Keep   int
		Folder string
	}
	Retention struct { // 0 is for ever, or no limit
		Outputs, Uploads, Events, Logs, Deliveries time.Duration
		OutputsMaxBytes, UploadsMaxBytes           int64
	}
	Webhooks struct{ AllowPrivate bool }
	Metrics  struct{ Public bool }
	Agent    struct {
		Slots   int
		WorkDir string
		Cache   int64
		FFmpeg  string // "" means the one on PATH
		Stall   time.Duration

		Remotion struct{ Command, Browser string } // both "" where there is none
	}
	Values []Value // the data directory, then the keys as the example file has them
}

// S3 says where the bucket is and who may use it.
type S3 struct {
	Endpoint, PublicEndpoint string // URLs; the public one is "" where it is the same
	Bucket, Region, Prefix   string
	AccessKey, SecretKey     string
	PathStyle                bool
}

// Value is one setting as it took effect, and where it came from.
type Value struct {
	Name   string `json:"key"`
	Text   string `json:"value"`
	Source string `json:"source"`
}

// Options are what the command line says of the config.
type Options struct {
	File     string            // --config; "" means config.yaml in the data directory, if it is there
	Data     string            // --data; "" means RENDERMAC_DATA, else the platform's own place
	Flags    map[string]string // values of flags that were given, by key
	Services []string          // what may have a price
	// Preset tells what is wrong with a preset, and with which of its keys ("" is
	// the whole); the fault is "" for nothing.
	Preset func(name string, p Preset) (param, fault string)
}

// Load reads the config. Its errors name the key, its source, and what to do.
func Load(o Options) (*Config, error) {
	data, source, err := dataDir(o.Data)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(data); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("the data directory %s (%s) is a file: name a folder with --data", data, source)
	}
	keys := withPrices(o.Services)
	file := cmp.Or(o.File, filepath.Join(data, "config.yaml"))
	c := &Config{Data: data, File: file, Values: []Value{{"data", data, source}}, Pricing: map[string]int64{}}
	entries, err := readFile(file, keys)
	if os.IsNotExist(err) && o.File != "" {
		return nil, fmt.Errorf("there is no config file %s: check --config", file)
	}
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	l := newLayers(keys, file, entries, o.Flags)
	for _, k := range keys {
		value, err := l.take(c, k)
		if err != nil {
			return nil, err
		}
		c.Values = append(c.Values, value)
	}
	if err := l.check(c, keys); err != nil {
		return nil, err
	}
	return c, l.checkPresets(c, o.Preset)
}

// layers answers what a key's value is and which layer it came from.
type layers struct {
	*viper.Viper
	file    string
	entries map[string]entry
	flags   map[string]string
}

func newLayers(keys []key, file string, entries map[string]entry, flags map[string]string) *layers {
	v := viper.New()
	for _, k := range keys {
		v.SetDefault(k.name, k.fallback)
		_ = v.BindEnv(k.name, k.env()) // errs only without a name
	}
	for name, e := range entries {
		// Into the config layer by its full path, below the environment.
		_ = v.MergeConfigMap(nest(name, e.text)) // errs only for what is no map
	}
	for name, text := range flags {
		v.Set(name, text)
	}
	return &layers{v, file, entries, flags}
}

// nest is text under a dotted name, as viper wants it.
func nest(name, text string) map[string]any {
	head, rest, deeper := strings.Cut(name, ".")
	if !deeper {
		return map[string]any{head: text}
	}
	return map[string]any{head: nest(rest, text)}
}

// source names the layer that k's value comes from.
func (l *layers) source(k key) string {
	if _, ok := l.flags[k.name]; ok {
		return "flag --" + k.flag()
	}
	if os.Getenv(k.env()) != "" {
		return "environment " + k.env()
	}
	if e, ok := l.entries[k.name]; ok {
		return at(l.file, e)
	}
	return "default"
}

// place is where a fault of k's comes from: a key of S3's that is not set is
// missed because of store.kind.
func (l *layers) place(k key) string {
	source := l.source(k)
	if source == "default" && strings.HasPrefix(k.name, "store.s3.") {
		return l.source(key{name: "store.kind"})
	}
	return source
}

// take puts k's value into c.
func (l *layers) take(c *Config, k key) (Value, error) {
	value := Value{k.name, l.GetString(k.name), l.source(k)}
	if value.Text == k.fallback && k.derive != nil {
		value.Text = k.derive(c)
	}
	if err := parse(value.Text, k.into(c)); err != nil {
		return value, fmt.Errorf("%s: %s %w", value.Source, k.name, err)
	}
	if k.secret {
		value.Text = mask(value.Text)
	}
	return value, nil
}

// check holds the values against each other, once all are known.
func (l *layers) check(c *Config, keys []key) error {
	for _, k := range keys {
		if k.check == nil {
			continue
		}
		if fault := k.check(c); fault != "" {
			return fmt.Errorf("%s: %s %s", l.place(k), k.name, fault)
		}
	}
	return nil
}
