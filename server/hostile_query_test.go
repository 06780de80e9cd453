package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"rendermac/api"

	"github.com/getkin/kin-openapi/openapi3"
)

// hostileTexts are put where a route takes a text of the client's.
var hostileTexts = []string{
	"", "%00", "..%2F..%2Fetc%2Fpasswd", "a%2Fb", "%2e%2e", "%0d%0aX-Evil:1", "%ff%fe", "%F0%9F%8E%AC", "'%20OR%201=1--", "*", "%25s%25n", strings.Repeat("x", 5000),
}

func TestHostile_IDs(t *testing.T) {
	h := mustServe(t)
	doc := h.mustDocument()
	for _, r := range h.srv.table() {
		if r.scope == scopeNone || !strings.Contains(r.path, "{") {
			continue
		}
		op := doc.Paths.Value(r.path).GetOperation(r.method)
		for _, text := range hostileTexts[1:] {
			path := strings.NewReplacer("{id}", text, "{n}", "1").Replace(r.path)
			h.isRefused(op, h.do(r.method, path, h.admin, bodyFor(r)))
		}
	}
}

// bodyFor is the route's own example, or none.
func bodyFor(r route) any {
	if text := exampleBodies[r.id]; text != nil {
		return []byte(text)
	}
	return nil
}

// isRefused minds that an answer is a problem of the client's, as described.
func (h *httpServer) isRefused(op *openapi3.Operation, r reply) {
	h.Helper()
	if r.StatusCode < 400 || r.StatusCode >= 500 {
		h.Errorf("%s %.200s was answered with %d: %s", r.Request.Method, r.Request.URL, r.StatusCode, r.body)
		return
	}
	h.isDescribed(op, r)
	if strings.Contains(string(r.body), hostileValue) {
		h.Errorf("%s repeats what was sent: %s", op.OperationID, r.body)
	}
}

func TestHostile_Queries(t *testing.T) {
	h := mustServe(t)
	doc := h.mustDocument()
	limits := []string{"0", "-1", "501", "abc", "", "1e2", "99999999999999999999", "1.0", "0x10", "%00", hostileValue, "1,2"}
	for _, r := range h.srv.table() {
		op := doc.Paths.Value(r.path).GetOperation(r.method)
		if r.scope == scopeNone || r.method != http.MethodGet {
			continue
		}
		path, _, _ := h.exampleOf(r, op)
		h.isRefused(op, h.get(path+"?%3C"+hostileValue+"%3E=1", h.admin))
		for _, p := range op.Parameters {
			if p.Value.In != "query" {
				continue
			}
			for _, value := range hostileTexts {
				h.survives(op, h.get(path+"?"+p.Value.Name+"="+value, h.admin))
			}
			if p.Value.Name == "limit" {
				for _, value := range limits {
					if value != "" { // empty is absent
						h.isRefused(op, h.get(path+"?limit="+value, h.admin))
					}
				}
			}
		}
	}
}

// survives lets a text be taken, where it is one that a client may look for, but
// for none of them may the server break.
func (h *httpServer) survives(op *openapi3.Operation, r reply) {
	h.Helper()
	if r.StatusCode >= 500 {
		h.Errorf("%s %.200s was answered with %d: %s", r.Request.Method, r.Request.URL, r.StatusCode, r.body)
		return
	}
	h.isDescribed(op, r)
}

func TestHostile_Headers(t *testing.T) {
	h := mustServe(t)
	doc := h.mustDocument()
	for _, r := range h.srv.table() {
		op := doc.Paths.Value(r.path).GetOperation(r.method)
		if !slices.ContainsFunc(op.Parameters, func(p *openapi3.ParameterRef) bool { return p.Value.Name == "Idempotency-Key" }) {
			continue
		}
		path, body, _ := h.exampleOf(r, op)
		for _, key := range []string{strings.Repeat("x", 256), "a\tb", "\xff"} {
			h.isRefused(op, h.do(r.method, path, h.admin, body, "Idempotency-Key", key))
		}
	}
	for _, auth := range []string{"Bearer", "Bearer ", "Bearer rm_", "Bearer rm_" + strings.Repeat("x", 10_000), "Bearer rm_\xff", "Bearer rm_'--", "rm_x"} {
		h.do("GET", "/v1/jobs", "", nil, "Authorization", auth, "X-Forwarded-For", "203.0.113.9").refuses(401, "unauthenticated")
	}
}

// A list's cursor that no page has given is refused or names a place; it never
// shows what the key may not see.
func TestHostile_Cursors(t *testing.T) {
	h := mustServe(t)
	s := h.mustBusyStudio()
	for _, path := range []string{"/v1/jobs", "/v1/devices", "/v1/services"} {
		for _, cursor := range []string{"zzzz", "~", "%00", "-1", "%7B%7D", url.QueryEscape(s.secret[0]), strings.Repeat("z", 255)} {
			r := h.get(path+"?cursor="+cursor, h.otherAccountSubmit)
			for _, secret := range s.secret {
				if r.StatusCode >= 500 || strings.Contains(string(r.body), secret) {
					t.Errorf("%s?cursor=%s: %d %s", path, cursor, r.StatusCode, r.body)
				}
			}
		}
		h.get(path+"?cursor="+strings.Repeat("z", 4000), h.otherAccountSubmit).refuses(422, "invalid_request")
	}
}

// A body that trickles in is cut off when its time is over, and is answered.
func TestHostile_ASlowBodyIsCutOff(t *testing.T) {
	inBubble(t, func(b *bubble) {
		ours, theirs := net.Pipe()
		b.wires.arriving <- theirs
		defer ours.Close()
		start, cut := time.Now(), make(chan struct{})
		go func() {
			_, err := fmt.Fprintf(ours, "POST /v1/uploads HTTP/1.1\r\nHost: rendermac.test\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n", b.submit)
			for err == nil {
				time.Sleep(time.Second) // in the bubble's time
				_, err = ours.Write([]byte(" "))
			}
			close(cut)
		}()
		response, err := http.ReadResponse(bufio.NewReader(ours), nil)
		if err != nil {
			b.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		if response.StatusCode != 400 || !strings.Contains(string(body), api.CodeBadJSON) || time.Since(start) != bodyTimeout {
			b.Errorf("after %v: %d %s", time.Since(start), response.StatusCode, body)
		}
		<-cut // the connection is closed, and the client hears of it
	})
}
