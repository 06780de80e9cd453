package server

import (
	"context"
	"time"

	"rendermac/store"
	"rendermac/web"
)

// lastDay is a look that several pages share; runs that have not ended are not in it.
func (s *Server) lastDay(ctx context.Context, c call) (store.LastDay, error) {
	return s.days.of(c.only()).get(s.o.Mono, statsAge, func() (store.LastDay, error) {
		return s.o.DB.LastDay(context.WithoutCancel(ctx), c.only())
	})
}

// dayOf is when a Mac worked in the day that ends now.
func dayOf(spans []store.Span, now time.Time) (day web.Day) {
	for _, s := range spans {
		day = append(day, stretch(s.From, s.To, now))
	}
	return day
}

func stretch(from, to, now time.Time) web.Stretch {
	begin := now.Add(-store.Day)
	return web.Stretch{From: from.Sub(begin).Minutes(), To: to.Sub(begin).Minutes()}
}
