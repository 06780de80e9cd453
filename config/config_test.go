package config

import (
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write config.example.yaml anew")

const exampleFile = "../config.example.yaml"

// load reads yaml as DATA/config.yaml.
func load(t *testing.T, yaml string, flags map[string]string) (*Config, error) {
	t.Helper()
	return Load(Options{Data: dataWith(t, yaml), Flags: flags, Services: []string{"ffmpeg.thumbnail", "ffmpeg.transcode"}})
}

func dataWith(t *testing.T, yaml string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func mustLoad(t *testing.T, yaml string, flags map[string]string) *Config {
	t.Helper()
	c, err := load(t, yaml, flags)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *Config) value(t *testing.T, name string) Value {
	t.Helper()
	for _, v := range c.Values {
		if v.Name == name {
			return v
		}
	}
	t.Fatalf("there is no value %s", name)
	return Value{}
}

func TestExampleFileListsEveryKeyWithItsDefault(t *testing.T) {
	if *update {
		if err := os.WriteFile(exampleFile, []byte(exampleText()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(exampleFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != exampleText() {
		t.Fatal("config.example.yaml is not what the table of keys says: run go test ./config -run Example -update")
	}
	data := t.TempDir()
	fromFile, err := Load(Options{Data: data, File: exampleFile, Services: services()})
	if err != nil {
		t.Fatal(err)
	}
	fromNothing, err := Load(Options{Data: data, Services: services()})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range fromFile.Values {
		if w := fromNothing.Values[i]; v.Name != w.Name || v.Text != w.Text {
			t.Errorf("the example says %s: %q, the default is %q", v.Name, v.Text, w.Text)
		}
	}
}

func TestDefaultsAreTheDocumentedOnes(t *testing.T) {
	c := mustLoad(t, "", nil)
	type pair struct{ got, want any }
	for name, p := range map[string]pair{
		"listen":             {c.Listen, "127.0.0.1:7420"},
		"public_url":         {c.PublicURL, ""},
		"store.path":         {c.Store.Path, filepath.Join(c.Data, "artifacts")},
		"store.part_bytes":   {c.Store.PartBytes, int64(64 << 20)},
		"uploads.max_bytes":  {c.Uploads.MaxBytes, int64(2 << 40)},
		"lease.ttl":          {c.Lease.TTL, time.Minute},
		"lease.heartbeat":    {c.Lease.Heartbeat, 15 * time.Second},
		"lease.resume":       {c.Lease.Resume, true},
		"lease.device_ttl":   {c.Lease.DeviceTTL, 90 * time.Second},
		"jobs.max_attempts":  {c.Jobs.MaxAttempts, 3},
		"jobs.retry_backoff": {c.Jobs.RetryBackoff, 5 * time.Second},
		"verify.deadline":    {c.Verify.Deadline, 24 * time.Hour},
		"agent.work_dir":     {c.Agent.WorkDir, filepath.Join(c.Data, "work")},
		"agent.stall":        {c.Agent.Stall, 10 * time.Minute},
	} {
		if p.got != p.want {
			t.Errorf("%s is %v, want %v", name, p.got, p.want)
		}
	}
	if c.Verify.Workers < 1 || c.Agent.Slots < 1 {
		t.Errorf("got %d verify workers and %d slots, want at least one of each", c.Verify.Workers, c.Agent.Slots)
	}
}

func TestFlagsWinOverEnvironmentOverFileOverDefaults(t *testing.T) {
	const file = "lease:\n  ttl: 40s\n  heartbeat: 10s\njobs:\n  max_attempts: 5\n"
	t.Setenv("RENDERMAC_LEASE_TTL", "50s")
	t.Setenv("RENDERMAC_LISTEN", "127.0.0.1:1")
	c := mustLoad(t, file, map[string]string{"listen": "127.0.0.1:2"})
	for _, want := range []Value{
		{"listen", "127.0.0.1:2", "flag --listen"},
		{"lease.ttl", "50s", "environment RENDERMAC_LEASE_TTL"},
		{"lease.heartbeat", "10s", filepath.Join(c.Data, "config.yaml") + ":3"},
		{"jobs.max_attempts", "5", filepath.Join(c.Data, "config.yaml") + ":5"},
		{"lease.resume", "true", "default"},
	} {
		if got := c.value(t, want.Name); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if c.Listen != "127.0.0.1:2" || c.Lease.TTL != 50*time.Second || c.Jobs.MaxAttempts != 5 {
		t.Errorf("the parsed values are others: %+v", c)
	}
}

func TestMistakesNameKeyLineAndWhatToDo(t *testing.T) {
	cases := []struct{ name, yaml, want string }{
		{"unknown key", "lease:\n  tll: 60s\n", `:2: unknown key "lease.tll": did you mean lease.ttl?`},
		{"unknown section", "listen: 127.0.0.1:1\nleases:\n  ttl: 60s\n", `:2: unknown key "leases": did you mean lease?`},
		{"key without its section", "max_attempts: 3\n", `:1: unknown key "max_attempts": did you mean jobs.max_attempts?`},
		{"key below a value", "lease:\n  ttl:\n    seconds: 3\n", ":3: lease.ttl must be a duration such as 90s, 5m, 24h or 7d"},
		{"value for a section", "lease: 60s\n", ":1: lease must hold keys, such as lease.ttl"},
		{"not a mapping", "- listen\n", ":1: the file must hold keys, such as listen"},
		{"number for a duration", "lease:\n\n  ttl: 60\n", ":3: lease.ttl must be a duration such as 90s, 5m, 24h or 7d"},
		{"word for a duration", "lease: {ttl: soon}\n", ":1: lease.ttl must be a duration such as 90s, 5m, 24h or 7d"},
		{"text for a number", "jobs:\n  max_attempts: \"3\"\n", ":2: jobs.max_attempts must be a whole number"},
		{"fraction for a number", "jobs:\n  max_attempts: 2.5\n", ":2: jobs.max_attempts must be a whole number"},
		{"number out of range", "jobs:\n  max_attempts: 11\n", ":2: jobs.max_attempts must be 1 to 10"},
		{"text for a boolean", "lease:\n  resume: \"yes\"\n", ":2: lease.resume must be true or false"},
		{"word for a size", "store:\n  part_bytes: big\n", ":2: store.part_bytes must be a size such as 64MiB or 2TiB"},
		{"size over all bounds", "uploads:\n  max_bytes: 9999999TiB\n", ":2: uploads.max_bytes must be a size such as 64MiB or 2TiB"},
		{"negative size", "uploads:\n  max_bytes: -1\n", ":2: uploads.max_bytes must be a size such as 64MiB or 2TiB"},
		{"list for text", "listen: [a, b]\n", ":1: listen must be text"},
		{"number for text", "listen: 7420\n", ":1: listen must be text"},
		{"no port", "listen: localhost\n", ":1: listen must be an address and a port, such as 127.0.0.1:7420"},
		{"no network", "trusted_proxies: [10.0.0.0/8, home]\n", ":1: trusted_proxies must be a list of addresses or networks such as 10.0.0.0/8"},
		{"no URL", "public_url: render.example.com\n", ":1: public_url must be an http or https URL, such as https://render.example.com"},
		{"relative path", "store:\n  path: artifacts\n", ":2: store.path must be an absolute path"},
		{"half of TLS", "tls:\n  cert: /c.pem\n", ":2: tls.cert and tls.key go together: set both or neither"},
		{"heartbeat over half of the TTL", "lease:\n  ttl: 20s\n  heartbeat: 11s\n", ":3: lease.heartbeat is 11s: must be at most half of lease.ttl, 10s"},
		{"default heartbeat over half of the TTL", "lease:\n  ttl: 20s\n", "default: lease.heartbeat is 15s: must be at most half of lease.ttl, 10s"},
		{"same key twice", "listen: 127.0.0.1:1\nlisten: 127.0.0.1:2\n", ":2: listen stands on line 1 already: remove one"},
		{"price of no service", "listen: 127.0.0.1:1\npricing:\n  ffmpeg.transcodes: 5\n", `:3: unknown key "pricing.ffmpeg.transcodes": did you mean pricing.ffmpeg.transcode?`},
		{"price that is a word", "pricing:\n  ffmpeg.transcode: dear\n", ":2: pricing.ffmpeg.transcode must be a whole number"},
		{"price that is a fraction", "pricing:\n  ffmpeg.transcode: 1.5\n", ":2: pricing.ffmpeg.transcode must be a whole number"},
		{"price that is text", "pricing:\n  ffmpeg.transcode: \"5\"\n", ":2: pricing.ffmpeg.transcode must be a whole number"},
		{"price that is a list", "pricing:\n  ffmpeg.transcode: [5]\n", ":2: pricing.ffmpeg.transcode must be a whole number"},
		{"price beyond a number", "pricing:\n  ffmpeg.transcode: 99999999999999999999\n", ":2: pricing.ffmpeg.transcode must be a whole number"},
		{"price below nothing", "pricing:\n  ffmpeg.transcode: -1\n", ":2: pricing.ffmpeg.transcode must be 0 to 1000000000"},
		{"price of all services", "pricing: 5\n", ":1: pricing must hold keys, such as pricing.ffmpeg.thumbnail"},
		{"not YAML", "lease:\n\tttl: 60s\n", "line 2: found character that cannot start any token"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := load(t, c.yaml, nil)
			if err == nil {
				t.Fatal("it was accepted")
			}
			if !strings.Contains(err.Error(), "config.yaml") && !strings.HasPrefix(c.want, "default") || !strings.HasSuffix(err.Error(), c.want) {
				t.Errorf("got  %q\nwant …%q", err, c.want)
			}
		})
	}
}

func TestPricing(t *testing.T) {
	t.Setenv("RENDERMAC_PRICING_FFMPEG_THUMBNAIL", "2")
	c := mustLoad(t, "pricing:\n  ffmpeg.transcode: 5\n", nil)
	if c.Pricing["ffmpeg.transcode"] != 5 || c.Pricing["ffmpeg.thumbnail"] != 2 {
		t.Errorf("the prices are %v", c.Pricing)
	}
	for _, want := range []Value{
		{"pricing.ffmpeg.transcode", "5", filepath.Join(c.Data, "config.yaml") + ":2"},
		{"pricing.ffmpeg.thumbnail", "2", "environment RENDERMAC_PRICING_FFMPEG_THUMBNAIL"},
	} {
		if got := c.value(t, want.Name); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if c := mustLoad(t, "pricing: {ffmpeg: {transcode: 7}}\n", nil); c.Pricing["ffmpeg.transcode"] != 7 {
		t.Errorf("written apart, the prices are %v", c.Pricing)
	}
	t.Setenv("RENDERMAC_PRICING_FFMPEG_THUMBNAIL", "free")
	_, err := load(t, "", nil)
	const want = "environment RENDERMAC_PRICING_FFMPEG_THUMBNAIL: pricing.ffmpeg.thumbnail must be a whole number"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestMistakesInTheEnvironmentNameTheVariable(t *testing.T) {
	t.Setenv("RENDERMAC_LEASE_TTL", "soon")
	_, err := load(t, "", nil)
	const want = "environment RENDERMAC_LEASE_TTL: lease.ttl must be a duration such as 90s, 5m, 24h or 7d"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestWhatThisBuildCannotDoStopsTheStart(t *testing.T) {
	for yaml, want := range map[string]string{
		"store:\n  kind: nfs\n": ":2: store.kind must be dir or s3",
		"presets: 5\n":          ":1: presets must be names with params each, such as {review: {service: ffmpeg.transcode, quality: 40}}",
		"agent:\n  remotion:\n    command: [node, r]\n":              ":3: agent.remotion.command must be text",
		"agent:\n  remotion:\n    command: /opt/r/remotion-cli.js\n": ":3: agent.remotion.command and agent.remotion.browser go together: set both or neither",
		"agent:\n  remotion:\n    command: r.js\n    browser: /b\n":  ":3: agent.remotion.command must be an absolute path",
		"agent:\n  remotion:\n    command: /r.js\n    browser: b\n":  ":4: agent.remotion.browser must be an absolute path",
	} {
		_, err := load(t, yaml, nil)
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q: got %v, want …%s", yaml, err, want)
		}
	}
}

func TestNullMeansTheDefault(t *testing.T) {
	c := mustLoad(t, "listen: null\nlease:\n  ttl:\njobs:\nstore:\n  kind: dir\npricing: {}\n", nil)
	if c.Listen != "127.0.0.1:7420" || c.Lease.TTL != time.Minute {
		t.Errorf("got %q and %s", c.Listen, c.Lease.TTL)
	}
	if got := c.value(t, "listen").Source; got != "default" {
		t.Errorf("the source is %q, want default", got)
	}
}

func TestValuesThatAreNotPlain(t *testing.T) {
	c := mustLoad(t, "trusted_proxies: [10.0.0.0/8, \"::1\"]\nstore:\n  part_bytes: 1048576\nuploads.max_bytes: 3GiB\nagent:\n  slots: 2\n", nil)
	if len(c.TrustedProxies) != 2 || c.TrustedProxies[0] != netip.MustParsePrefix("10.0.0.0/8") || c.TrustedProxies[1] != netip.MustParsePrefix("::1/128") {
		t.Errorf("got proxies %v", c.TrustedProxies)
	}
	if c.Store.PartBytes != 1<<20 || c.Uploads.MaxBytes != 3<<30 || c.Agent.Slots != 2 {
		t.Errorf("got %d, %d and %d", c.Store.PartBytes, c.Uploads.MaxBytes, c.Agent.Slots)
	}
}

func TestAConfigFileThatWasNamedMustExist(t *testing.T) {
	_, err := Load(Options{Data: t.TempDir(), File: "/no/such/file.yaml"})
	if err == nil || err.Error() != "there is no config file /no/such/file.yaml: check --config" {
		t.Errorf("got %v", err)
	}
}

func TestDataDirectory(t *testing.T) {
	for _, c := range []struct{ goos, xdg, want string }{
		{"darwin", "", "/h/Library/Application Support/RenderMac"},
		{"darwin", "/xdg", "/h/Library/Application Support/RenderMac"},
		{"linux", "", "/h/.local/share/rendermac"},
		{"linux", "/xdg", "/xdg/rendermac"},
		{"linux", "relative", "/h/.local/share/rendermac"},
	} {
		if got := platformDir(c.goos, "/h", c.xdg); got != c.want {
			t.Errorf("%s with %q: got %s, want %s", c.goos, c.xdg, got, c.want)
		}
	}
	t.Setenv("RENDERMAC_DATA", "/from/env")
	if got, _, _ := dataDir(""); got != "/from/env" {
		t.Errorf("got %s from the environment", got)
	}
	if got, _, _ := dataDir("/from/flag"); got != "/from/flag" {
		t.Errorf("got %s from the flag", got)
	}
}

func TestDurationsMayHaveDays(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"7d": 7 * 24 * time.Hour, "1d12h": 36 * time.Hour, "0d": 0, "0s": 0, "90s": 90 * time.Second, "1h30m": 90 * time.Minute, "106751d": 106751 * 24 * time.Hour,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "7", "-7d", "+7d", "1.5d", "7dd", "7d1d", "12h1d", "7d-1h", "7d+1h", "7 d", "106752d", "106751d24h", "99999999999999999999d", "7D"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}

func TestRetentionIsForEverWhereItSaysSo(t *testing.T) {
	c := mustLoad(t, "retention:\n  outputs: null\n  uploads: 0s\n  outputs_max_bytes: 2TiB\nbackup:\n  every: 7d\n", nil)
	r := c.Retention
	if r.Outputs != 0 || r.Uploads != 0 || r.Events != 90*24*time.Hour || r.Logs != 30*24*time.Hour || r.OutputsMaxBytes != 2<<40 || r.UploadsMaxBytes != 0 || c.Backup.Every != 7*24*time.Hour {
		t.Errorf("%+v", r)
	}
	for _, yaml := range []string{"retention:\n  logs: -1h\n", "retention:\n  outputs: soon\n", "retention:\n  outputs_max_bytes: much\n", "retention:\n  uploads_max_bytes: -1\n"} {
		if _, err := load(t, yaml, nil); err == nil || !strings.Contains(err.Error(), ":2: retention.") {
			t.Errorf("%q: %v", yaml, err)
		}
	}
}
