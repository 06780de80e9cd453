package main

import (
	"strings"
	"testing"

	"rendermac/api"
)

func TestGC_Print(t *testing.T) {
	r := &api.GC{
		DryRun: true, Outputs: api.Freed{Count: 12, Bytes: 3_400_000_000}, Uploads: api.Freed{Count: 1, Bytes: 999}, Logs: 3, Events: 40_000,
	}
	var out strings.Builder
	if err := printGC(&out, r); err != nil {
		t.Fatal(err)
	}
	want := `WOULD GO      COUNT  BYTES   BY
outputs       12     3.4 GB  retention.outputs, retention.outputs_max_bytes
uploads       1      999 B   retention.uploads, retention.uploads_max_bytes
open uploads  0      0 B     retention.uploads
logs          3      –       retention.logs
events        40000  –       retention.events
deliveries    0      –       retention.deliveries

3.4 GB would be freed. Nothing was removed.
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	out.Reset()
	r.DryRun = false
	if err := printGC(&out, r); err != nil || !strings.HasPrefix(out.String(), "REMOVED ") || !strings.HasSuffix(out.String(), "\n3.4 GB were freed.\n") {
		t.Errorf("got\n%s (%v)", out.String(), err)
	}
}

func TestMoments_MayBeDaysAgo(t *testing.T) {
	week, err := momentAgo("--since", "7d")
	if err != nil {
		t.Fatal(err)
	}
	hours, err := momentAgo("--since", "168h")
	if d := hours.Sub(week); err != nil || d < 0 || d.Minutes() > 1 {
		t.Errorf("7d is %v, and 168h %v (%v)", week, hours, err)
	}
}
