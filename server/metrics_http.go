package server

import (
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"rendermac/api"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// getMetrics answers this machine, and others where metrics.public lets them. A
// scrape that cannot read everything still answers with the rest.
func (s *Server) getMetrics(c echo.Context) error {
	if !s.o.MetricsPublic && !fromHere(c) {
		return refuse(http.StatusForbidden, api.CodeForbidden,
			"Metrics are for the server's own machine; scrape them from there, or set metrics.public to true.")
	}
	promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}).ServeHTTP(c.Response(), c.Request())
	return nil
}

// fromHere says whether a request was made on this machine. One that a proxy has
// handed on was not, whoever the proxy is and whether or not it is trusted.
func fromHere(c echo.Context) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"} {
		if len(c.Request().Header.Values(name)) > 0 {
			return false
		}
	}
	addr, err := netip.ParseAddr(c.RealIP())
	return err == nil && addr.Unmap().IsLoopback()
}

// measured counts and times every request under its route's pattern; what is no
// route is "other", so that nobody outside makes series.
func (s *Server) measured() echo.MiddlewareFunc {
	patterns := map[string]string{}
	for _, r := range s.table() {
		patterns[r.method+" "+echoPath.Replace(r.path)] = r.path
	}
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			began := s.o.Mono()
			method, pattern := c.Request().Method, patterns[c.Request().Method+" "+c.Path()]
			if pattern == "" {
				method, pattern = "other", "other"
			}
			defer func() { s.metrics.answered(method, pattern, c.Response(), s.o.Mono()-began) }()
			if err := next(c); err != nil {
				c.Error(err) // now, or the status would not be known yet
			}
			return nil
		}
	}
}

func (m *Metrics) answered(method, pattern string, r *echo.Response, took time.Duration) {
	m.requests.WithLabelValues(method, pattern, strconv.Itoa(r.Status/100)+"xx").Inc()
	stream := r.Status == http.StatusSwitchingProtocols || strings.HasPrefix(r.Header().Get(echo.HeaderContentType), "text/event-stream")
	if !stream {
		m.requestTime.WithLabelValues(pattern).Observe(took.Seconds())
	}
}
