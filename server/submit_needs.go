package server

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"rendermac/api"
	"rendermac/fence"
	"rendermac/media/probe"
	"rendermac/store"
)

const maxInputs = 100 // as api.JobRequest says

// inputs checks each input against the database, which Submit does again where
// it counts, and takes up what the server has read of it.
func (j *jobCheck) inputs(ctx context.Context, account string) error {
	if len(j.r.Inputs) > maxInputs { // the schema has said so
		return nil
	}
	for i, in := range j.r.Inputs {
		at := fmt.Sprintf("inputs[%d]", i)
		n, fault := newInput(in)
		if fault == nil && n.Path != "" {
			var err error
			if fault, err = j.sharedInput(ctx, account, n.Path); err != nil {
				return err
			}
		}
		if fault != nil {
			j.wrong(strings.TrimSuffix(at+"."+fault.Location, "."), fault.Message)
			continue
		}
		raw, fault, err := j.o.DB.CheckInput(ctx, account, n)
		if err != nil {
			return err
		}
		if fault != nil {
			j.wrong(at+"."+fault.Location, fault.Message)
		}
		j.job.Inputs = append(j.job.Inputs, n)
		j.media = append(j.media, readMedia(raw))
	}
	return nil
}

func (j *jobCheck) rootNeeds() (features []string) {
	for _, in := range j.job.Inputs {
		features = append(features, rootNeeds(in.Path)...)
	}
	return features
}

func newInput(in api.Input) (store.NewInput, *fence.Fault) {
	given := 0
	for _, field := range []*string{in.UploadID, in.JobID, in.Path} {
		if field != nil {
			given++
		}
	}
	switch {
	case given != 1:
		return store.NewInput{}, &fence.Fault{Message: "must have exactly one of upload_id, job_id and path"}
	case in.Path != nil:
		return store.NewInput{Path: *in.Path}, nil
	case in.UploadID != nil:
		return store.NewInput{UploadID: *in.UploadID}, nil
	}
	return store.NewInput{JobID: *in.JobID}, nil
}

// readMedia reads our own row; nil is what could not be read.
func readMedia(raw json.RawMessage) *probe.Media {
	m := new(probe.Media)
	if len(raw) == 0 || json.Unmarshal(raw, m) != nil {
		return nil
	}
	return m
}

// service checks name, params and how many inputs there are, and derives what
// the device must have.
func (j *jobCheck) service() {
	if j.r.Service == "" {
		return // the schema has said so
	}
	service, ok := j.o.Catalogue.Lookup(j.r.Service)
	if !ok {
		j.wrong("service", "is unknown: GET /v1/services lists what there is")
		return
	}
	if n := len(j.r.Inputs); n > 0 && (n < service.MinInputs || n > service.MaxInputs) {
		j.wrong("inputs", fmt.Sprintf("must be %d to %d for this service", service.MinInputs, service.MaxInputs))
	}
	resolved, faults := service.Resolve(j.r.Params)
	for _, f := range faults {
		j.wrong(f.Location, f.Message)
	}
	if len(faults) > 0 {
		return
	}
	output := service.Output(resolved)
	j.job.Resolved, j.job.OutputExt, j.job.ContentType = resolved, output.Ext, output.ContentType
	j.job.Needs = fence.Needs{Service: service.Name, Features: canonical(append(service.Needs(resolved, j.media...), j.rootNeeds()...)), Tags: []string{}}
	j.requires()
}

// requires adds what the buyer asks of the device. Needs are stored in one form,
// since jobs alike share one queue.
func (j *jobCheck) requires() {
	r := j.r.Requires
	if r == nil {
		return
	}
	j.job.Needs.Tags = canonical(r.Tags)
	if r.MinMemoryGB != nil {
		j.job.Needs.MinMemoryGB = *r.MinMemoryGB
	}
	j.job.Requires, _ = json.Marshal(r) // strings and a number: it cannot fail
}

func canonical(list []string) []string {
	out := append([]string{}, list...)
	slices.Sort(out)
	return slices.Compact(out)
}
