package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"rendermac/agentproto"
	"rendermac/api"
	"rendermac/store"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"
)

func eventPage(list []store.Event, limit int) *streamed {
	answer := page(list, limit, func(e store.Event) string { return strconv.FormatInt(e.ID, 10) }, showEvent)
	return &streamed{page: answer, Body: func(ctx huma.Context) {
		_ = humaecho.Unwrap(ctx).JSON(http.StatusOK, answer.Body) // a client that has gone hears nothing
	}}
}

func showEvent(e store.Event) api.Event {
	return api.Event{ID: &e.ID, At: e.At, Type: e.Type, AccountID: e.AccountID, JobID: e.JobID, AttemptID: e.AttemptID, DeviceID: e.DeviceID, Data: e.Data}
}

// noticeOf makes a stored event ready to be sent.
func noticeOf(e store.Event) notice {
	n := notice{id: e.ID, account: orEmpty(e.AccountID), job: orEmpty(e.JobID), attempt: orEmpty(e.AttemptID)}
	shown := showEvent(e)
	n.over, n.ends, n.text = strings.HasPrefix(e.Type, "job."), shown.EndsJob(), eventText(shown)
	return n
}

// reported tells the streams how far a run is; nothing of it is stored here.
func (s *session) reported(m *agentproto.Progress, account string) {
	data, err := json.Marshal(api.Progress{Phase: m.Phase, Fraction: m.Fraction, FPS: m.FPS, Speed: m.Speed, ETASeconds: m.ETASeconds})
	if err != nil { // numbers that were read from JSON can be written as JSON
		panic(err)
	}
	s.srv.feed.report(notice{
		account: account, job: m.JobID, attempt: m.AttemptID, at: s.srv.o.Mono(),
		text: eventText(api.Event{
			At: s.srv.o.Now().UTC(), Type: api.EventProgress, AccountID: &account,
			JobID: &m.JobID, AttemptID: &m.AttemptID, DeviceID: &s.DeviceID, Data: data,
		}),
	})
}

// eventText is an event as it stands in a stream; progress has no id there.
func eventText(e api.Event) []byte {
	data, err := json.Marshal(e)
	if err != nil { // our own rows: they hold JSON
		panic(err)
	}
	var text []byte
	if e.ID != nil {
		text = fmt.Appendf(text, "id: %d\n", *e.ID)
	}
	return fmt.Appendf(text, "event: %s\ndata: %s\n\n", e.Type, data)
}

func orEmpty(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

func describeEvents(m *mount, op *huma.Operation) {
	schema := m.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[api.List[api.Event]](), true, "ListEvent")
	m.responds(op, echo.MIMEApplicationJSON, schema)
	ok := op.Responses["200"]
	ok.Content[api.EventStreamType] = &huma.MediaType{Schema: &huma.Schema{
		Type: huma.TypeString, Description: "with Accept: text/event-stream: id, event (the type) and data (the event as JSON); a comment every 15 s",
	}}
	if strings.Contains(op.Path, "{id}") {
		op.Responses["204"] = &huma.Response{Description: "The stream has nothing more: the job has ended and Last-Event-ID was its last event."}
	}
}
