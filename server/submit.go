package server

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"rendermac/api"
	"rendermac/media/probe"
	"rendermac/store"

	"github.com/danielgtaylor/huma/v2"
)

// jobInput is a job as it is submitted, and what was made of it.
type jobInput struct {
	Body api.JobRequest
	job  store.NewJob
}

// Resolve implements huma.Resolver: it runs beside the schema's own checks, so
// that every fault is listed at once.
func (in *jobInput) Resolve(ctx huma.Context) []error {
	c := callOf(ctx.Context())
	if c.made.Replayed {
		return nil
	}
	check := jobCheck{Server: c.server, r: in.Body}
	if err := check.run(ctx.Context(), c.key.AccountID); err != nil {
		return []error{c.server.refusalOf(err)}
	}
	in.job = check.job
	return check.faults
}

// jobCheck makes a store.NewJob of a request and gathers what is wrong with it.
type jobCheck struct {
	*Server
	r      api.JobRequest
	at     string // before the location of every fault
	job    store.NewJob
	media  []*probe.Media // of the inputs, nil where unknown
	faults []error
}

func (j *jobCheck) wrong(location, message string) {
	j.faults = append(j.faults, &huma.ErrorDetail{Location: j.at + location, Message: message})
}

func (j *jobCheck) run(ctx context.Context, account string) error {
	j.job = store.NewJob{At: j.at, AccountID: account, Service: j.r.Service, Params: j.r.Params, MaxAttempts: j.o.MaxAttempts, Credits: j.o.Pricing[j.r.Service]}
	if err := j.inputs(ctx, account); err != nil {
		return err
	}
	j.service()
	j.times()
	j.tags()
	j.output()
	j.webhook()
	j.labels()
	return nil
}

func (j *jobCheck) times() {
	if j.r.Priority != nil {
		j.job.Priority = *j.r.Priority
	}
	if j.r.MaxAttempts != nil {
		j.job.MaxAttempts = *j.r.MaxAttempts
	}
	if d := j.r.AdmissionDeadline; d != nil {
		j.job.Deadline = *d
		switch {
		case d.IsZero(): // the year 1, or no time at all, as the schema has said; Submit would take it for none
			j.job.Deadline = time.Unix(0, 0)
		case !j.o.Now().Before(*d):
			j.wrong("admission_deadline", "is in the past")
		}
	}
}

func (j *jobCheck) tags() {
	if j.r.Requires == nil {
		return
	}
	for _, f := range tagFaults("requires.tags", j.r.Requires.Tags) {
		j.wrong(f.Location, f.Message)
	}
}

func (j *jobCheck) output() {
	if j.r.OutputName == nil {
		return
	}
	j.job.OutputName = *j.r.OutputName
	switch fault := nameFault(j.job.OutputName); {
	case j.job.OutputName == "" || utf8.RuneCountInString(j.job.OutputName) > 255: // the schema has said so
	case fault != "":
		j.wrong("output_name", fault)
	case hasControls(j.job.OutputName):
		j.wrong("output_name", "must not have control characters")
	}
}

func (j *jobCheck) webhook() {
	j.job.WebhookEvents = j.r.WebhookEvents
	if j.r.WebhookURL == nil {
		return
	}
	j.job.WebhookURL = *j.r.WebhookURL
	if fault := webhookFault(j.job.WebhookURL); fault != "" {
		j.wrong("webhook_url", fault)
	}
	if j.job.WebhookEvents == nil {
		j.job.WebhookEvents = []string{"job.succeeded", "job.failed", "job.cancelled"}
	}
}

const (
	maxLabels     = 32
	maxLabelKey   = 64
	maxLabelValue = 255
)

func (j *jobCheck) labels() {
	j.job.Labels = j.r.Labels
	if len(j.r.Labels) > maxLabels {
		j.wrong("labels", fmt.Sprintf("are more than %d", maxLabels))
	}
	for key, value := range j.r.Labels {
		if key == "" || len(key) > maxLabelKey || len(value) > maxLabelValue || hasControls(key+value) {
			j.wrong("labels", fmt.Sprintf("must have keys of 1 to %d bytes and values of at most %d, without control characters", maxLabelKey, maxLabelValue))
			return
		}
	}
}
