package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"rendermac/api"
)

func printJobs(w io.Writer, jobs []api.JobItem) error {
	if len(jobs) == 0 {
		_, err := fmt.Fprintln(w, "No jobs yet. Submit the first one: rendermac submit FILE")
		return err
	}
	var rows [][]string
	for _, j := range jobs {
		rows = append(rows, []string{j.ID, j.Status, j.Service, presetOf(&j), ago(time.Now(), &j.CreatedAt), resultOf(&j)})
	}
	return printTable(w, []string{"ID", "STATUS", "SERVICE", "PRESET", "CREATED", "RESULT"}, rows)
}

func presetOf(j *api.JobItem) string {
	var params struct {
		Preset *string `json:"preset"`
	}
	_ = json.Unmarshal(j.Params, &params) // what cannot be read has no preset
	return orDash(params.Preset)
}

// resultOf is the one thing worth a column: the output, or why there is none.
func resultOf(j *api.JobItem) string {
	switch {
	case j.Artifact != nil:
		return j.Artifact.Name + ", " + size(j.Artifact.Bytes)
	case j.FailureMessage != nil:
		return *j.FailureMessage
	}
	return orDash(j.FailureCode)
}

func printJob(w io.Writer, j *api.Job) error {
	facts := [][2]string{
		{"id", j.ID},
		{"status", j.Status},
		{"service", j.Service},
		{"params", string(j.Params)},
		{"priority", strconv.Itoa(j.Priority)},
		{"created", stamp(&j.CreatedAt)},
		{"finished", stamp(j.FinishedAt)},
	}
	if j.FailureCode != nil {
		facts = append(facts, [2]string{"failure", *j.FailureCode + ": " + orDash(j.FailureMessage)})
	}
	if a := j.Artifact; a != nil {
		facts = append(facts, [2]string{"output", a.Name}, [2]string{"bytes", fmt.Sprintf("%d (%s)", a.Bytes, size(a.Bytes))}, [2]string{"sha256", a.SHA256})
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
