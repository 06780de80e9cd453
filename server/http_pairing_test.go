package server

import (
	"testing"

	"rendermac/api"
)

func TestHTTP_PairingNamesWhatOtherMachinesReach(t *testing.T) {
	h := mustServe(t, func(o *Options) { o.WideURL = "http://192.168.1.20:7420" })
	p := into[api.Pairing](h.post("/v1/pairings", h.admin, nil).is(201))
	if p.Command != "rendermac pair http://192.168.1.20:7420 "+p.Code {
		t.Errorf("asked over loopback: %q", p.Command)
	}
}
