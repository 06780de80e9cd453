package server

import (
	"context"
	"sync/atomic"
	"time"

	"rendermac/fence"
	"rendermac/media"
	"rendermac/store"

	"github.com/prometheus/client_golang/prometheus"
)

// scrapeAge is for how long one look at the database serves every scrape.
const scrapeAge = 5 * time.Second

// levels are the metrics that are read at a scrape: rows through the readers, the
// sessions, the disk. Where something cannot be read, its metrics are missing and
// the others are there.
type levels struct {
	srv  *Server
	rows glance[store.Levels]
	lame atomic.Int64 // scrapes that could not read everything

	queue, oldest, devices, webhooks *prometheus.Desc
	connected, slots, busy           *prometheus.Desc
	database, wal, free, up, errors  *prometheus.Desc
	stored                           *prometheus.Desc
}

func (m *Metrics) watch(s *Server) {
	describe := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	m.registry.MustRegister(&levels{
		srv:       s,
		queue:     describe("rendermac_queue_jobs", "Live jobs, by service and status.", "service", "status"),
		oldest:    describe("rendermac_queue_oldest_seconds", "Age of the oldest queued job of a service; 0 where none is queued.", "service"),
		devices:   describe("rendermac_devices", "Paired devices, by state.", "state"),
		webhooks:  describe("rendermac_webhook_deliveries", "Webhook deliveries that are pending or have been given up.", "state"),
		connected: describe("rendermac_agents_connected", "Agents with a session."),
		slots:     describe("rendermac_agent_slots", "Slots of the connected agents."),
		busy:      describe("rendermac_agent_slots_busy", "Slots of the connected agents that a live attempt takes."),
		database:  describe("rendermac_database_bytes", "Size of the database file."),
		wal:       describe("rendermac_wal_bytes", "Size of the database's write-ahead log."),
		free:      describe("rendermac_disk_free_bytes", "Room on the disk that holds the database, and the artifacts.", "disk"),
		up:        describe("rendermac_store_up", "1, or 0 while the artifact store is away."),
		stored:    describe("rendermac_stored_bytes", "Bytes of the outputs and of the complete uploads that are kept; summed up every 5 minutes.", "kind"),
		errors:    describe("rendermac_scrape_errors_total", "Scrapes that could not read everything: what they lack could not be read."),
	})
}

// Describe implements prometheus.Collector.
func (l *levels) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{l.queue, l.oldest, l.devices, l.webhooks, l.connected, l.slots, l.busy, l.database, l.wal, l.free, l.up, l.stored, l.errors} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (l *levels) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	connected, slots, busy := l.srv.hub.occupancy()
	gauge(l.connected, float64(connected))
	gauge(l.slots, float64(slots))
	gauge(l.busy, float64(busy))
	failed := false
	if files, err := l.srv.o.DB.Files(); err == nil {
		gauge(l.database, float64(files.Database))
		gauge(l.wal, float64(files.WAL))
		gauge(l.free, float64(files.Free), "database")
	} else {
		failed = true
	}
	if dir := l.srv.o.Blobs; dir != nil { // a bucket has no end that can be asked for
		if free, err := dir.Free(); err == nil {
			gauge(l.free, float64(free), "artifacts")
		} else {
			failed = true
			l.srv.outage.met(err)
		}
	}
	up := 1.0
	if l.srv.outage.is() {
		up = 0
	}
	gauge(l.up, up)
	rows, err := l.rows.get(l.srv.o.Mono, scrapeAge, func() (store.Levels, error) { return l.srv.o.DB.Levels(context.Background()) })
	if err == nil {
		l.collectRows(rows, gauge)
	}
	stored, lost := l.srv.storedBytes(storedAge)
	if lost == nil {
		gauge(l.stored, float64(stored.outputs), "outputs")
		gauge(l.stored, float64(stored.uploads), "uploads")
	}
	if failed || err != nil || lost != nil {
		l.lame.Add(1)
	}
	out <- prometheus.MustNewConstMetric(l.errors, prometheus.CounterValue, float64(l.lame.Load()))
}

// collectRows says 0 where nothing is, so that an alert sees the difference
// between nothing and unknown.
func (l *levels) collectRows(rows store.Levels, gauge func(*prometheus.Desc, float64, ...string)) {
	depth, oldest := map[string]map[string]int{}, map[string]time.Time{}
	for _, s := range media.All() {
		depth[s.Name] = map[string]int{}
	}
	for _, q := range rows.Queue {
		if depth[q.Service] == nil {
			depth[q.Service] = map[string]int{} // of an earlier version's catalogue
		}
		depth[q.Service][string(q.Status)] = q.Jobs
		if q.Status == fence.JobQueued {
			oldest[q.Service] = q.Oldest
		}
	}
	for service, jobs := range depth {
		for _, status := range liveStatuses {
			gauge(l.queue, float64(jobs[status]), service, status)
		}
		age := 0.0
		if at, ok := oldest[service]; ok {
			age = seconds(rows.At.Sub(at))
		}
		gauge(l.oldest, age, service)
	}
	for _, state := range []string{"online", "offline", "draining", "revoked"} {
		gauge(l.devices, float64(rows.Devices[state]), state)
	}
	for _, state := range []string{"pending", "failed"} {
		gauge(l.webhooks, float64(rows.Webhooks[state]), state)
	}
}

var liveStatuses = []string{string(fence.JobQueued), string(fence.JobActive), string(fence.JobVerifying), string(fence.JobCancelling)}
