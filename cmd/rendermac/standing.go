package main

import (
	"cmp"
	"fmt"
	"time"

	"rendermac/api"
)

func isRunning(job *api.Job) bool {
	n := len(job.Attempts)
	return job.Status == api.JobActive && n > 0 && job.Attempts[n-1].Status == "running"
}

// standing is where a job stands, in words that change only with its phase.
func standing(job *api.Job) string {
	if job.Status == api.JobQueued && job.Reading > 0 {
		return "the server reads its input, queued as " + job.ID
	}
	if job.Status == api.JobQueued {
		return "queued as " + job.ID
	}
	if job.Status != api.JobActive || len(job.Attempts) == 0 {
		return job.Status
	}
	a := job.Attempts[len(job.Attempts)-1]
	text := a.Status + " on " + a.DeviceName
	if a.AttemptNumber > 1 {
		text += fmt.Sprintf(" (attempt %d)", a.AttemptNumber)
	}
	return text
}

// pace is how fast a run goes on, as far as the device says.
func pace(job *api.Job) string {
	if !isRunning(job) {
		return ""
	}
	a := job.Attempts[len(job.Attempts)-1]
	var fps, left string
	if a.FPS != nil {
		fps = fmt.Sprintf("%.0f fps", *a.FPS)
	}
	if a.ETASeconds != nil {
		left = duration(time.Duration(*a.ETASeconds*float64(time.Second))) + " left"
	}
	if fps != "" && left != "" {
		return fps + ", " + left
	}
	return cmp.Or(fps, left)
}
