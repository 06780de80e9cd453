package server

import (
	"context"

	"rendermac/api"
	"rendermac/store"
)

type deliveriesOf struct {
	Paging
	State   string `query:"state" enum:"pending,delivered,failed"`
	Job     string `query:"job" maxLength:"255"`
	Account string `query:"account" maxLength:"255"`
}

func (s *Server) listDeliveries(ctx context.Context, _ call, in *deliveriesOf) (*body[api.List[api.Delivery]], error) {
	list, err := s.o.DB.Deliveries(ctx, store.DeliveryFilter{State: in.State, JobID: in.Job, AccountID: in.Account, Before: in.Cursor, Limit: in.Limit + 1})
	if err != nil {
		return nil, err
	}
	return page(list, in.Limit, func(d store.DeliveryRow) string { return d.ID }, showDelivery), nil
}

func (s *Server) redeliverWebhook(ctx context.Context, _ call, in *struct {
	ID string `path:"id"`
},
) (*body[api.Delivery], error) {
	d, err := s.o.DB.Redeliver(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	s.o.Log.Info("webhook begun anew", "delivery", d.ID, "job", d.JobID)
	return answerWith(showDelivery(d)), nil
}

func showDelivery(d store.DeliveryRow) api.Delivery { return api.Delivery(d) }
