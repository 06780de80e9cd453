package main

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/pflag"

	"rendermac/config"
	"rendermac/media"
)

var webhookEvents = []string{"job.started", "job.succeeded", "job.failed", "job.cancelled"}

func (s *submission) flags(f *pflag.FlagSet) {
	f.StringArrayVar(&s.paths, "path", nil, "a file under a shared root, as ROOT/FILE, which is not uploaded (may be repeated)")
	f.StringVar(&s.service, "service", "ffmpeg.transcode", "the named service")
	f.StringVar(&s.preset, "preset", "", "a preset of the service, built in or of the server's own config; rendermac services lists them")
	f.StringArrayVarP(&s.params, "param", "p", nil, "a param as key=value, over the preset's (may be repeated)")
	f.IntVar(&s.priority, "priority", 0, "-100 to 100; higher goes first")
	f.IntVar(&s.maxAttempts, "max-attempts", 0, "1 to 10 (default the server's jobs.max_attempts)")
	f.StringVar(&s.deadline, "deadline", "", "give up on a job that no device has begun by then: a time from now such as 2h, or 2026-12-02T08:00:00Z")
	f.StringArrayVar(&s.tags, "requires-tag", nil, "run on devices with this tag only (may be repeated)")
	f.Float64Var(&s.memoryGB, "requires-memory", 0, "run on devices with at least so many GB of memory")
	f.StringArrayVar(&s.labels, "label", nil, "a label as key=value (may be repeated)")
	f.StringVar(&s.webhook, "webhook", "", "an http or https URL to tell when the job has ended")
	f.StringArrayVar(&s.webhookEvents, "webhook-event", nil, "tell it of these only: "+strings.Join(webhookEvents, ", ")+" (may be repeated; default the last three)")
	f.StringVar(&s.outputName, "output-name", "", "the download's name, for one file (default the file's, with the result's extension)")
	f.BoolVar(&s.wait, "wait", false, "wait until the jobs have ended")
	f.StringVarP(&s.out, "output", "o", "", "write the result to this file, or folder for several; implies --wait")
	f.BoolVar(&s.force, "force", false, "overwrite files that exist")
	f.BoolVar(&s.cancelOnInterrupt, "cancel-on-interrupt", false, "cancel the jobs on Ctrl-C")
	f.Bool("json", false, "print a line of JSON for each file")
}

// checkFlags finds what the server would refuse, though only after an upload.
func (s *submission) checkFlags(files []string, now time.Time) error {
	var wrong []string
	must := func(ok bool, sentence string) {
		if !ok {
			wrong = append(wrong, sentence)
		}
	}
	if s.joins() {
		service, _ := media.Lookup(s.service)
		must(len(files) >= service.MinInputs && len(files) <= service.MaxInputs,
			fmt.Sprintf("%s joins %d to %d files, and there are %d", s.service, service.MinInputs, service.MaxInputs, len(files)))
	}
	must(s.priority >= -100 && s.priority <= 100, "--priority must be -100 to 100")
	must(s.maxAttempts >= 0 && s.maxAttempts <= 10, "--max-attempts must be 1 to 10")
	must(s.memoryGB >= 0, "--requires-memory must not be negative")
	if s.deadline != "" {
		_, err := moment(s.deadline, now)
		must(err == nil, fmt.Sprintf("--deadline %v", err))
	}
	if s.webhook != "" {
		u, err := url.Parse(s.webhook)
		must(err == nil && u.Hostname() != "" && (u.Scheme == "http" || u.Scheme == "https"), "--webhook must be an http or https URL")
	}
	must(s.webhook != "" || len(s.webhookEvents) == 0, "--webhook-event needs --webhook URL")
	for _, event := range s.webhookEvents {
		must(slices.Contains(webhookEvents, event), fmt.Sprintf("--webhook-event must be one of %s, not %q", strings.Join(webhookEvents, ", "), event))
	}
	if s.outputName != "" {
		must(len(files) == 1 || s.joins(), "--output-name is for one file")
		must(isBaseName(s.outputName), "--output-name must be a name without a folder, of at most 255 bytes")
	}
	_, err := pairs("--label", s.labels)
	must(err == nil, fmt.Sprint(err))
	if len(wrong) > 0 {
		return usagef("%s; see rendermac submit --help", strings.Join(wrong, "; "))
	}
	return nil
}

// joins tells a service that makes one result of all files.
func (s *submission) joins() bool {
	service, ok := media.Lookup(s.service)
	return ok && service.MaxInputs > 1
}

func isBaseName(name string) bool {
	return len(name) <= 255 && name != "." && name != ".." && !strings.ContainsAny(name, `/\`) && !strings.ContainsFunc(name, unicode.IsControl)
}

// moment reads a time to come: from now, or by the calendar.
func moment(text string, now time.Time) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if d, fault := config.ParseDuration(text); fault == nil {
		at, err = now.Add(d).UTC().Truncate(time.Millisecond), nil
	}
	if err != nil {
		return at, fmt.Errorf("must be like 2h, 3d or 2026-12-02T08:00:00Z, not %q", text)
	}
	if !at.After(now) {
		return at, errors.New("is in the past")
	}
	return at, nil
}
