package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"rendermac/api"
)

func printJobs(w io.Writer, jobs []api.JobItem) error {
	rows := [][]string{{"ID", "STATUS", "FILE", "SERVICE", "AGE"}}
	if slices.ContainsFunc(jobs, func(j api.JobItem) bool { return j.FailureCode != nil }) {
		rows[0] = append(rows[0], "FAILURE") // last, for it may be long
	}
	for _, j := range jobs {
		row := []string{j.ID, j.Status, clean(orDash(j.OutputName)), orderOf(&j), age(&j.CreatedAt)}
		if j.FailureCode != nil {
			row = append(row, *cmp.Or(j.FailureMessage, j.FailureCode))
		}
		rows = append(rows, row)
	}
	fit(rows, 2, 5, widthOf(w))
	return printTable(w, rows[0], rows[1:])
}

func age(t *time.Time) string { return strings.TrimSuffix(ago(time.Now(), t), " ago") }

// orderOf is what was asked for, in few letters: the service without its family, and the preset.
func orderOf(j *api.JobItem) string {
	var params struct {
		Preset string `json:"preset"`
	}
	_ = json.Unmarshal(j.Params, &params) // what cannot be read has no preset
	name := j.Service[strings.LastIndex(j.Service, ".")+1:]
	return strings.TrimSpace(name + " " + params.Preset)
}

// sourcesOf is what a job reads, in the API's own names.
func sourcesOf(j *api.JobItem) string {
	var all []string
	for _, in := range j.Inputs {
		all = append(all, orDash(cmp.Or(in.UploadID, in.JobID, in.Path)))
	}
	return strings.Join(all, ", ")
}

func labelsOf(j *api.JobItem) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(j.Labels)) {
		all = append(all, key+"="+j.Labels[key])
	}
	return cmp.Or(strings.Join(all, ", "), "–")
}

// printJob writes a job with what it waits for, if that is known.
func printJob(w io.Writer, j *api.Job, waits string) error {
	facts := [][2]string{
		{"id", j.ID},
		{"name", orDash(j.OutputName)},
		{"status", j.Status},
		{"service", j.Service},
		{"params", string(j.Params)},
		{"inputs", sourcesOf(&j.JobItem)},
	}
	facts = append(facts, mediaFacts(j)...)
	facts = append(facts, [][2]string{
		{"labels", labelsOf(&j.JobItem)},
		{"priority", strconv.Itoa(j.Priority)},
		{"created", stamp(&j.CreatedAt)},
		{"finished", stamp(j.FinishedAt)},
	}...)
	facts = append(facts, terms(&j.JobItem)...)
	if waits != "" {
		facts = append(facts, [2]string{"waits for", waits})
	}
	if j.FailureCode != nil {
		facts = append(facts, [2]string{"failure", *j.FailureCode + ": " + orDash(j.FailureMessage)})
	}
	if a := j.Artifact; a != nil {
		facts = append(facts, [2]string{"bytes", fmt.Sprintf("%d (%s)", a.Bytes, size(a.Bytes))}, [2]string{"sha256", a.SHA256})
		if a.Media != nil {
			facts = append(facts, [2]string{"result", describe(a.Media)})
		}
		if a.DeletedAt != nil {
			facts = append(facts, [2]string{"deleted", stamp(a.DeletedAt) + ", by retention"})
		}
		for _, warning := range a.Warnings {
			facts = append(facts, [2]string{"warning", warning})
		}
	}
	for _, fact := range facts {
		fmt.Fprintf(w, "%-9s %s\n", fact[0], clean(fact[1]))
	}
	if len(j.Attempts) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	var rows [][]string
	for _, a := range j.Attempts {
		rows = append(rows, []string{strconv.Itoa(a.AttemptNumber), a.Status, a.DeviceName, percent(a.Fraction), stamp(&a.LeasedAt), orDash(a.FailureMessage)})
	}
	return printTable(w, []string{"ATTEMPT", "STATUS", "DEVICE", "DONE", "LEASED", "FAILURE"}, rows)
}

func percent(fraction *float64) string {
	if fraction == nil {
		return "–"
	}
	return fmt.Sprintf("%.0f %%", *fraction*100)
}

func stamp(t *time.Time) string {
	if t == nil {
		return "–"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}
