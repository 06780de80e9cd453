package qualify

import (
	"context"

	"rendermac/api"
)

// manyScript submits two jobs at once, moves one in the queue and cancels it, and
// repeats the other: each of it once, though answers are lost.
func (d *day) manyScript() {
	var labels []string
	var batch []api.JobRequest
	for range 2 {
		label, r := d.request(asUsual, d.ofClip())
		if len(batch) == 0 {
			nobodys(&r)
		}
		labels, batch = append(labels, label), append(batch, r)
	}
	made := must(insist(d, "submit a batch", func() (*api.Batch, error) { return d.client.SubmitBatch(context.Background(), batch) }))(d)
	for i, j := range made.Items {
		d.jobs[labels[i]] = &promise{id: j.ID, ends: []string{"cancelled", "succeeded"}}
	}
	moved := must(insist(d, "change a priority", func() (*api.Job, error) {
		return d.client.Prioritize(context.Background(), d.id(labels[0]), 7)
	}))(d)
	d.jobs[labels[0]].priority = moved.Priority
	d.cancel(labels[0])
	d.ended(labels...)
	again := must(insist(d, "retry", func() (*api.Job, error) { return d.client.Retry(context.Background(), d.id(labels[1])) }))(d)
	d.jobs["retry of "+labels[1]] = &promise{id: again.ID, ends: []string{"succeeded"}}
	d.ended("retry of " + labels[1])
}
