package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"rendermac/api"
	"rendermac/artifact"
	"rendermac/fence"
	"rendermac/store"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"
)

// refusal is a problem document and the headers that go with it: the one form
// in which this server says no.
type refusal struct {
	*document
	headers http.Header
	whole   any // what is written, where that is more than the document
}

// document is embedded under this name so that its method Error is not hidden.
type document = api.Error

// GetHeaders implements huma.HeadersError.
func (r *refusal) GetHeaders() http.Header { return r.headers }

// MarshalJSON implements json.Marshaler.
func (r *refusal) MarshalJSON() ([]byte, error) {
	if r.whole != nil {
		return json.Marshal(r.whole)
	}
	return json.Marshal(r.document)
}

// maxFaults bounds an answer: whoever has done more than that wrong has done one
// thing wrong often.
const maxFaults = 100

func refuse(status int, code, detail string, faults ...api.Fault) *refusal {
	if len(faults) > maxFaults {
		faults = append(faults[:maxFaults:maxFaults], api.Fault{Message: fmt.Sprintf("and more than that: only the first %d are listed", maxFaults)})
	}
	return &refusal{document: api.NewError(status, code, detail, faults...)}
}

func (r *refusal) with(header, value string) *refusal {
	r.headers = http.Header{header: {value}}
	return r
}

func internal() *refusal {
	return refuse(http.StatusInternalServerError, api.CodeInternal, "The server could not do this; its log says why. Try again later.")
}

// statuses are those of the codes that fence and store refuse with.
var statuses = map[string]int{
	store.CodeCreditExceeded: http.StatusPaymentRequired,
	store.CodeBadCode:        http.StatusForbidden,
	store.CodeBadSignIn:      http.StatusForbidden,
	fence.CodeNotFound:       http.StatusNotFound,
	fence.CodeJobTerminal:    http.StatusConflict,
	store.CodeLastAdminKey:   http.StatusConflict,
	store.CodeRevoked:        http.StatusConflict,
	store.CodeJobNotTerminal: http.StatusConflict,
	store.CodeJobNotQueued:   http.StatusConflict,
	store.CodeKeyReused:      http.StatusUnprocessableEntity,
	fence.CodeInvalid:        http.StatusUnprocessableEntity,
	store.CodeUnavailable:    http.StatusServiceUnavailable,
	store.CodeStorageFull:    http.StatusInsufficientStorage,
}

// refusalOf is the one place where an error becomes an answer. What no client
// has caused is logged, and its text stays here.
func (s *Server) refusalOf(err error) *refusal {
	var r *refusal
	var f *fence.Error
	var h *echo.HTTPError
	switch {
	case errors.As(err, &r):
		return r
	case errors.As(err, &f) && statuses[f.Code] != 0:
		return s.refusalOfStore(f)
	case errors.Is(err, artifact.ErrIncomplete):
		return refuse(http.StatusConflict, api.CodeUploadIncomplete, sentence(artifact.ErrIncomplete.Error()))
	case s.outage.met(err):
		return refuse(http.StatusServiceUnavailable, api.CodeStoreUnavailable, "The artifact store cannot be reached just now; try again.").
			with("Retry-After", strconv.Itoa(int(outageRetry/time.Second)))
	case errors.Is(err, artifact.ErrFull):
		return refuse(http.StatusInsufficientStorage, api.CodeInsufficientSpace, sentence(err.Error()))
	case errors.As(err, &h):
		return refusalOfStatus(h.Code)
	case !errors.Is(err, context.Canceled):
		s.o.Log.Error("a request failed", "err", err)
	}
	return internal()
}

func (s *Server) refusalOfStore(f *fence.Error) *refusal {
	switch f.Code {
	case store.CodeUnavailable:
		s.o.Log.Warn("the database could not be used", "err", f.Message)
		return refuse(statuses[f.Code], f.Code, "The database could not be used just now; try again.").with("Retry-After", "1")
	case fence.CodeInvalid:
		return refuse(statuses[f.Code], api.CodeInvalid, sentence(f.Message), faultsOf(f.Faults)...)
	}
	return refuse(statuses[f.Code], f.Code, sentence(f.Message))
}

func faultsOf(list []fence.Fault) []api.Fault {
	out := make([]api.Fault, len(list))
	for i, f := range list {
		out[i] = api.Fault(f)
	}
	return out
}

// refusalOfStatus words what echo and huma refuse by themselves.
func refusalOfStatus(status int) *refusal {
	switch status {
	case http.StatusBadRequest:
		return refuse(status, api.CodeBadJSON, "The request cannot be read; send valid JSON.")
	case http.StatusNotFound:
		return refuse(status, api.CodeNotFound, "There is no such route; GET /v1/openapi.json lists them all.")
	case http.StatusMethodNotAllowed:
		return refuse(status, api.CodeMethodNotAllowed, "This route does not take that method; the Allow header lists those it takes.")
	case http.StatusRequestEntityTooLarge:
		return tooLarge(maxBody)
	case http.StatusUnsupportedMediaType:
		return refuse(status, api.CodeUnsupportedType, "Send the body as application/json.")
	}
	return internal()
}

func tooLarge(limit int64) *refusal {
	return refuse(http.StatusRequestEntityTooLarge, api.CodeTooLarge, fmt.Sprintf("The body is too large; send at most %d MiB.", limit>>20))
}

func notFound(what string) *refusal {
	return refuse(http.StatusNotFound, api.CodeNotFound, "There is no such "+what+".")
}

func invalid(faults ...api.Fault) *refusal {
	return refuse(http.StatusUnprocessableEntity, api.CodeInvalid, "The request was not taken; mend what is listed and send it again.", faults...)
}

// problem answers a plain echo route with a problem document.
func problem(c echo.Context, status int, code, detail string) error {
	return answer(c, refuse(status, code, sentence(detail)))
}

func answer(c echo.Context, r *refusal) error {
	for name, values := range r.headers {
		c.Response().Header()[name] = values
	}
	if c.Request().Method == http.MethodHead {
		return c.NoContent(r.Status)
	}
	c.Response().Header().Set(echo.HeaderContentType, api.ProblemType)
	c.Response().WriteHeader(r.Status)
	return c.Echo().JSONSerializer.Serialize(c, r, "")
}

// failed is echo's HTTPErrorHandler.
func (s *Server) failed(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	if isAstray(err, c.Request()) {
		if err = s.nowhere(c); err == nil {
			return
		}
	}
	_ = answer(c, s.refusalOf(err)) // a client that has gone hears nothing
}

// sentence makes a message of ours read as one.
func sentence(text string) string {
	first, n := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(text[n:], ".") + "."
}

// huma's own refusals become ours: with a code, and without the rejected value.
func init() {
	huma.NewError = func(status int, _ string, errs ...error) huma.StatusError {
		if status == 0 {
			return &api.Error{} // huma asks for its schema
		}
		var faults []api.Fault
		for _, err := range errs {
			var r *refusal
			var d huma.ErrorDetailer
			switch {
			case errors.As(err, &r):
				return r
			case errors.As(err, &d):
				faults = append(faults, faultOf(d.ErrorDetail()))
			}
		}
		if status == http.StatusUnprocessableEntity {
			return invalid(faults...)
		}
		return refusalOfStatus(status)
	}
}

var (
	plainPath   = regexp.MustCompile(`^[A-Za-z0-9_.\[\]]{1,200}$`)
	missingProp = regexp.MustCompile(`^expected required property (\w+) to be present$`)
)

// faultOf keeps out of a fault what a stranger may have written: the value, a
// key that is no plain name, and the decoder's own words, which quote both.
func faultOf(d *huma.ErrorDetail) api.Fault {
	at, message := strings.TrimPrefix(strings.TrimPrefix(d.Location, "body"), "."), d.Message
	if m := missingProp.FindStringSubmatch(message); m != nil {
		at, message = strings.TrimPrefix(at+"."+m[1], "."), "is missing"
	}
	if _, quoted := d.Value.(string); quoted && at == "" {
		message = "holds a value of a kind that this route does not take"
	}
	if !plainPath.MatchString(at) {
		at = ""
	}
	return api.Fault{Location: at, Message: message}
}
