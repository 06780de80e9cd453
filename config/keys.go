package config

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// key is one setting: defaults, the example file, the checks of what a file says
// and `rendermac config` all derive from this table.
type key struct {
	name     string
	fallback string               // the default, as a file would say it; "" is null
	why      string               // one line of the example file
	into     func(*Config) any    // where it goes; its type says what it may be
	derive   func(*Config) string // the default where that depends on the machine
	check    func(*Config) string // what is wrong with the value, "" for nothing
	secret   bool                 // is not shown
}

var keys = []key{
	{
		name: "listen", fallback: "127.0.0.1:7420", why: "Where the server listens. Other Macs reach it with 0.0.0.0:7420.",
		into: func(c *Config) any { return &c.Listen }, check: checkListen,
	},
	{
		name: "public_url", why: "The address others know the server by; null takes it from each request.",
		into: func(c *Config) any { return &c.PublicURL }, check: checkPublicURL,
	},
	{
		name: "tls.cert", why: "A PEM certificate chain; with it the server speaks HTTPS.",
		into: func(c *Config) any { return &c.TLS.Cert }, check: checkTLS,
	},
	{
		name: "tls.key", why: "The certificate's private key.",
		into: func(c *Config) any { return &c.TLS.Key },
	},
	{
		name: "trusted_proxies", why: "Networks whose X-Forwarded-For is believed; null believes nobody's.",
		into: func(c *Config) any { return &c.TrustedProxies },
	},

	{
		name: "store.kind", fallback: "dir", why: "Where files are kept: dir is a folder, s3 a bucket.",
		into: func(c *Config) any { return &c.Store.Kind }, check: checkKind,
	},
	{
		name: "store.path", why: "The folder of the dir store; null is artifacts in the data directory.",
		into: func(c *Config) any { return &c.Store.Path }, derive: inData("artifacts"), check: func(c *Config) string { return absolute(c.Store.Path) },
	},
	{
		name: "store.part_bytes", fallback: "64MiB", why: "The length of an upload's parts, 1KiB to 5GiB, on S3 5MiB at least: smaller ones pass picky proxies.",
		into: func(c *Config) any { return &c.Store.PartBytes }, check: checkPartBytes,
	},
	{
		name: "store.s3.endpoint", why: "The S3 server, as a URL.",
		into: func(c *Config) any { return &c.Store.S3.Endpoint }, check: checkEndpoint,
	},
	{
		name: "store.s3.bucket", why: "The bucket; it must exist.",
		into: func(c *Config) any { return &c.Store.S3.Bucket }, check: func(c *Config) string { return wantedByS3(c, c.Store.S3.Bucket) },
	},
	{
		name: "store.s3.region", why: "The bucket's region; null is us-east-1, which servers without regions take.",
		into: func(c *Config) any { return &c.Store.S3.Region },
	},
	{
		name: "store.s3.access_key", why: "The access key's id.",
		into: func(c *Config) any { return &c.Store.S3.AccessKey }, check: func(c *Config) string { return wantedByS3(c, c.Store.S3.AccessKey) },
	},
	{
		name: "store.s3.secret_key", why: "Its secret; better in RENDERMAC_STORE_S3_SECRET_KEY.", secret: true,
		into: func(c *Config) any { return &c.Store.S3.SecretKey }, check: func(c *Config) string { return wantedByS3(c, c.Store.S3.SecretKey) },
	},
	{
		name: "store.s3.prefix", why: "What every object's name begins with.",
		into: func(c *Config) any { return &c.Store.S3.Prefix }, check: checkPrefix,
	},
	{
		name: "store.s3.public_endpoint", why: "The address that agents and clients use, where it is another.",
		into: func(c *Config) any { return &c.Store.S3.PublicEndpoint }, check: func(c *Config) string { return endpoint(c, c.Store.S3.PublicEndpoint) },
	},
	{
		name: "store.s3.path_style", fallback: "false", why: "Whether the bucket stands in the path rather than in the host.",
		into: func(c *Config) any { return &c.Store.S3.PathStyle },
	},

	{
		name: "uploads.max_bytes", fallback: "2TiB", why: "The largest file that is taken.",
		into: func(c *Config) any { return &c.Uploads.MaxBytes }, check: func(c *Config) string { return atLeast(c.Uploads.MaxBytes, 1, "1B") },
	},

	{
		name: "lease.ttl", fallback: "60s", why: "How long a run lives without a sign of its agent.",
		into: func(c *Config) any { return &c.Lease.TTL }, check: func(c *Config) string { return atLeast(c.Lease.TTL, time100ms, "100ms") },
	},
	{
		name: "lease.heartbeat", fallback: "15s", why: "How often agents give that sign; at most half of lease.ttl.",
		into: func(c *Config) any { return &c.Lease.Heartbeat }, check: checkHeartbeat,
	},
	{
		name: "lease.resume", fallback: "true", why: "Whether an agent that reconnects may go on with its run.",
		into: func(c *Config) any { return &c.Lease.Resume },
	},
	{
		name: "lease.device_ttl", fallback: "90s", why: "How long a silent device counts as online.",
		into: func(c *Config) any { return &c.Lease.DeviceTTL }, check: func(c *Config) string { return atLeast(c.Lease.DeviceTTL, c.Lease.Heartbeat, "lease.heartbeat") },
	},

	{
		name: "jobs.max_attempts", fallback: "3", why: "How often a job is tried, where it does not say so itself.",
		into: func(c *Config) any { return &c.Jobs.MaxAttempts }, check: func(c *Config) string { return within(c.Jobs.MaxAttempts, 1, 10, "1 to 10") },
	},
	{
		name: "jobs.retry_backoff", fallback: "5s", why: "How long a device waits before it tries a job again that it failed; doubled each time.",
		into: func(c *Config) any { return &c.Jobs.RetryBackoff }, check: func(c *Config) string { return atLeast(c.Jobs.RetryBackoff, 0, "0s") },
	},

	{
		name: "verify.workers", why: "Results verified at once; null is half of the cores.",
		into: func(c *Config) any { return &c.Verify.Workers }, derive: func(*Config) string { return coresOver(2) }, check: func(c *Config) string { return atLeast(c.Verify.Workers, 1, "1") },
	},
	{
		name: "verify.decode", fallback: "false", why: "Whether every result is also decoded whole, through agent.ffmpeg on the server.",
		into: func(c *Config) any { return &c.Verify.Decode },
	},
	{
		name: "verify.deadline", fallback: "24h", why: "How long verification waits for a store that cannot be read.",
		into: func(c *Config) any { return &c.Verify.Deadline }, check: func(c *Config) string { return atLeast(c.Verify.Deadline, 1, "1ns") },
	},

	{
		name: "webhooks.allow_private", fallback: "false", why: "Whether webhooks may go to loopback and private addresses; to link-local ones they never do.",
		into: func(c *Config) any { return &c.Webhooks.AllowPrivate },
	},

	{
		name: "backup.every", fallback: "0s", why: "How often the database is copied while the server runs; 0s is never.",
		into: func(c *Config) any { return &c.Backup.Every }, check: checkBackupEvery,
	},
	{
		name: "backup.keep", fallback: "7", why: "How many of these copies are kept.",
		into: func(c *Config) any { return &c.Backup.Keep }, check: func(c *Config) string { return atLeast(c.Backup.Keep, 1, "1") },
	},
	{
		name: "backup.folder", why: "Where they go, better on another disk; null is backups in the data directory.",
		into: func(c *Config) any { return &c.Backup.Folder }, derive: inData("backups"), check: func(c *Config) string { return absolute(c.Backup.Folder) },
	},

	{
		name: "retention.outputs", why: "How long outputs are kept after their job's end, such as 30d; null and 0s are for ever.",
		into: func(c *Config) any { return limit{&c.Retention.Outputs} }, check: func(c *Config) string { return atLeast(c.Retention.Outputs, 0, "0s") },
	},
	{
		name: "retention.uploads", fallback: "7d", why: "How long uploads are kept after the end of the last job that had them; 0s is for ever.",
		into: func(c *Config) any { return &c.Retention.Uploads }, check: func(c *Config) string { return atLeast(c.Retention.Uploads, 0, "0s") },
	},
	{
		name: "retention.events", fallback: "90d", why: "How long events are kept.",
		into: func(c *Config) any { return &c.Retention.Events }, check: func(c *Config) string { return atLeast(c.Retention.Events, 0, "0s") },
	},
	{
		name: "retention.logs", fallback: "30d", why: "How long logs of runs are kept.",
		into: func(c *Config) any { return &c.Retention.Logs }, check: func(c *Config) string { return atLeast(c.Retention.Logs, 0, "0s") },
	},
	{
		name: "retention.deliveries", fallback: "30d", why: "How long records of webhook deliveries are kept.",
		into: func(c *Config) any { return &c.Retention.Deliveries }, check: func(c *Config) string { return atLeast(c.Retention.Deliveries, 0, "0s") },
	},
	{
		name: "retention.outputs_max_bytes", why: "How much all outputs may be together, such as 2TiB: the oldest go first; null is no limit.",
		into: func(c *Config) any { return limit{&c.Retention.OutputsMaxBytes} }, check: func(c *Config) string { return atLeast(c.Retention.OutputsMaxBytes, 0, "0B") },
	},
	{
		name: "retention.uploads_max_bytes", why: "How much all uploads may be together; null is no limit.",
		into: func(c *Config) any { return limit{&c.Retention.UploadsMaxBytes} }, check: func(c *Config) string { return atLeast(c.Retention.UploadsMaxBytes, 0, "0B") },
	},

	{
		name: "shared_roots", fallback: "{}", why: "Folders that the server and the Macs all mount: NAME: {path: /Volumes/Media, accounts: [studio]}, where accounts counts on the server only.",
		into: func(c *Config) any { return &c.SharedRoots }, check: checkRoots,
	},
	{
		name: "metrics.public", fallback: "false", why: "Whether /metrics answers others than this machine.",
		into: func(c *Config) any { return &c.Metrics.Public },
	},
	{
		name: "presets", fallback: "{}", why: "Presets of your own: NAME: {service: ffmpeg.transcode, title: For review, width: 1280, quality: 40}, any params of the service by name.",
		into: func(c *Config) any { return &c.Presets },
	},

	{
		name: "agent.slots", fallback: "auto", why: "Runs at once on this machine; auto is one for every four cores.",
		into: func(c *Config) any { return &c.Agent.Slots }, derive: func(*Config) string { return coresOver(4) }, check: func(c *Config) string { return within(c.Agent.Slots, 1, 64, "1 to 64") },
	},
	{
		name: "agent.work_dir", why: "Where runs keep their files; null is work in the data directory.",
		into: func(c *Config) any { return &c.Agent.WorkDir }, derive: inData("work"), check: func(c *Config) string { return absolute(c.Agent.WorkDir) },
	},
	{
		name: "agent.cache", fallback: "100GiB", why: "How many bytes of inputs stay in work_dir for later jobs that want the same; 0B keeps none.",
		into: func(c *Config) any { return &c.Agent.Cache },
	},
	{
		name: "agent.ffmpeg", why: "The ffmpeg to run, with ffprobe beside it; null is the one on PATH.",
		into: func(c *Config) any { return &c.Agent.FFmpeg },
	},
	{
		name: "agent.stall", fallback: "10m", why: "How long a run may stand still before it is given up.",
		into: func(c *Config) any { return &c.Agent.Stall }, check: func(c *Config) string { return atLeast(c.Agent.Stall, time100ms, "100ms") },
	},
	{
		name: "agent.remotion.command", why: "Your own Remotion for remotion.render: the path of @remotion/cli's remotion-cli.js, which node runs, or of a program in its place.",
		into: func(c *Config) any { return &c.Agent.Remotion.Command }, check: checkRemotion,
	},
	{
		name: "agent.remotion.browser", why: "The Chrome or Chromium that it renders with, as a path.",
		into: func(c *Config) any { return &c.Agent.Remotion.Browser }, check: func(c *Config) string { return absolute(c.Agent.Remotion.Browser) },
	},
}

// maxPrice keeps an account's sums far from what 64 bits hold.
const maxPrice = 1_000_000_000

// withPrices are the keys with a price for each service.
func withPrices(services []string) []key {
	all := slices.Clip(keys)
	for _, service := range services {
		all = append(all, key{
			name: "pricing." + service, fallback: "0", why: "Credits that a job of this service costs.",
			into: func(c *Config) any { return price{c.Pricing, service} },
			check: func(c *Config) string {
				return within(c.Pricing[service], 0, maxPrice, fmt.Sprintf("0 to %d", maxPrice))
			},
		})
	}
	return all
}

// env is the variable that sets k.
func (k key) env() string {
	return "RENDERMAC_" + strings.ToUpper(strings.ReplaceAll(k.name, ".", "_"))
}

// flag is the flag that sets k, where a command has one.
func (k key) flag() string { return strings.NewReplacer(".", "-", "_", "-").Replace(k.name) }

func (k key) isList() bool {
	_, list := k.into(new(Config)).(*[]netip.Prefix)
	return list
}

func (k key) holdsRoots() bool {
	_, roots := k.into(new(Config)).(*map[string]SharedRoot)
	return roots
}

// takes tells whether a file's value of this YAML tag may be k's.
func (k key) takes(text, tag string) bool {
	if k.derive != nil && text == k.fallback {
		return true // auto
	}
	want := formOf(k.into(new(Config))).tag
	return want == "" || want == tag
}

// wants says what a value of k must be.
func (k key) wants() string {
	return formOf(k.into(new(Config))).words
}
