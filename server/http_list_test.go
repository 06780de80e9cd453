package server

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"rendermac/api"
	"rendermac/store/storetest"
)

func TestList_EveryFilter(t *testing.T) {
	h := mustServe(t)
	add := func(key, name string, more func(*api.JobRequest)) string {
		u := h.mustUpload(key, name, []byte("clip"))
		r := api.JobRequest{Service: "ffmpeg.transcode", Inputs: []api.Input{{UploadID: &u.ID}}}
		if more != nil {
			more(&r)
		}
		id := into[api.Job](h.post("/v1/jobs", key, r).is(201)).ID
		h.clock.Advance(time.Minute)
		return id
	}
	labels := func(l map[string]string) func(*api.JobRequest) { return func(r *api.JobRequest) { r.Labels = l } }
	start := h.clock.Now()
	ran := add(h.submit, "Interview_50%.mov", labels(map[string]string{"client": "acme", "reel": "7"}))
	mac := storetest.MustDevice(t, h.db)
	storetest.MustLease(t, h.db, mac)
	odd := add(h.submit, `b.mov`, labels(map[string]string{":": ",", "b": `say "client":"acme"`, `x"client`: "acme"}))
	named := add(h.submit, "c.mov", func(r *api.JobRequest) { r.OutputName = ptr("Über_final.mp4") })
	thumb := add(h.submit, "d.mov", nil)
	h.post("/v1/jobs/"+named+"/cancel", h.submit, nil).is(202)
	foreign := add(h.otherAccountSubmit, "Interview.mov", labels(map[string]string{"client": "acme"}))
	at := func(n int) string {
		return url.QueryEscape(start.Add(time.Duration(n) * time.Minute).Format(time.RFC3339Nano))
	}
	for _, c := range []struct {
		query string
		want  []string
	}{
		{"", []string{foreign, thumb, named, odd, ran}},
		{"status=active", []string{ran}},
		{"status=queued,cancelled", []string{foreign, thumb, named, odd}},
		{"status=cancelled&account=" + h.account, []string{named}},
		{"status=active" + strings.Repeat(",active", 600), []string{ran}},
		{"status=succeeded", nil},
		{"service=ffmpeg.thumbnail", nil},
		{"service=ffmpeg.transcode&status=queued", []string{foreign, thumb, odd}},
		{"account=" + h.otherAccount, []string{foreign}},
		{"account=acc_none", nil},
		{"device=" + mac.DeviceID, []string{ran}},
		{"device=dev_none", nil},
		{"label=client:acme", []string{foreign, ran}},
		{"label=client:acme&label=reel:7", []string{ran}},
		{"label=client:acme&label=reel:8", nil},
		{"label=client:acm", nil},
		{"label=" + url.QueryEscape(`b:say "client":"acme"`), []string{odd}},
		{"label=" + url.QueryEscape(`b:,`), nil},
		{"q=INTERVIEW", []string{foreign, ran}},
		{"q=50%25", []string{ran}},
		{"q=%25", []string{ran}},
		{"q=_final", []string{named}},
		{"q=" + url.QueryEscape("Über"), []string{named}},
		{"q=c.mov", []string{named}},
		{"q=say", []string{odd}},
		{"q=reel", nil},
		{"q=" + strings.ToUpper(thumb), []string{thumb}},
		{"q=" + thumb[:len(thumb)-1], []string{thumb}},
		{"q=job_0", []string{foreign, thumb, named, odd, ran}},
		{"q=" + url.QueryEscape(`\`), nil},
		{"since=" + at(1), []string{foreign, thumb, named, odd}},
		{"until=" + at(1), []string{ran}},
		{"since=" + at(1) + "&until=" + at(2), []string{odd}},
		{"since=" + url.QueryEscape(start.Add(1).Format(time.RFC3339Nano)) + "&until=" + at(2), []string{odd}},
		{"since=" + at(2) + "&until=" + at(1), nil},
		{"since=9999-12-31T23:59:59Z", nil},
		{"until=0001-01-02T00:00:00Z", nil},
		{"since=0001-01-02T00:00:00Z&until=9999-12-31T23:59:59Z&status=active&service=ffmpeg.transcode&label=reel:7&q=inter&device=" + mac.DeviceID, []string{ran}},
	} {
		if got := h.jobs(c.query); !slices.Equal(got, c.want) {
			t.Errorf("%q lists %q, want %q", c.query, got, c.want)
		}
	}
	mine := into[api.List[api.JobItem]](h.get("/v1/jobs?account="+h.otherAccount, h.read).is(200))
	if len(mine.Items) != 0 || mine.NextCursor != nil {
		t.Errorf("below admin another account lists %+v", mine)
	}
	for _, query := range []string{
		"status=lost", "since=yesterday", "until=1", "label=client", "label=:x", "q=" + strings.Repeat("x", 201), "limit=0", "limit=501", "limit=x", "colour=red",
	} {
		h.get("/v1/jobs?"+query, h.read).refuses(422, "invalid_request")
	}
}

// A clock that was set back gives jobs ids that are ahead of their time.
func TestList_UntilKnowsOfAClockThatWasSetBack(t *testing.T) {
	h := mustServe(t)
	h.mustSubmit(h.submit)
	h.clock.Jump(-48 * time.Hour)
	back := h.mustSubmit(h.submit)
	until := url.QueryEscape(back.CreatedAt.Add(time.Second).Format(time.RFC3339Nano))
	if got := h.jobs("until=" + until); !slices.Equal(got, []string{back.ID}) {
		t.Errorf("until after it lists %q, want %q", got, back.ID)
	}
}

// Pages are neither missing nor repeating a job while others are added.
func TestList_StaysCorrectWhileJobsAreAdded(t *testing.T) {
	h := mustServe(t)
	r := h.jobRequest(h.submit)
	var want []string
	add := func() string { return into[api.Job](h.post("/v1/jobs", h.submit, r).is(201)).ID }
	for range 7 {
		want = append(want, add())
	}
	slices.Reverse(want)
	var got []string
	cursor := ""
	for {
		page := into[api.List[api.JobItem]](h.get("/v1/jobs?limit=2"+cursor, h.read).is(200))
		for _, j := range page.Items {
			got = append(got, j.ID)
		}
		if page.NextCursor == nil {
			break
		}
		cursor = "&cursor=" + *page.NextCursor
		add()
	}
	if !slices.Equal(got, want) {
		t.Errorf("pages list %q, want %q", got, want)
	}
}

func TestCursor_AnythingElseIsRefused(t *testing.T) {
	h := mustServe(t)
	h.mustSubmit(h.submit)
	j := h.mustSubmit(h.submit)
	next := *into[api.List[api.JobItem]](h.get("/v1/jobs?limit=1", h.read).is(200)).NextCursor
	if strings.Contains(next, j.ID) {
		t.Errorf("the cursor %s is not opaque", next)
	}
	h.get("/v1/jobs?cursor="+next, h.read).is(200)
	for _, cursor := range []string{
		j.ID, "x", "%00", "AAAA", next + "A", next + "=", next[1:], next[:len(next)-1], "%0A" + next, strings.Repeat("A", 255), sealCursor("listDevices", j.ID),
	} {
		p := h.get("/v1/jobs?cursor="+cursor, h.read).refuses(422, "invalid_request")
		if len(p.Errors) != 1 || p.Errors[0].Location != "query.cursor" {
			t.Errorf("%s: %+v", cursor, p.Errors)
		}
	}
	h.get("/v1/devices?cursor="+next, h.read).refuses(422, "invalid_request")
}

func FuzzCursor(f *testing.F) {
	f.Add("listJobs", "job_01kbd3m8q5w9x2c7e4r6t8y0za")
	f.Add("listEvents", "17")
	f.Fuzz(func(t *testing.T, route, id string) {
		if id != "" {
			if got, ok := openCursor(route, sealCursor(route, id)); !ok || got != id {
				t.Errorf("%q came back as %q, %v", id, got, ok)
			}
		}
		if got, ok := openCursor(route, id); ok && sealCursor(route, got) != id {
			t.Errorf("%q was taken for a cursor of %q", id, got)
		}
	})
}

func TestBatch_AllOrNone(t *testing.T) {
	h := mustServe(t)
	r := h.jobRequest(h.submit)
	var many api.BatchRequest
	for i := range 500 {
		r.Labels = map[string]string{"n": fmt.Sprint(i)}
		many.Jobs = append(many.Jobs, r)
	}
	made := into[api.Batch](h.post("/v1/jobs/batch", h.submit, many).is(201))
	for i, j := range made.Items {
		if j.Labels["n"] != fmt.Sprint(i) || j.Attempts == nil || j.Status != "queued" {
			t.Fatalf("item %d is %+v", i, j)
		}
	}
	if len(made.Items) != 500 || len(h.jobs("")) != 500 {
		t.Errorf("%d jobs are answered, %d listed", len(made.Items), len(h.jobs("")))
	}
	bad, none := r, api.Input{UploadID: ptr("upl_none")}
	bad.Inputs = []api.Input{*new(api.Input), none}
	bad.Service, bad.Priority = "nothing", ptr(101)
	p := h.post("/v1/jobs/batch", h.submit, api.BatchRequest{Jobs: []api.JobRequest{r, bad, r}}).refuses(422, "invalid_request")
	var at []string
	for _, f := range p.Errors {
		at = append(at, f.Location)
	}
	slices.Sort(at)
	if want := []string{"jobs[1].inputs[0]", "jobs[1].inputs[1].upload_id", "jobs[1].priority", "jobs[1].service"}; !slices.Equal(at, want) {
		t.Errorf("faults at %q, want %q", at, want)
	}
	for _, in := range []any{`{"jobs":[]}`, `{"jobs":null}`, `{}`, api.BatchRequest{Jobs: append(many.Jobs, r)}} {
		h.post("/v1/jobs/batch", h.submit, in).refuses(422, "invalid_request")
	}
	large := strings.Repeat(" ", 2<<20)
	h.post("/v1/jobs/batch", h.submit, large+mustJSON(t, api.BatchRequest{Jobs: []api.JobRequest{r}})).is(201)
	h.post("/v1/jobs", h.submit, large+mustJSON(t, r)).refuses(413, "body_too_large")
	if p := h.post("/v1/jobs/batch", h.submit, strings.Repeat(" ", 8<<20+1)).refuses(413, "body_too_large"); !strings.Contains(p.Detail, "8 MiB") {
		t.Error(p.Detail)
	}
}

// A batch that is wrong all over is refused once enough of it is known, and the
// answer says that there is more.
func TestBatch_WrongAllOver(t *testing.T) {
	h := mustServe(t)
	r := h.jobRequest(h.submit)
	r.Inputs = nil
	for range 100 {
		r.Inputs = append(r.Inputs, api.Input{UploadID: ptr("upl_none")})
	}
	var many api.BatchRequest
	for range 500 {
		many.Jobs = append(many.Jobs, r)
	}
	p := h.post("/v1/jobs/batch", h.submit, many).refuses(422, "invalid_request")
	if n := len(p.Errors); n != maxFaults+1 || p.Errors[n-1].Message != "and more than that: only the first 100 are listed" {
		t.Errorf("%d faults are listed, the last %+v", n, p.Errors[n-1])
	}
}

// What only the transaction sees of a batch undoes all of it.
func TestBatch_CreditsShortForTheLast(t *testing.T) {
	h := mustServe(t, func(o *Options) { o.Pricing = map[string]int64{"ffmpeg.transcode": 3} })
	r := h.jobRequest(h.otherAccountSubmit)
	h.post("/v1/jobs/batch", h.otherAccountSubmit, api.BatchRequest{Jobs: []api.JobRequest{r, r}}).refuses(402, "credit_exhausted")
	if got := h.jobs(""); len(got) != 0 {
		t.Errorf("%d jobs are left of it", len(got))
	}
	h.post("/v1/jobs/batch", h.otherAccountSubmit, api.BatchRequest{Jobs: []api.JobRequest{r}}).is(201)
}

func TestRetry_TheSameRequestWithoutADeadline(t *testing.T) {
	h := mustServe(t)
	deadline := h.clock.Now().Add(time.Hour)
	old := h.mustSubmit(h.submit, func(r *api.JobRequest) {
		r.Params, r.Labels, r.Priority, r.MaxAttempts = []byte(`{"preset":"web-720p"}`), map[string]string{"a": "b"}, ptr(7), ptr(2)
		r.AdmissionDeadline, r.OutputName, r.Requires = &deadline, ptr("x.mp4"), &api.Requires{Tags: []string{"t"}}
		r.WebhookURL, r.WebhookEvents = ptr("http://x.test/"), []string{"job.failed"}
	})
	at := "/v1/jobs/" + old.ID + "/retry"
	h.post(at, h.submit, nil).refuses(409, "job_not_terminal")
	old = into[api.Job](h.post("/v1/jobs/"+old.ID+"/cancel", h.submit, nil).is(202))
	h.post(at, h.read, nil).refuses(403, "forbidden")
	h.post(at, h.otherAccountSubmit, nil).refuses(404, "not_found")
	got := into[api.Job](h.post(at, h.otherAdmin, nil).is(201)) // it stays with the job's account
	if *got.RetryOf != old.ID || got.ID == old.ID || got.Status != "queued" || got.AdmissionDeadline != nil || got.FailureCode != nil {
		t.Errorf("the retry is %+v", got)
	}
	got.ID, got.RetryOf, got.Status, got.CreatedAt = old.ID, old.RetryOf, old.Status, old.CreatedAt
	got.AdmissionDeadline, got.FinishedAt, got.FailureCode, got.FailureMessage = old.AdmissionDeadline, old.FinishedAt, old.FailureCode, old.FailureMessage
	if mustJSON(t, got) != mustJSON(t, old) {
		t.Errorf("the retry asks for %s, the job for %s", mustJSON(t, got), mustJSON(t, old))
	}
}

func TestRetry_ChecksItsInputsAgain(t *testing.T) {
	h := mustServe(t, func(o *Options) { o.Pricing = map[string]int64{"ffmpeg.transcode": 3} })
	first := h.mustSubmit(h.otherAccountSubmit)
	h.post("/v1/jobs/"+first.ID+"/cancel", h.otherAccountSubmit, nil).is(202)
	again := into[api.Job](h.post("/v1/jobs/"+first.ID+"/retry", h.otherAccountSubmit, nil).is(201))
	if again.Hold == nil || again.Hold.Credits != 3 {
		t.Errorf("the retry holds %+v", again.Hold)
	}
	h.post("/v1/jobs/"+first.ID+"/retry", h.otherAccountSubmit, nil).refuses(402, "credit_exhausted")
	h.post("/v1/jobs/"+again.ID+"/cancel", h.otherAccountSubmit, nil).is(202)
	one := h.mustSubmit(h.submit)
	two := into[api.Job](h.post("/v1/jobs", h.submit, api.JobRequest{Service: "ffmpeg.transcode", Inputs: []api.Input{{JobID: &one.ID}}}).is(201))
	h.post("/v1/jobs/"+one.ID+"/cancel", h.submit, nil).is(202)
	p := h.post("/v1/jobs/"+two.ID+"/retry", h.submit, nil).refuses(422, "invalid_request")
	if len(p.Errors) != 1 || p.Errors[0].Location != "inputs[0].job_id" {
		t.Errorf("faults: %+v", p.Errors)
	}
}

func TestPriority_OfAQueuedJobOnly(t *testing.T) {
	h := mustServe(t)
	first, second := h.mustSubmit(h.submit), h.mustSubmit(h.submit)
	change := func(id, key string, in any) reply { t.Helper(); return h.do("PATCH", "/v1/jobs/"+id, key, in) }
	for range 2 {
		if j := into[api.Job](change(second.ID, h.submit, `{"priority":5}`).is(200)); j.Priority != 5 {
			t.Errorf("the priority is %d", j.Priority)
		}
	}
	if o := storetest.MustLease(t, h.db, storetest.MustDevice(t, h.db)); o.JobID != second.ID {
		t.Errorf("%s was leased first", o.JobID)
	}
	change(second.ID, h.submit, `{"priority":6}`).refuses(409, "job_not_queued")
	change(first.ID, h.read, `{"priority":6}`).refuses(403, "forbidden")
	change(first.ID, h.otherAccountSubmit, `{"priority":6}`).refuses(404, "not_found")
	change("job_none", h.admin, `{"priority":6}`).refuses(404, "not_found")
	for _, in := range []string{`{}`, `{"priority":null}`, `{"priority":101}`, `{"priority":1.5}`, `{"priority":"1"}`, `{"priority":1,"status":"succeeded"}`} {
		change(first.ID, h.submit, in).refuses(422, "invalid_request")
	}
	h.post("/v1/jobs/"+first.ID+"/cancel", h.submit, nil).is(202)
	change(first.ID, h.submit, `{"priority":6}`).refuses(409, "job_not_queued")
}
