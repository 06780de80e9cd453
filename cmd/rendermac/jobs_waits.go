package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"rendermac/api"
	"rendermac/media"
)

// waitsFor is what a queued job waits for, as far as the server says: another
// job, the reading of its inputs, or a Mac that could take it. It is no more than
// a hint, so a server that does not answer leaves it out.
func waitsFor(ctx context.Context, client *api.Client, job *api.JobItem) string {
	switch {
	case job.Status != api.JobQueued:
		return ""
	case job.WaitingOn != nil:
		return *job.WaitingOn + " to succeed"
	case job.Reading > 0:
		return "the server to read " + count(job.Reading, "file") + " under shared roots"
	}
	devices, err := client.Devices(ctx)
	if err != nil {
		return ""
	}
	return missing(job, devices)
}

// missing narrows the devices down as the matcher does, and says at which step
// none is left. A key below admin is shown no tags, slots or machines: what those
// would say stays unsaid.
func missing(job *api.JobItem, devices []api.Device) string {
	for _, step := range []struct {
		what string
		fits func(api.Device) bool
	}{
		{
			"a Mac that runs " + job.Service + ": none is online (rendermac devices)",
			func(d api.Device) bool {
				return (d.State == "online" || d.State == "draining") && slices.Contains(d.Services, job.Service)
			},
		},
		{
			"a Mac with " + demands(job) + ": none of those online has it",
			func(d api.Device) bool { return d.Device == nil || meets(job, d) },
		},
		{
			"a Mac that takes new work: those that could run it are draining (rendermac devices resume)",
			func(d api.Device) bool { return d.State == "online" && (d.Slots == nil || *d.Slots > 0) },
		},
		{
			"a free slot: the Macs that could run it are busy",
			func(d api.Device) bool { return d.Slots == nil || d.Busy < *d.Slots },
		},
	} {
		devices = slices.DeleteFunc(devices, func(d api.Device) bool { return !step.fits(d) })
		if len(devices) == 0 {
			return step.what
		}
	}
	return ""
}

func meets(job *api.JobItem, d api.Device) bool {
	lacks := func(have []string) func(string) bool {
		return func(wanted string) bool { return !slices.Contains(have, wanted) }
	}
	if slices.ContainsFunc(featuresOf(job), lacks(d.Device.Features)) {
		return false
	}
	r := job.Requires
	return r == nil || !slices.ContainsFunc(r.Tags, lacks(d.Tags)) && (r.MinMemoryGB == nil || float64(d.Device.MemoryBytes) >= *r.MinMemoryGB*(1<<30))
}

// demands is what a job asks of a Mac beside its service.
func demands(job *api.JobItem) string {
	all := featuresOf(job)
	if r := job.Requires; r != nil {
		for _, tag := range r.Tags {
			all = append(all, "the tag "+tag)
		}
		if r.MinMemoryGB != nil {
			all = append(all, fmt.Sprintf("%g GB of memory", *r.MinMemoryGB))
		}
	}
	return strings.Join(all, ", ")
}

// featuresOf is what this build knows that the params ask of a Mac; what only
// the input asks (tone-mapping) the server alone knows.
func featuresOf(job *api.JobItem) []string {
	service, ok := media.Lookup(job.Service)
	if !ok {
		return nil
	}
	resolved, faults := service.Resolve(job.Params)
	if len(faults) > 0 {
		return nil
	}
	return append(rootsOf(job), service.Needs(resolved)...)
}

// rootsOf are the shared roots that a Mac must have mounted.
func rootsOf(job *api.JobItem) (all []string) {
	for _, in := range job.Inputs {
		if in.Path != nil {
			root, _, _ := strings.Cut(*in.Path, "/")
			all = append(all, "root:"+root)
		}
	}
	return all
}

// terms are what a job was submitted with beside its params, where it was.
func terms(j *api.JobItem) (facts [][2]string) {
	if r := j.Requires; r != nil {
		plain := api.JobItem{Requires: r}
		facts = append(facts, [2]string{"requires", cmp.Or(demands(&plain), "–")})
	}
	if j.AdmissionDeadline != nil {
		facts = append(facts, [2]string{"deadline", stamp(j.AdmissionDeadline)})
	}
	if j.WebhookURL != nil {
		facts = append(facts, [2]string{"webhook", receiver(*j.WebhookURL) + " of " + strings.Join(j.WebhookEvents, ", ")})
	}
	if j.RetryOf != nil {
		facts = append(facts, [2]string{"retry of", *j.RetryOf})
	}
	if j.Hold != nil {
		facts = append(facts, [2]string{"credits", fmt.Sprintf("%d %s", j.Hold.Credits, j.Hold.State)})
	}
	return facts
}
