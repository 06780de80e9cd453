package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"
)

const answerTime = 5 * time.Second

// port checks that the server can listen, or that it is the one that does.
func (d *doctor) port(ctx context.Context) {
	listener, err := net.Listen("tcp", d.c.Listen)
	if err == nil {
		listener.Close()
		d.ok("port", d.c.Listen+" is free")
		return
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		d.fail("port", fmt.Sprintf("%s cannot be listened on (%v)", d.c.Listen, err), "change listen")
		return
	}
	status, _, err := get(ctx, d.c.LocalURL()+"/readyz")
	switch {
	case err == nil && status == http.StatusOK:
		d.ok("port", "a server is ready at "+d.c.LocalURL())
	case err == nil && status == http.StatusServiceUnavailable:
		d.fail("port", "the server at "+d.c.LocalURL()+" is not ready", "read its log")
	default:
		d.fail("port", d.c.Listen+" is used by another program", "end it, or change listen")
	}
}

const (
	clockSkew = 5 * time.Second // a Date header has whole seconds
	clockRoom = 48 * time.Hour
)

// pairing checks the way to the server this machine works for, and the clock
// against that server's.
func (d *doctor) pairing(ctx context.Context) {
	p, err := loadPairing(d.c.Data)
	if errors.Is(err, errNotPaired) {
		d.ok("pairing", "none: this machine runs no agent")
		d.clock()
		return
	}
	if err != nil {
		d.fail("pairing", err.Error(), "see rendermac pair --help")
		return
	}
	if info, err := os.Stat(pairingFile(d.c.Data)); err == nil && info.Mode().Perm()&0o077 != 0 {
		d.warn("pairing", "other users of this machine can read the device token", fmt.Sprintf("chmod 600 %q", pairingFile(d.c.Data)))
	}
	asked := time.Now()
	_, date, err := get(ctx, p.URL+"/healthz")
	if err != nil {
		d.fail("pairing", "the server at "+p.URL+" does not answer", "start it, or mend the network")
		d.clock()
		return
	}
	d.ok("pairing", p.DeviceID+" of "+p.URL)
	if skew := date.Sub(asked).Abs(); !date.IsZero() && skew > clockSkew+time.Since(asked) {
		d.warn("clock", fmt.Sprintf("differs from the server's by %s", skew.Round(time.Second)), "turn on setting the time automatically")
		return
	}
	d.ok("clock", "agrees with the server's")
}

// clock checks what can be known alone: this program was not built in the future.
func (d *doctor) clock() {
	path, err := os.Executable()
	if err != nil {
		return
	}
	info, err := os.Stat(path)
	if err == nil && info.ModTime().After(time.Now().Add(clockRoom)) {
		d.fail("clock", "says "+time.Now().Format(time.RFC3339)+", before this program was built", "set it")
		return
	}
	d.ok("clock", time.Now().Format(time.RFC3339))
}

// get answers status and Date of a short request.
func get(ctx context.Context, url string) (status int, date time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, date, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, date, err
	}
	response.Body.Close()
	date, _ = http.ParseTime(response.Header.Get("Date")) // zero where there is none
	return response.StatusCode, date, nil
}
