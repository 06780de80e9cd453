package webtest

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"rendermac/api"
)

// However often it is asked for, and whatever of the answers arrives, a file gets
// one job.
func TestNew_ADoubleClickAndALostAnswerMakeOneJobAFile(t *testing.T) {
	s := mustStudio(t, "uploads: {max_bytes: 1MiB}")
	folder := t.TempDir()
	for name, size := range map[string]int{"one.mov": 1000, "two.mov": 2000, "notes.txt": 300, "none.mov": 0, "huge.mov": 1<<20 + 1} {
		must(t, os.WriteFile(filepath.Join(folder, name), noise(size), 0o600))
	}
	in := func(name string) string { return filepath.Join(folder, name) }
	p := s.open("/new")
	p.Expect("POST .*/v1/uploads answered 422")
	p.SetFiles("#files", in("one.mov"), in("none.mov"), in("huge.mov"), in("two.mov"))
	p.WaitText("The file is empty: there is nothing to make anything of.")
	p.WaitText("The file is more than this server takes: at most 1.0 MB.")
	p.WaitText("2 files failed and get no job.")
	p.Axe()
	p.Eval(`real = fetch, lost = 0, fetch = async (...asked) => {
		const answer = await real(...asked);
		if (asked[0] === "/v1/jobs/batch" && lost++ === 0) throw new TypeError("the line is cut");
		return answer;
	}, 0`, nil)
	p.Click("Make 2 jobs")
	p.WaitText("The server does not answer.")
	p.Eval(`make.click(), make.click(), 0`, nil)
	p.WaitText("2 jobs are made.")
	p.WaitText("No job of none.mov: The file is empty")
	if jobs := s.jobs(); len(jobs) != 2 {
		t.Errorf("there are %d jobs of two files", len(jobs))
	}

	p.Click("Make more of other files")
	p.Click(`[value="ffmpeg.concat"]`)
	p.SetFiles("#files", in("notes.txt"))
	p.WaitText("This looks like no film, sound or picture")
	p.Click("Remove: notes.txt")
	p.SetFiles("#files", in("one.mov"))
	p.WaitText("It takes 2 files at least.")
	p.SetFiles("#files", in("two.mov"))
	p.Click("Up: two.mov")
	p.Click("Make the job")
	p.WaitFor(`#made-jobs a[title="of two.mov and 1 more file"]`)
	joined := s.jobs()[0]
	var first api.Upload
	s.ask(http.MethodGet, "/v1/uploads/"+*joined.Inputs[0].UploadID, nil, &first)
	if len(joined.Inputs) != 2 || first.Bytes != 2000 {
		t.Errorf("the joined job has %d inputs, of which the first has %d bytes", len(joined.Inputs), first.Bytes)
	}

	p.Drop("h1", in("notes.txt")) // where the jobs are made: for others
	p.WaitGone("#made")
	p.WaitFor(".file[data-state=ready]")
	if n := p.Count(".file"); n != 1 {
		t.Errorf("%d files stand in the list, of which one has come", n)
	}
}

// What the API refuses is said at the field that it is about.
func TestNew_FaultsStandAtTheirFields(t *testing.T) {
	s := mustStudio(t)
	p := s.open("/new")
	p.SetFiles("#files", s.film("interview.mov", 0.2, "64x64"))
	p.WaitText("ready")
	p.Click("More of the service")
	p.Choose("#ffmpeg-transcode-video_codec", "prores")
	p.Choose("#ffmpeg-transcode-container", "mp4")
	p.Type("#ffmpeg-transcode-width", "1")
	p.Click("More of the job")
	p.Type("#webhook_url", "ftp://example.test")
	p.Type("#priority", "101")
	p.Click("More of the job")
	p.Expect("POST .*/v1/jobs/batch answered 422")
	p.Click("Make the job")
	for field, want := range map[string]string{
		"ffmpeg-transcode-container": "Container: prores fits into mov only.", "ffmpeg-transcode-width": "Width must be from 2 to 16384.",
		"webhook_url": "Webhook must be an http or https URL.", "priority": "Priority must be at most 100.",
	} {
		p.WaitFor("#" + field + "[aria-invalid=true] + #" + field + "-fault")
		if said := p.Text("#" + field + "-fault"); said != want {
			t.Errorf("at %s stands %q, not %q", field, said, want)
		}
	}
	p.WaitText("Some fields are not right yet.")
	p.Axe()
	p.Choose("#ffmpeg-transcode-container", "mov")
	p.WaitGone("#ffmpeg-transcode-container-fault")
	p.Type("#ffmpeg-transcode-width", "64")
	p.Type("#webhook_url", "javascript:alert(1)") // of which the server finds two things wrong
	p.Type("#priority", "100")
	p.Click("Make the job")
	p.WaitText("One field is not right yet.")
	if said := p.Text("#webhook_url-fault"); said != "Webhook must be an http or https URL." {
		t.Errorf("at the webhook stands %q", said)
	}
	p.Type("#webhook_url", "")
	p.Click("Make the job")
	p.WaitText("The job is made.")
}

// Who is signed out while files go is led to the sign-in page, not asked whether to leave.
func TestNew_AKeyRevokedInMidUploadLeadsToSignIn(t *testing.T) {
	s := mustStudio(t, "store: {part_bytes: 64KiB}")
	key, err := s.client.CreateKey(t.Context(), api.KeyRequest{Name: "for a day", AccountID: s.account(), Scope: "submit"})
	must(t, err)
	file := filepath.Join(t.TempDir(), "rushes.mov")
	must(t, os.WriteFile(file, noise(40*partBytes), 0o600))
	p := s.openAs(key.Plaintext, "/new")
	p.Expect("ERR_|answered 401")
	p.Click("h1") // browsers ask only people whether they will leave
	p.Slow(1 << 20)
	p.SetFiles("#files", file)
	p.Until(bar + " >= 10")
	must(t, s.client.RevokeKey(t.Context(), key.ID))
	p.WaitPath("/sign-in?next=%2Fnew")
}

// A key that only looks on is told so, and is led to no form.
func TestNew_AReaderIsToldThatItsKeyMayNotSubmit(t *testing.T) {
	s := mustStudio(t)
	key, err := s.client.CreateKey(t.Context(), api.KeyRequest{Name: "wall screen", AccountID: s.account(), Scope: "read"})
	must(t, err)
	p := s.openAs(key.Plaintext, "/jobs")
	p.WaitGone(`a[href="/new"]`)
	p.Expect("GET .*/new answered 403")
	p.Go("/new")
	p.WaitText("This key's scope is read: it looks on.")
}
