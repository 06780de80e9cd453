package server

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"

	"rendermac/api"
	"rendermac/failpoint"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"
)

// route is one row of the table. Its path is written as in OpenAPI; endpoint
// mounts it.
type route struct {
	method, path string
	id           string
	scope        string
	status       int
	summary      string
	endpoint     endpoint
}

// table is every route there is.
func (s *Server) table() []route {
	uploads, pairing := &uploads{Server: s}, &pairing{Server: s, guesses: newGuesses(maxBadCodes, s.o.Mono)}
	blobs := blobs{store: s.o.Blobs, problem: problem, moved: s.metrics.moved}
	return []route{
		{http.MethodPost, "/v1/uploads", "createUpload", scopeSubmit, 201, "Announce a file and get URLs for its parts", typed(uploads.create, keyed)},
		{http.MethodGet, "/v1/uploads/{id}", "getUpload", scopeSubmit, 200, "What is held of an upload, and fresh URLs for the rest", typed(uploads.get)},
		{http.MethodPost, "/v1/uploads/{id}/parts", "signParts", scopeSubmit, 200, "URLs for parts whose digests are known, bound to those", typed(uploads.signParts)},
		{http.MethodPost, "/v1/uploads/{id}/complete", "completeUpload", scopeSubmit, 200, "Close an upload; repeating it answers the same", typed(uploads.complete)},
		{http.MethodPut, "/v1/blobs/{key}", "putBlob", scopeNone, 200, "Write one part through its signed URL", plain(blobs.put, describePut)},
		{http.MethodGet, "/v1/blobs/{key}", "getBlob", scopeNone, 200, "Read an object through its signed URL", plain(blobs.get, describeBlob)},
		{http.MethodHead, "/v1/blobs/{key}", "headBlob", scopeNone, 200, "Look at an object through its signed URL", plain(blobs.get, describeBlob)},

		{http.MethodPost, "/v1/jobs", "createJob", scopeSubmit, 201, "Submit a job", typed(s.createJob, keyed)},
		{http.MethodPost, "/v1/jobs/batch", "createBatch", scopeSubmit, 201, "Submit up to 500 jobs, all or none", typed(s.createBatch, keyed, batchBody)},
		{http.MethodGet, "/v1/jobs", "listJobs", scopeRead, 200, "Jobs, newest first", typed(s.listJobs)},
		{http.MethodGet, "/v1/jobs/{id}", "getJob", scopeRead, 200, "One job with its attempts", typed(s.getJob)},
		{http.MethodPatch, "/v1/jobs/{id}", "changeJob", scopeSubmit, 200, "Change the priority of a queued job", typed(s.changeJob)},
		{http.MethodPost, "/v1/jobs/{id}/retry", "retryJob", scopeSubmit, 201, "Submit the request of a job that has ended once more", typed(s.retryJob, keyed)},
		{http.MethodPost, "/v1/jobs/{id}/cancel", "cancelJob", scopeSubmit, 202, "Cancel a job", typed(s.cancelJob)},
		{http.MethodGet, "/v1/jobs/{id}/output", "getOutput", scopeRead, 302, "Where the verified output can be downloaded", typed(s.getOutput)},
		{http.MethodGet, "/v1/jobs/{id}/inputs/{n}", "getInput", scopeRead, 302, "Where an input can be downloaded", typed(s.getInput)},
		{http.MethodGet, "/v1/jobs/{id}/attempts/{n}/log", "getLog", scopeRead, 200, "The kept tail of an attempt's log", typed(s.getLog, describeText)},

		{http.MethodGet, "/v1/jobs/{id}/events", "listJobEvents", scopeRead, 200, "A job's events from its beginning; as a stream until it has ended", typed(s.jobEvents, describeEvents)},
		{http.MethodGet, "/v1/events", "listEvents", scopeRead, 200, "Events, newest first; as a stream from now on", typed(s.listEvents, describeEvents)},

		{http.MethodGet, "/v1/services", "listServices", scopeRead, 200, "What can be asked for", typed(s.listServices)},
		{http.MethodGet, "/v1/devices", "listDevices", scopeRead, 200, "The paired devices", typed(s.listDevices)},
		{http.MethodGet, "/v1/devices/{id}", "getDevice", scopeRead, 200, "One paired device", typed(s.getDevice)},
		{http.MethodPatch, "/v1/devices/{id}", "changeDevice", scopeAdmin, 200, "Name a device, drain it, set its slots and tags", typed(s.changeDevice)},
		{http.MethodDelete, "/v1/devices/{id}", "revokeDevice", scopeAdmin, 204, "Revoke a device for good", typed(s.revokeDevice)},

		{http.MethodGet, "/v1/webhooks/deliveries", "listDeliveries", scopeAdmin, 200, "Webhooks and what has come of them, newest first", typed(s.listDeliveries)},
		{http.MethodPost, "/v1/webhooks/deliveries/{id}/redeliver", "redeliverWebhook", scopeAdmin, 202, "Send a webhook again", typed(s.redeliverWebhook)},

		{http.MethodPost, "/v1/pairings", "createPairing", scopeAdmin, 201, "Make a pairing code: single use, ten minutes", typed(s.createPairing)},
		{http.MethodPost, "/v1/provider/pair", "pair", scopeNone, 201, "Redeem a pairing code for a device token", typed(pairing.pair)},
		{http.MethodGet, "/v1/provider/ws", "connect", scopeNone, 101, "The agents' WebSocket, subprotocol rendermac.v1", plain(s.gateway, describeDevice)},

		{http.MethodGet, "/v1/accounts", "listAccounts", scopeAdmin, 200, "The accounts", typed(s.listAccounts)},
		{http.MethodPost, "/v1/accounts", "createAccount", scopeAdmin, 201, "Make an account; its webhook secret is shown once", typed(s.createAccount)},
		{http.MethodPatch, "/v1/accounts/{id}", "changeAccount", scopeAdmin, 200, "Set an account's name or credit limit", typed(s.changeAccount)},
		{http.MethodPost, "/v1/accounts/{id}/webhook-secret", "replaceWebhookSecret", scopeAdmin, 201, "Make a new webhook secret; the one before signs beside it for 24 h", typed(s.replaceWebhookSecret)},
		{http.MethodGet, "/v1/accounts/{id}/journal", "getJournal", scopeRead, 200, "An account's movements of credits, newest first, and its balances", typed(s.getJournal)},
		{http.MethodGet, "/v1/keys", "listKeys", scopeAdmin, 200, "The API keys, revoked ones too", typed(s.listKeys)},
		{http.MethodPost, "/v1/keys", "createKey", scopeAdmin, 201, "Make an API key; it is shown once", typed(s.createKey)},
		{http.MethodDelete, "/v1/keys/{id}", "revokeKey", scopeAdmin, 204, "Revoke an API key for good", typed(s.revokeKey)},
		{http.MethodPost, "/v1/sign-ins", "createSignIn", scopeRead, 201, "Make a link that signs in to the dashboard as this key: single use, 15 minutes", typed(s.createSignIn)},
		{http.MethodPost, "/v1/gc", "collectGarbage", scopeAdmin, 200, "Remove what is older, or more, than is to be kept; or say what that would be", typed(s.collectGarbage)},
		{http.MethodGet, "/v1/stats", "getStats", scopeRead, 200, "Queue depth, times, devices, and the last 24 h by hour", typed(s.getStats)},

		{http.MethodPost, "/session", "signIn", scopeNone, 204, "Sign in to the dashboard, by a link or by a key", typed(s.signIn)},
		{http.MethodDelete, "/session", "signOut", scopeNone, 204, "Sign out of the dashboard", typed(s.signOut)},
		{http.MethodGet, "/", "showOverview", scopeNone, 200, "The dashboard: what runs now, what is next, what ended lately", dashboard(s.page("Overview", "/", s.showOverview))},
		{http.MethodGet, "/jobs", "showJobs", scopeNone, 200, "The dashboard: jobs", dashboard(s.page("Jobs", "/jobs", s.showJobs))},
		{http.MethodGet, "/jobs/{id}", "showJob", scopeNone, 200, "The dashboard: one job's story", dashboard(s.page("Job", "/jobs", s.showJob))},
		{http.MethodGet, "/new", "showNew", scopeNone, 200, "The dashboard: drop files, make jobs", dashboard(s.page("New job", "/new", s.showNew))},
		{http.MethodGet, "/devices", "showDevices", scopeNone, 200, "The dashboard: the Macs", dashboard(s.page("Devices", "/devices", s.showDevices))},
		{http.MethodGet, "/settings", "showSettings", scopeNone, 200, "The dashboard: accounts, keys, webhooks, presets, storage", dashboard(s.page("Settings", "/settings", s.showSettings))},
		{http.MethodGet, "/sign-in", "showSignIn", scopeNone, 200, "The dashboard: sign in by a link or by a key", dashboard(s.signInPage)},
		{http.MethodGet, "/settings/accounts/{id}", "showJournal", scopeNone, 200, "The dashboard: where an account's credits went", dashboard(s.page("Account", "/settings", s.showJournal))},
		{http.MethodGet, "/assets/{path}", "getAsset", scopeNone, 200, "The dashboard's styles and modules", dashboard(s.asset)},
		{http.MethodGet, "/v1/openapi.json", "getOpenAPI", scopeNone, 200, "This document", serveDocument},
		{http.MethodGet, "/healthz", "live", scopeNone, 200, "The server runs", typed(s.live)},
		{http.MethodGet, "/readyz", "ready", scopeNone, 200, "The server can write its database and its store", typed(s.ready)},
		{http.MethodGet, "/metrics", "getMetrics", scopeNone, 200, "Prometheus metrics; for this machine only unless metrics.public", plain(s.getMetrics, describeText)},
	}
}

// routes builds the handler that serves the table.
func (s *Server) routes() (http.Handler, error) {
	e := echo.New()
	if err := trustProxies(e, s.o.TrustedProxies); err != nil {
		return nil, err
	}
	e.HTTPErrorHandler = s.failed
	e.Use(s.measured(), s.recovered)
	m := &mount{server: s, echo: e, api: newAPI(e, s.o.Version), typed: map[string]bool{}}
	for _, r := range s.table() {
		op := huma.Operation{
			Method: r.method, Path: r.path, OperationID: r.id, Summary: r.summary, DefaultStatus: r.status,
			Middlewares: huma.Middlewares{s.authorize(r.scope), m.readBody},
		}
		if r.scope != scopeNone {
			op.Security = []map[string][]string{{"key": {}}}
			op.Description = "Needs a key of scope " + r.scope + "."
		}
		r.endpoint(m, op)
		m.describe(r)
	}
	return e, m.writeDocument()
}

// mount is what the endpoints are mounted on.
type mount struct {
	server   *Server
	echo     *echo.Echo
	api      huma.API
	typed    map[string]bool // operations whose input huma checks
	document []byte          // OpenAPI, once all routes are there
}

type endpoint func(*mount, huma.Operation)

// typed is a route whose input huma checks and whose output it writes.
func typed[I, O any](handle func(context.Context, call, *I) (*O, error), describe ...func(*mount, *huma.Operation)) endpoint {
	return func(m *mount, op huma.Operation) {
		m.typed[op.OperationID] = true
		op.MaxBodyBytes, op.BodyReadTimeout = -1, -1 // readBody sees to both
		for _, d := range describe {
			d(m, &op)
		}
		huma.Register(m.api, op, func(ctx context.Context, in *I) (*O, error) {
			if list, is := any(in).(interface{ open(string) error }); is {
				if err := list.open(op.OperationID); err != nil {
					return nil, m.server.refusalOf(err)
				}
			}
			out, err := handle(ctx, callOf(ctx), in)
			failpoint.Answer(op.OperationID)
			if err != nil && ctx.Err() != nil {
				err = context.Cause(ctx) // the client has gone: what broke off for that is no failure
			}
			if err != nil {
				return nil, m.server.refusalOf(err)
			}
			if list, is := any(out).(interface{ seal(string) }); is {
				list.seal(op.OperationID)
			}
			return out, nil
		})
	}
}

// plain is a route that streams, or upgrades: huma would hold it in memory.
func plain(handle echo.HandlerFunc, describe func(*mount, *huma.Operation)) endpoint {
	return func(m *mount, op huma.Operation) {
		describe(m, &op)
		m.api.OpenAPI().AddOperation(&op)
		m.echo.Add(op.Method, echoPath.Replace(op.Path), handle)
	}
}

// body is an answer in JSON.
type body[T any] struct{ Body T }

func answerWith[T any](v T) *body[T] { return &body[T]{v} }

// Paging asks for one page of a list. It is exported because huma sees no other
// embedded fields.
type Paging struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"50"`
	Cursor string `query:"cursor" maxLength:"255" doc:"next_cursor of the page before"`
}

// page cuts a list that was asked for with one item more than the limit.
func page[T, U any](list []T, limit int, id func(T) string, show func(T) U) *body[api.List[U]] {
	out := api.List[U]{Items: []U{}}
	for i, v := range list {
		if i == limit {
			cursor := id(list[i-1])
			out.NextCursor = &cursor
			break
		}
		out.Items = append(out.Items, show(v))
	}
	return answerWith(out)
}

// recovered makes a panic a 500, or breaks off an answer that has begun.
func (s *Server) recovered(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if p == http.ErrAbortHandler {
				panic(p)
			}
			s.o.Log.Error("a handler panicked", "method", c.Request().Method, "route", c.Path(), "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			if c.Response().Committed {
				panic(http.ErrAbortHandler)
			}
			err = internal()
		}()
		return next(c)
	}
}
