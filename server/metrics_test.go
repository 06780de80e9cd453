package server

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"rendermac/agentproto"
	"rendermac/api"
	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// scraped is a scrape, parsed as Prometheus would.
type scraped struct {
	testing.TB
	families map[string]*dto.MetricFamily
}

// scrape looks anew at what is kept for a while.
func (h *httpServer) scrape() scraped {
	h.Helper()
	h.clock.Advance(scrapeAge)
	r := h.get("/metrics", "").is(200)
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(r.body))
	if err != nil {
		h.Fatal(err)
	}
	return scraped{h, families}
}

// of is the metric with these labels, name after value; nil where there is none.
func (s scraped) of(name string, labels ...string) *dto.Metric {
	s.Helper()
	for _, m := range s.families[name].GetMetric() {
		fits := len(m.GetLabel()) == len(labels)/2
		for i := 0; fits && i < len(labels); i += 2 {
			fits = slices.ContainsFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName() == labels[i] && l.GetValue() == labels[i+1] })
		}
		if fits {
			return m
		}
	}
	return nil
}

func (s scraped) is(want float64, name string, labels ...string) {
	s.Helper()
	m := s.of(name, labels...)
	if got := m.GetGauge().GetValue() + m.GetCounter().GetValue(); m == nil || got != want {
		s.Errorf("%s %v is %v (there: %v), want %v", name, labels, got, m != nil, want)
	}
}

// times checks how many a histogram has seen, and their sum in seconds.
func (s scraped) times(n uint64, sum float64, name string) {
	s.Helper()
	if h := s.of(name).GetHistogram(); h.GetSampleCount() != n || h.GetSampleSum() != sum {
		s.Errorf("%s has seen %d of %v s together, want %d of %v", name, h.GetSampleCount(), h.GetSampleSum(), n, sum)
	}
}

// mustMeasured is a studio whose store's writer is heard as well.
func mustMeasured(t testing.TB, change ...func(*Options)) *httpServer {
	t.Helper()
	m := NewMetrics("test")
	return mustStudioOf(t, func(o *store.Options) { o.Observe = m.Wrote }, append(change, func(o *Options) { o.Metrics = m })...)
}

// mustDay is a studio with a run that succeeded, one that failed, one that runs,
// and a job that waits.
func mustDay(t testing.TB) *httpServer {
	t.Helper()
	h := mustMeasured(t)
	h.mustJob()
	h.clock.Advance(3 * time.Second) // it waits
	m := h.mustMac(1)
	r := m.mustOffer()
	r.reach(fence.AttemptUploading)
	h.clock.Advance(20 * time.Second) // it runs
	r.commit()
	hear[agentproto.CommitOK](m)
	m.say(&agentproto.Ready{SlotsFree: 1})
	m.mustRun().fail("a_code_of_its_own")
	m.say(&agentproto.Ready{SlotsFree: 1})
	m.mustRun()
	h.mustJob()
	h.clock.Advance(7 * time.Second)
	return h
}

func TestMetrics_SayWhatHappened(t *testing.T) {
	h := mustDay(t)
	h.get("/v1/jobs/job_"+strings.Repeat("0", 26), h.read).is(404)
	h.get("/nowhere/at/all", "").is(404)
	h.do("DELETE", "/healthz", "", nil).is(405)
	s := h.scrape()
	s.is(1, "rendermac_attempts_total", "outcome", "succeeded", "code", "none")
	s.is(1, "rendermac_attempts_total", "outcome", "failed", "code", "other")
	s.times(3, 3, "rendermac_job_wait_seconds")
	s.times(1, 20, "rendermac_job_run_seconds")
	s.times(1, 0, "rendermac_job_verify_seconds")
	s.is(1, "rendermac_queue_jobs", "service", "ffmpeg.transcode", "status", "active")
	s.is(1, "rendermac_queue_jobs", "service", "ffmpeg.transcode", "status", "queued")
	s.is(0, "rendermac_queue_jobs", "service", "ffmpeg.transcode", "status", "verifying")
	s.is(7+scrapeAge.Seconds(), "rendermac_queue_oldest_seconds", "service", "ffmpeg.transcode")
	s.is(1, "rendermac_devices", "state", "online")
	s.is(1, "rendermac_agents_connected")
	s.is(1, "rendermac_agent_slots")
	s.is(1, "rendermac_agent_slots_busy")
	s.is(float64(4*len(clip(t).input)+len(clip(t).output)), "rendermac_blob_received_bytes_total")
	s.is(0, "rendermac_blob_sent_bytes_total")
	s.is(1, "rendermac_http_requests_total", "method", "GET", "route", "/v1/jobs/{id}", "status", "4xx")
	s.is(2, "rendermac_http_requests_total", "method", "other", "route", "other", "status", "4xx")
	s.is(4, "rendermac_http_requests_total", "method", "POST", "route", "/v1/jobs", "status", "2xx")
	s.is(1, "rendermac_build_info", "version", "test")
	s.is(0, "rendermac_scrape_errors_total")
	s.is(0, "rendermac_writer_lost_batches_total")
	if n := s.of("rendermac_writer_batch_size").GetHistogram(); n.GetSampleCount() == 0 || n.GetSampleSum() < float64(n.GetSampleCount()) {
		t.Errorf("the writer was heard of as %v", n)
	}
	for _, name := range []string{"rendermac_database_bytes", "rendermac_wal_bytes"} {
		if s.of(name).GetGauge().GetValue() <= 0 {
			t.Errorf("%s is not there", name)
		}
	}
	for _, disk := range []string{"database", "artifacts"} {
		if s.of("rendermac_disk_free_bytes", "disk", disk).GetGauge().GetValue() <= 0 {
			t.Errorf("no room on the disk of the %s", disk)
		}
	}
}

func TestMetrics_BytesOutAreTheDownload(t *testing.T) {
	h := mustMeasured(t)
	j := h.mustSubmit(h.submit)
	h.mustSucceed([]byte("ten bytes."))
	at := h.get("/v1/jobs/"+j.ID+"/output", h.read).is(302).Header.Get("Location")
	h.get(at, "").is(200)
	h.do("GET", at, "", nil, "Range", "bytes=0-3").is(206)
	h.do("HEAD", at, "", nil).is(200)
	h.scrape().is(14, "rendermac_blob_sent_bytes_total")
}

// No label has an id, a name or a path of anyone's in it.
func TestMetrics_LabelsAreOurOwnWords(t *testing.T) {
	h := mustDay(t)
	h.get("/v1/jobs/..%2f..%2fetc", h.read)
	h.do("PATCHY", "/v1/jobs", "", nil)
	id := regexp.MustCompile(`(job|att|dev|upl|acc|key|whd)_[0-9a-z]{10}|etc|PATCHY|mini|a_code_of_its_own`)
	for name, f := range h.scrape().families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if id.MatchString(l.GetValue()) {
					t.Errorf("%s has %s=%q", name, l.GetName(), l.GetValue())
				}
			}
		}
	}
}

func TestMetrics_AreForThisMachine(t *testing.T) {
	cases := []struct {
		name, peer string
		public     bool
		headers    []string
		want       int
	}{
		{"loopback", "127.0.0.1:9", false, nil, 200},
		{"loopback of IPv6", "[::1]:9", false, nil, 200},
		{"another machine", "192.0.2.7:9", false, nil, 403},
		{"another machine, public", "192.0.2.7:9", true, nil, 200},
		{"through a trusted proxy", "10.0.0.1:9", false, []string{"X-Forwarded-For", "192.0.2.7"}, 403},
		{"through a trusted proxy that is told of loopback", "10.0.0.1:9", false, []string{"X-Forwarded-For", "127.0.0.1"}, 403},
		{"through a proxy here that is not trusted", "127.0.0.1:9", false, []string{"X-Forwarded-For", "192.0.2.7"}, 403},
		{"through another kind of proxy", "127.0.0.1:9", false, []string{"Forwarded", "for=192.0.2.7"}, 403},
		{"through a proxy, public", "10.0.0.1:9", true, []string{"X-Forwarded-For", "192.0.2.7"}, 200},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := mustServe(t, func(o *Options) { o.MetricsPublic, o.TrustedProxies = c.public, []string{"10.0.0.0/8"} })
			r := httptest.NewRequest("GET", "/metrics", nil)
			r.RemoteAddr = c.peer
			for i := 0; i < len(c.headers); i += 2 {
				r.Header.Set(c.headers[i], c.headers[i+1])
			}
			w := httptest.NewRecorder()
			h.srv.Handler().ServeHTTP(w, r)
			if w.Code != c.want || w.Code == 403 && (w.Header().Get("Content-Type") != api.ProblemType || !strings.Contains(w.Body.String(), "metrics.public")) {
				t.Errorf("%d %s, want %d", w.Code, w.Body, c.want)
			}
		})
	}
}

// What can be read is answered, what cannot is missing, and the scrape says so.
func TestMetrics_WithoutTheDatabase(t *testing.T) {
	h := mustMeasured(t)
	if h.scrape().of("rendermac_devices", "state", "online") == nil {
		t.Fatal("no devices while the database is there")
	}
	if err := h.db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(h.dir, "rendermac.db")); err != nil {
		t.Fatal(err)
	}
	s := h.scrape()
	if s.families["rendermac_devices"] != nil || s.families["rendermac_database_bytes"] != nil {
		t.Error("rows are known without a database")
	}
	s.is(0, "rendermac_agents_connected")
	if s.of("rendermac_disk_free_bytes", "disk", "artifacts") == nil || s.of("go_goroutines") == nil {
		t.Error("what does not need the database is missing too")
	}
	s.is(1, "rendermac_scrape_errors_total")
	h.scrape().is(2, "rendermac_scrape_errors_total")
}

// A look at the rows serves every scrape for a while.
func TestMetrics_OneLookServesManyScrapes(t *testing.T) {
	h := mustServe(t)
	h.scrape()
	storetest.MustPair(t, h.db, "mini")
	again := func() float64 {
		parser := expfmt.NewTextParser(model.LegacyValidation)
		families, err := parser.TextToMetricFamilies(bytes.NewReader(h.get("/metrics", "").is(200).body))
		if err != nil {
			t.Fatal(err)
		}
		return scraped{t, families}.of("rendermac_devices", "state", "offline").GetGauge().GetValue()
	}
	if n := again(); n != 0 {
		t.Errorf("%v devices within the age of the look", n)
	}
	h.clock.Advance(scrapeAge - time.Nanosecond)
	if n := again(); n != 0 {
		t.Errorf("%v devices a moment before", n)
	}
	h.clock.Advance(time.Nanosecond)
	if n := again(); n != 1 {
		t.Errorf("%v devices at its end", n)
	}
}

func TestMetrics_EveryRouteHasItsPattern(t *testing.T) {
	h := mustServe(t)
	for _, r := range h.srv.table() {
		if r.path == "/v1/provider/ws" {
			continue // a WebSocket needs more than a recorder
		}
		request := httptest.NewRequest(r.method, strings.NewReplacer("{key}", "a/b", "{id}", "x", "{n}", "1", "{name}", "x").Replace(r.path), http.NoBody)
		h.srv.Handler().ServeHTTP(httptest.NewRecorder(), request)
	}
	s := h.scrape()
	for _, r := range h.srv.table() {
		found := r.path == "/v1/provider/ws"
		for _, m := range s.families["rendermac_http_requests_total"].GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			found = found || labels["method"] == r.method && labels["route"] == r.path
		}
		if !found {
			t.Errorf("%s %s was not counted under its pattern", r.method, r.path)
		}
	}
}

var metricName = regexp.MustCompile(`\brendermac_[a-z0-9_]+`)

// Each metric that an alert names is in a scrape after a real run, and each label
// that it asks for is one of that metric's.
func TestMetrics_EveryAlertCanFire(t *testing.T) {
	text, err := os.ReadFile("../docs/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := mustDay(t).scrape()
	alerts := regexp.MustCompile(`(?m)^ +- alert: (\w+)\n +expr: (.+)$`).FindAllStringSubmatch(string(text), -1)
	if len(alerts) != strings.Count(string(text), "- alert:") || len(alerts) < 10 {
		t.Fatalf("%d alerts could be read", len(alerts))
	}
	labelsOf := regexp.MustCompile(`(rendermac_[a-z0-9_]+)\{([^}]*)\}`)
	for _, a := range alerts {
		names := metricName.FindAllString(a[2], -1)
		if len(names) == 0 && !strings.HasPrefix(a[2], "up{") {
			t.Errorf("%s names no metric", a[1])
		}
		for _, name := range names {
			f := s.families[strings.TrimSuffix(name, "_bucket")]
			if f == nil || strings.HasSuffix(name, "_bucket") != (f.GetType() == dto.MetricType_HISTOGRAM) {
				t.Errorf("%s: no scrape has %s", a[1], name)
			}
		}
		for _, m := range labelsOf.FindAllStringSubmatch(a[2], -1) {
			for _, label := range regexp.MustCompile(`(\w+)=`).FindAllStringSubmatch(m[2], -1) {
				if !slices.ContainsFunc(s.families[m[1]].GetMetric()[0].GetLabel(), func(l *dto.LabelPair) bool { return l.GetName() == label[1] }) {
					t.Errorf("%s: %s has no label %s", a[1], m[1], label[1])
				}
			}
		}
	}
}

var described = regexp.MustCompile(`^Desc\{fqName: "(rendermac_\w+)", help: "([^"]*)", unit: "", constLabels: \{(?:(\w+)=[^}]*)?\}, variableLabels: \{([^}]*)\}\}$`)

// The table of docs/operations.md is the code's own.
func TestMetrics_AreThoseOfTheManual(t *testing.T) {
	h := mustServe(t)
	all := make(chan *prometheus.Desc)
	go func() {
		h.srv.metrics.registry.Describe(all)
		close(all)
	}()
	var rows []string
	for d := range all {
		if !strings.Contains(d.String(), `"rendermac_`) {
			continue // Go's own and the process's
		}
		m := described.FindStringSubmatch(d.String())
		if m == nil {
			t.Fatalf("cannot read %s", d)
		}
		labels := strings.ReplaceAll(m[3]+m[4], ",", "`, `")
		if labels != "" {
			labels = "`" + labels + "`"
		}
		rows = append(rows, "| `"+m[1]+"` | "+labels+" | "+m[2]+" |")
	}
	slices.Sort(rows)
	manual, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	if got := regexp.MustCompile("(?m)^\\| `rendermac_.*$").FindAllString(string(manual), -1); !slices.Equal(got, rows) {
		t.Errorf("docs/operations.md must have these rows and no others:\n%s", strings.Join(rows, "\n"))
	}
}
