package qualify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"rendermac/api"
)

// day is a site under crashes: a kept server, a mac, and all that clients have
// been told, which must still be so when the day is over.
type day struct {
	*crashSite
	server *keeper
	client *api.Client
	mac    *mac
	film   []byte // what every job's result is; nil where a real agent makes it
	clip   string // its file

	hooks   *hooks
	macs    []*mac
	jobs    map[string]*promise // by label, each once
	uploads map[string]string   // complete, by id: the digest
	devices map[string]bool     // paired, by id: revoked
	names   map[string]string   // given to devices, by id; those stand, and no drain
	upload  string              // of the clip
	// What an admin was told: each account's name, limit and secret, and of each
	// key whether it is revoked.
	accounts map[string]string
	keys     map[string]bool
	number   int

	order string // the kill to arm, and
	from  int    // how many marks had been passed when it could be
}

// promise is what a client was told of a job.
type promise struct {
	id        string
	ends      []string // as one of these it must end
	cancelled bool     // a cancel was acknowledged
	priority  int      // a change to this one was acknowledged
}

// scripts are short stories; together they pass every mark that a running
// server has.
var scripts = map[string]func(*day){
	"upload": (*day).uploadScript,
	"chain":  (*day).chainScript,
	"path":   (*day).pathScript,
	"cancel": (*day).cancelScript,
	"late":   (*day).lateCancelScript,
	"fail":   (*day).failScript,
	"spoil":  (*day).spoilScript,
	"revoke": (*day).revokeScript,
	"drain":  (*day).drainScript,
	"return": (*day).returnScript,
	"rights": (*day).accountsScript,
	"sign":   (*day).signInScript,
	"many":   (*day).manyScript,
	"hook":   (*day).hookScript,
	"gc":     (*day).gcScript,
}

// newDay is a site whose server is kept, with a client and no Mac.
func newDay(t testing.TB, film string) *day {
	t.Helper()
	s := newCrashSite(t)
	d := &day{crashSite: s, clip: film, jobs: map[string]*promise{}, uploads: map[string]string{}, devices: map[string]bool{}, accounts: map[string]string{}, keys: map[string]bool{}, names: map[string]string{}}
	d.server = keep(t, s.server, s.launch)
	until(t, "the server is ready", s.ready)
	d.client = s.buyer()
	d.upload = d.bring(film)
	d.hooks = newHooks(t)
	return d
}

// newMacDay is one with a mac, which delivers the clip itself.
func newMacDay(t testing.TB, film string) *day {
	t.Helper()
	d := newDay(t, film)
	var err error
	if d.film, err = os.ReadFile(film); err != nil {
		t.Fatal(err)
	}
	_, d.mac = d.newMac("root:media")
	return d
}

// newMac pairs and connects a mac. A code whose answer was lost is spent: a
// person then asks for another.
func (d *day) newMac(features ...string) (id string, m *mac) {
	d.Helper()
	for {
		code := must(insist(d, "make a code", func() (*api.Pairing, error) {
			return d.client.CreatePairing(context.Background(), api.PairingRequest{})
		}))(d)
		paired, sure, err := insist(d, "pair", func() (*api.PairAnswer, error) {
			return d.client.Pair(context.Background(), api.PairRequest{Code: code.Code, Name: "mac", Device: api.Machine{Encoders: []string{}, Features: []string{}}})
		})
		if refused := new(api.Error); !sure && errors.As(err, &refused) && refused.Code == "bad_code" {
			continue
		}
		if err != nil {
			d.Fatal(err)
		}
		d.devices[paired.DeviceID] = false
		m, stop := startMac(d.url, paired.DeviceToken, filepath.Join(d.home, "media"), d.film, features...)
		d.Cleanup(stop)
		d.macs = append(d.macs, m)
		m.await(func() bool { return m.link != nil || m.refused }) // its hello belongs to whoever asked for it, not to what follows
		return paired.DeviceID, m
	}
}

// must takes insist's answer, or ends the test.
func must[T any](answer T, _ bool, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
}

// bring uploads a file with the client that the command line uses.
func (d *day) bring(file string) (id string) {
	d.Helper()
	done := must(insist(d, "upload", func() (*api.UploadDone, error) {
		return d.client.Upload(context.Background(), file, func(int64) {})
	}))(d)
	text, err := os.ReadFile(file)
	if err != nil {
		d.Fatal(err)
	}
	if done.SHA256 != sha(text) {
		d.Fatalf("the server says that the upload's digest is %s", done.SHA256)
	}
	d.uploads[done.ID] = done.SHA256
	return done.ID
}

// submit submits a job that is to end as one of these. Its label tells jobs
// apart: the client's key sees to it that none is made twice.
func (d *day) submit(quality int, in api.Input, more func(*api.JobRequest), ends ...string) (label string) {
	d.Helper()
	label, r := d.request(quality, in)
	if more != nil {
		more(&r)
	}
	j := must(insist(d, "submit", func() (*api.Job, error) { return d.client.Submit(context.Background(), r) }))(d)
	d.jobs[label] = &promise{id: j.ID, ends: ends}
	return label
}

// request is a job under a label of its own.
func (d *day) request(quality int, in api.Input) (label string, r api.JobRequest) {
	d.number++
	label = strconv.Itoa(d.number)
	return label, api.JobRequest{
		Service: "ffmpeg.transcode", Params: []byte(fmt.Sprintf(`{"preset":"web-480p","quality":%d}`, quality)),
		Inputs: []api.Input{in}, Labels: map[string]string{"n": label},
	}
}

func (d *day) id(label string) string { return d.jobs[label].id }

// cancel cancels; a job that has ended already says so.
func (d *day) cancel(label string) {
	d.Helper()
	j, _, err := insist(d, "cancel", func() (*api.Job, error) { return d.client.Cancel(context.Background(), d.id(label)) })
	var refused *api.Error
	switch {
	case errors.As(err, &refused) && refused.Code == "job_terminal":
		return // an earlier try was heard, or the job has been quicker
	case err != nil:
		d.Fatal(err)
	case j.Status != "cancelling" && j.Status != "cancelled":
		d.Errorf("a cancelled job is %s", j.Status)
	}
	d.jobs[label].cancelled = true
}

// ended waits for jobs, and looks at each result.
func (d *day) ended(labels ...string) {
	d.Helper()
	for _, label := range labels {
		var j *api.Job
		until(d, "job "+label+" has ended", func() bool {
			j = must(insist(d, "look at a job", func() (*api.Job, error) { return d.client.Job(context.Background(), d.id(label)) }))(d)
			return j.Ended()
		})
		if j.Status == "succeeded" {
			d.fetch(j)
		}
	}
}

// fetch downloads a result: it is the film.
func (d *day) fetch(j *api.Job) {
	d.Helper()
	file := filepath.Join(d.TempDir(), "result")
	must(insist(d, "download", func() (bool, error) {
		return true, d.client.Download(context.Background(), j, file, true, func(int64) {})
	}))(d)
	if text, _ := os.ReadFile(file); d.film != nil && !bytes.Equal(text, d.film) {
		d.Errorf("job %s: the downloaded result is not what the Mac delivered", j.ID)
	}
	os.Remove(file)
}

func (d *day) ofClip() api.Input            { return api.Input{UploadID: &d.upload} }
func (d *day) ofJob(label string) api.Input { id := d.id(label); return api.Input{JobID: &id} }
func nobodys(r *api.JobRequest)             { r.Requires = &api.Requires{Tags: []string{"nobody"}} }

func needsHEVC(r *api.JobRequest)                { r.Params = []byte(`{"video_codec":"hevc","quality":53}`) }
func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func (d *day) uploadScript() {
	d.bring(d.clip)
	d.refusedUpload()
}

func (d *day) chainScript() {
	first := d.submit(asUsual, d.ofClip(), nil, "succeeded")
	second := d.submit(asUsual, d.ofJob(first), d.toBeTold, "succeeded")
	d.ended(first, second)
}

func (d *day) cancelScript() {
	queued := d.submit(asUsual, d.ofClip(), nobodys, "cancelled")
	running := d.submit(holdOn, d.ofClip(), d.toBeTold, "cancelled")
	waiting := d.submit(asUsual, d.ofJob(queued), nil, "failed")
	d.cancel(queued)
	until(d, "the mac is at it", func() bool { return d.mac.says(d.id(running), func(r *macRun) bool { return r.atWork && !r.over() }) })
	d.cancel(running)
	d.ended(queued, running, waiting)
}

// lateCancelScript cancels what is being verified.
func (d *day) lateCancelScript() {
	d.site.server.hold("server.verify")
	job := d.submit(asUsual, d.ofClip(), nil, "cancelled")
	until(d, "the commit is accepted", func() bool { return d.mac.says(d.id(job), func(r *macRun) bool { return r.accepted }) })
	d.cancel(job)
	d.site.server.release("server.verify")
	d.ended(job)
}

func (d *day) failScript() {
	d.ended(
		d.submit(breakDown, d.ofClip(), d.toBeTold, "failed"),
		d.submit(stumble, d.ofClip(), nil, "succeeded"),
		d.submit(forget, d.ofClip(), nil, "succeeded"),
	)
}

func (d *day) spoilScript() {
	d.ended(d.submit(spoil, d.ofClip(), nil, "succeeded"), d.submit(changesMind, d.ofClip(), nil, "succeeded"))
}

// revokeScript takes a device its pairing, while it runs what no other can.
func (d *day) revokeScript() {
	id, m := d.newMac("hevc", "libx265")
	job := d.submit(holdOn, d.ofClip(), needsHEVC, "cancelled")
	until(d, "the second mac is at it", func() bool { return m.says(d.id(job), func(r *macRun) bool { return r.atWork && !r.over() }) })
	must(insist(d, "revoke", func() (bool, error) { return true, d.client.RevokeDevice(context.Background(), id) }))(d)
	d.devices[id] = true
	until(d, "its token is refused", func() bool { m.mu.Lock(); defer m.mu.Unlock(); return m.refused })
	d.cancel(job)
	d.ended(job)
}

// drainScript has a device take no more work, and work again under another name.
func (d *day) drainScript() {
	id, _ := d.newMac()
	change := func(c api.DeviceChange) {
		must(insist(d, "change a device", func() (*api.Device, error) { return d.client.ChangeDevice(context.Background(), id, c) }))(d)
	}
	change(api.DeviceChange{Draining: new(true), Tags: &[]string{"studio-c"}})
	job := d.submit(asUsual, d.ofClip(), func(r *api.JobRequest) { r.Requires = &api.Requires{Tags: []string{"studio-c"}} }, "succeeded")
	d.names[id] = "drained " + id
	change(api.DeviceChange{Draining: new(false), Name: new(d.names[id])})
	d.ended(job)
	change(api.DeviceChange{Slots: new(new(0))}) // the other scripts' jobs are for the first mac
}

// returnScript is a server that was killed amid a verification and an upload,
// and comes back: the kill strikes as it does.
func (d *day) returnScript() {
	d.site.server.spare()
	d.site.server.hold("server.verify")
	job := d.submit(asUsual, d.ofClip(), nil, "succeeded")
	until(d, "the commit is accepted", func() bool { return d.mac.says(d.id(job), func(r *macRun) bool { return r.accepted }) })
	if err := os.WriteFile(d.artifacts("writes", "check-torn"), nil, 0o600); err != nil {
		d.Fatal(err)
	}
	d.arm()
	d.server.end(syscall.SIGKILL)
	d.site.server.release("server.verify")
	d.ended(job)
}

// arm puts the order to kill where the server sees it.
func (d *day) arm() {
	d.from = len(d.site.server.passed())
	if d.order != "" {
		d.site.server.write("kill", d.order)
	}
}
