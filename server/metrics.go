package server

import (
	"slices"
	"time"

	"rendermac/fence"
	"rendermac/store"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Metrics is what Prometheus is told. It is made before the store is opened, so
// that the store's writer can be heard too. No label holds an id, or anything
// else that grows with use.
type Metrics struct {
	registry *prometheus.Registry

	wait, run, verify prometheus.Histogram
	attempts          *prometheus.CounterVec

	batch, writerWait, batchTime prometheus.Histogram
	lost                         prometheus.Counter

	received, sent      prometheus.Counter
	removed, freedBytes *prometheus.CounterVec
	requests            *prometheus.CounterVec
	requestTime         *prometheus.HistogramVec
}

var (
	hoursOfWork = []float64{1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 12 * 3600, 24 * 3600}
	anyTime     = []float64{.001, .005, .025, .1, .5, 1, 5, 15, 60, 300, 900, 3600}
	quickTime   = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5}
)

// NewMetrics makes a registry of its own: nothing is global.
func NewMetrics(version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),

		wait:     histogram("rendermac_job_wait_seconds", "From a job's submit to its first lease.", hoursOfWork),
		run:      histogram("rendermac_job_run_seconds", "From an attempt's lease to its commit.", hoursOfWork),
		verify:   histogram("rendermac_job_verify_seconds", "From an attempt's commit to the end of its verification.", anyTime),
		attempts: counters("rendermac_attempts_total", "Attempts that have ended, by outcome and failure code.", "outcome", "code"),

		batch:      histogram("rendermac_writer_batch_size", "Transactions that shared one COMMIT.", prometheus.ExponentialBuckets(1, 2, 9)),
		writerWait: histogram("rendermac_writer_wait_seconds", "How long the first transaction of a batch stood in line.", quickTime),
		batchTime:  histogram("rendermac_writer_batch_seconds", "From a batch's BEGIN to the end of its COMMIT.", quickTime),
		lost:       counter("rendermac_writer_lost_batches_total", "Batches that did not reach the disk."),

		received:    counter("rendermac_blob_received_bytes_total", "Bytes of parts that came in through signed URLs."),
		sent:        counter("rendermac_blob_sent_bytes_total", "Bytes of objects that went out through signed URLs."),
		removed:     counters("rendermac_retention_removed_total", "What retention has removed, by kind.", "kind"),
		freedBytes:  counters("rendermac_retention_freed_bytes_total", "Bytes of the files that retention has removed, by kind.", "kind"),
		requests:    counters("rendermac_http_requests_total", "Requests, by method, route pattern and class of status.", "method", "route", "status"),
		requestTime: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "rendermac_http_request_seconds", Help: "How long an answer took, by route pattern; streams and WebSockets are not timed.", Buckets: anyTime}, []string{"route"}),
	}
	for _, kind := range []string{"outputs", "uploads", "open_uploads", "logs", "events", "deliveries"} {
		m.freed(kind, 0, 0) // 0 until there is something: nothing is not unknown
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "rendermac_build_info", Help: "1, with the version.", ConstLabels: prometheus.Labels{"version": version}})
	build.Set(1)
	m.registry.MustRegister(m.wait, m.run, m.verify, m.attempts, m.batch, m.writerWait, m.batchTime, m.lost,
		m.received, m.sent, m.removed, m.freedBytes, m.requests, m.requestTime, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func histogram(name, help string, buckets []float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// Wrote hears of each batch of the store's writer.
func (m *Metrics) Wrote(b store.Batch) {
	m.batch.Observe(float64(b.Closures))
	m.writerWait.Observe(b.Waited.Seconds())
	m.batchTime.Observe(b.Took.Seconds())
	if b.Lost {
		m.lost.Inc()
	}
}

func (m *Metrics) leased(o *store.Offer) {
	if o.AttemptNumber == 1 {
		m.wait.Observe(o.Waited.Seconds())
	}
}

// ended counts what has been committed. A clock that was set back makes no
// negative time.
func (m *Metrics) ended(e store.Ended) {
	m.attempts.WithLabelValues(string(e.Attempt), codeLabel(e)).Inc()
	if !e.ClaimedAt.IsZero() {
		m.run.Observe(seconds(e.ClaimedAt.Sub(e.LeasedAt)))
		m.verify.Observe(seconds(e.At.Sub(e.ClaimedAt)))
	}
}

func seconds(d time.Duration) float64 { return max(0, d).Seconds() }

// codeLabel is a code that the rules know. Agents may send others, and every one
// would be a series.
func codeLabel(e store.Ended) string {
	switch {
	case e.Attempt == fence.AttemptSucceeded:
		return "none"
	case slices.Contains(fence.Codes, e.Code):
		return e.Code
	}
	return "other"
}

func (m *Metrics) moved(in, out int64) {
	m.received.Add(float64(in))
	m.sent.Add(float64(out))
}

// freed counts what retention has removed; rows free no bytes of the disk.
func (m *Metrics) freed(kind string, n, bytes int64) {
	m.removed.WithLabelValues(kind).Add(float64(n))
	m.freedBytes.WithLabelValues(kind).Add(float64(bytes))
}
