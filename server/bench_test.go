package server

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"rendermac/agentproto"
	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

// BenchmarkSubmitToOffer is the time from a submit to the moment a waiting
// agent has its lease_offer in hand, over real WebSockets.
func BenchmarkSubmitToOffer(b *testing.B) {
	for _, waiting := range []int{1, 50} {
		b.Run(fmt.Sprintf("waiting=%d", waiting), func(b *testing.B) {
			h := mustStudio(b)
			job := storetest.Job(h.account, storetest.MustUpload(b, h.db, h.account))
			heard := make(chan *run)
			for range waiting {
				m := h.mustMac(1)
				go m.takeAndFail(heard)
			}
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				if _, err := h.db.SubmitOnce(context.Background(), store.Once{}, job); err != nil {
					b.Fatal(err)
				}
				h.srv.submitted(time.Time{})
				<-heard
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

// takeAndFail says each offer it gets, and gives it up at once.
func (m *mac) takeAndFail(heard chan<- *run) {
	for {
		msg, err := m.next()
		if err != nil {
			return
		}
		if o, ok := msg.(*agentproto.LeaseOffer); ok {
			heard <- &run{offer: o}
			frame, _ := agentproto.Encode(&agentproto.Fail{IDs: o.IDs, CommitToken: o.CommitToken, FailureCode: fence.RunnerFailed})
			ready, _ := agentproto.Encode(&agentproto.Ready{SlotsFree: 1})
			if m.conn.Write(context.Background(), 1, frame) != nil || m.conn.Write(context.Background(), 1, ready) != nil {
				return
			}
		}
	}
}
