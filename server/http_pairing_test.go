package server

import (
	"strings"
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

// A Mac that has no name goes by its model, if people can read that.
func TestPairing_NamesAMacByItsModel(t *testing.T) {
	for model, want := range map[string]string{"Mac mini (M4)": "Mac mini (M4)", "x\x1b[2J": "Mac", strings.Repeat("m", 1000): "Mac", "": "Mac"} {
		h := mustServe(t)
		code := into[api.Pairing](h.post("/v1/pairings", h.admin, nil).is(201)).Code
		paired := into[api.PairAnswer](h.post("/v1/provider/pair", "", api.PairRequest{Code: code, Device: api.Machine{Model: model}}).is(201))
		if d := into[api.Device](h.get("/v1/devices/"+paired.DeviceID, h.admin).is(200)); d.Name != want {
			t.Errorf("a Mac of model %q is called %q, want %q", model, d.Name, want)
		}
	}
}
