package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"rendermac/api"
)

func TestWebhook_WhoMayBeReached(t *testing.T) {
	for want, list := range map[reach]string{
		reachAnyone: "1.1.1.1 8.8.8.8 172.32.0.1 100.128.0.1 192.0.1.1 2606:4700::1111 ::ffff:8.8.8.8 64:ff9b::808:808 2002:808:808::1",
		reachPrivate: `127.0.0.1 127.9.9.9 ::1 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 198.18.0.1 fc00::1 fd12::1 fec0::1
			::ffff:127.0.0.1 ::ffff:10.0.0.1 64:ff9b::7f00:1 64:ff9b::a00:1 2002:7f00:1::1 2002:c0a8:101::1`,
		reachNobody: `169.254.169.254 169.254.0.1 0.0.0.0 0.1.2.3 224.0.0.1 239.255.255.255 255.255.255.255 240.0.0.1 192.0.0.192 100.100.100.200
			:: fe80::1 fe80::1%eth0 ff02::1 fd00:ec2::254 fd00:ec2::23 fd20:ce::254 168.63.129.16 64:ff9b:1::1 2001::1 ::7f00:1
			::ffff:169.254.169.254 ::ffff:0.0.0.0 64:ff9b::a9fe:a9fe 64:ff9b::0.0.0.0 2002:a9fe:a9fe::1 ::ffff:224.0.0.1`,
	} {
		for _, text := range strings.Fields(list) {
			a := netip.MustParseAddr(text)
			if got, _ := reachOf(a); got != want {
				t.Errorf("%s may be reached by %v, want %v", text, got, want)
			}
			for _, allowed := range []bool{false, true} {
				err := addressCheck{allowed}.control("tcp", netip.AddrPortFrom(a, 80).String(), nil)
				if may := want == reachAnyone || want == reachPrivate && allowed; may != (err == nil) {
					t.Errorf("%s with private ones allowed %v: %v", text, allowed, err)
				}
			}
		}
	}
}

// doorbell counts the connections that anyone opens to it.
func doorbell(t *testing.T, network, address string) (port string, heard *atomic.Int64) {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Skipf("this machine has no %s: %v", address, err)
	}
	heard = new(atomic.Int64)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			heard.Add(1)
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port, heard
}

// Where private addresses are not allowed nobody in here hears as much as a
// connection, however the address is written.
func TestWebhook_NothingGoesToThisMachine(t *testing.T) {
	port, heard := doorbell(t, "tcp", "127.0.0.1:0")
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "127.1", "0x7f000001", "2130706433"} {
		t.Run(host, func(t *testing.T) {
			h := mustServe(t)
			j := h.mustTell("http://" + host + ":" + port + "/")
			h.deliver()
			d := h.delivery(j.ID)
			if d.State != "pending" || d.Tries != 1 || d.LastError == nil {
				t.Errorf("the delivery is %+v", d)
			}
			if net.ParseIP(strings.Trim(host, "[]")) != nil && !strings.Contains(*d.LastError, "allow such with webhooks.allow_private") {
				t.Errorf("it does not say what to do: %s", *d.LastError)
			}
		})
	}
	if n := heard.Load(); n != 0 {
		t.Errorf("%d connections were opened", n)
	}
}

// A name that resolves to an honest address as it is looked at, and to this
// machine as it is connected to, gains nothing. Neither does a proxy of the
// environment.
func TestWebhook_ANameThatIsReboundGainsNothing(t *testing.T) {
	proxy := mustReceive(t, nil)
	t.Setenv("HTTP_PROXY", proxy.url)
	port, heard := doorbell(t, "tcp", "127.0.0.1:0")
	var asked atomic.Int64
	names := nameServer(t, func() [4]byte { asked.Add(1); return [4]byte{127, 0, 0, 1} })
	for _, c := range []struct {
		change []func(*Options)
		opened int64
	}{{nil, 0}, {[]func(*Options){private}, 1}} {
		h := mustServe(t, c.change...)
		h.srv.deliverer.sender.dialer.Resolver = names
		j := h.mustTell("http://hook.example.test:" + port + "/")
		h.deliver()
		if d := h.delivery(j.ID); d.Tries != 1 || c.opened == 0 && !strings.Contains(*d.LastError, "127.0.0.1 is loopback") {
			t.Errorf("the delivery is %+v", d)
		}
		if n := heard.Load(); n != c.opened {
			t.Errorf("%d connections were opened, want %d", n, c.opened)
		}
	}
	if asked.Load() < 2 {
		t.Error("the name was not resolved at each try")
	}
	proxy.hears(0)
}

// nameServer is a resolver that asks a real name server, which answers every
// question for an IPv4 address as it is told.
func nameServer(t *testing.T, address func() [4]byte) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for q := make([]byte, 1500); ; {
			n, from, err := conn.ReadFrom(q)
			if err != nil {
				return
			}
			_, _ = conn.WriteTo(nameAnswer(q[:n], address), from)
		}
	}()
	t.Cleanup(func() { conn.Close(); <-done })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// nameAnswer repeats the question and answers it, if it is for an A record.
func nameAnswer(query []byte, address func() [4]byte) []byte {
	end := 12
	for query[end] != 0 {
		end += int(query[end]) + 1
	}
	kind := binary.BigEndian.Uint16(query[end+1:])
	question := query[12 : end+5]
	out := append([]byte{query[0], query[1], 0x84, 0, 0, 1, 0, 0, 0, 0, 0, 0}, question...)
	if kind == 1 {
		ip := address()
		out[7] = 1
		out = append(out, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ip[0], ip[1], ip[2], ip[3])
	}
	return out
}

func TestWebhook_CertificatesAreVerified(t *testing.T) {
	h := mustServe(t, private)
	r := &receiver{TB: t}
	s := httptest.NewUnstartedServer(r)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	j := h.mustTell(s.URL)
	h.deliver()
	r.hears(0)
	d := h.delivery(j.ID)
	if d.State != "pending" || !strings.Contains(*d.LastError, "certificate") {
		t.Fatalf("the delivery is %+v", d)
	}
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	trusting := mustServe(t, private)
	trusting.srv.deliverer.sender.transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	j = trusting.mustTell(s.URL)
	trusting.deliver()
	r.hears(1)
	if d := trusting.delivery(j.ID); d.State != "delivered" {
		t.Errorf("the delivery is %+v", d)
	}
}

// What can never be delivered is refused as it is submitted.
func TestWebhook_URLsThatAreRefused(t *testing.T) {
	h := mustServe(t)
	u := h.mustUpload(h.submit, "clip.mov", []byte("clip"))
	submit := func(webhook string) reply {
		return h.post("/v1/jobs", h.submit, api.JobRequest{Service: "ffmpeg.transcode", Inputs: []api.Input{{UploadID: &u.ID}}, WebhookURL: &webhook})
	}
	for _, bad := range []string{
		"http://169.254.169.254/latest/meta-data/", "http://[fe80::1%25eth0]/", "http://[fd00:ec2::254]/", "http://0.0.0.0/", "https://[::ffff:169.254.169.254]/",
		"http://user:secret@example.test/", "http:///x", "http://", "http://x y/", "ftp://example.test/", "//example.test/", "http://" + strings.Repeat("x", 2048),
	} {
		no := submit(bad).refuses(422, "invalid_request")
		if len(no.Errors) != 1 || no.Errors[0].Location != "webhook_url" || strings.Contains(no.Errors[0].Message, "secret") {
			t.Errorf("%s: %+v", bad, no.Errors)
		}
	}
	for _, good := range []string{"http://127.0.0.1:9/", "https://10.0.0.1/x?y=z", "https://example.test:8443/hook#part", "http://[2606:4700::1111]/"} {
		submit(good).is(201)
	}
}
