package main

import (
	"strings"
	"testing"

	"rendermac/api"
)

func TestStats_Print(t *testing.T) {
	two, share, p := 2, 0.254, 1.25
	s := &api.Stats{
		Queue:   api.Queue{Depth: api.Depth{Queued: 3}, Services: []api.ServiceQueue{{Service: "ffmpeg.transcode", Depth: api.Depth{Queued: 3}}}},
		Wait:    api.Percentiles{Jobs: 7, P50: &p, P90: &p, P99: &p},
		Devices: []api.DeviceLoad{{ID: "dev_1", Name: "mini\x1b[31m", State: "online", Slots: &two, Busy: 1, BusyShare: &share}, {ID: "dev_2", Name: "b", State: "offline"}},
		Hours:   []api.Hour{{Submitted: 1, Succeeded: 1}, {Submitted: 2, Failed: 1, Cancelled: 1}},
	}
	var out strings.Builder
	if err := printStats(&out, s); err != nil {
		t.Fatal(err)
	}
	want := `QUEUE             QUEUED  ACTIVE  VERIFYING  CANCELLING
all               3       0       0          0
ffmpeg.transcode  3       0       0          0

TIME    JOBS  P50    P90    P99
wait    7     1.2 s  1.2 s  1.2 s
run     0     –      –      –
verify  0     –      –      –

DEVICE  NAME            STATE    BUSY  LAST 24 H
dev_1   mini\u001b[31m  online   1/2   25 %
dev_2   b               offline  0     –

Last 24 h: 3 submitted, 1 succeeded, 1 failed, 1 cancelled.
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
