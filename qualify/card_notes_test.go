package qualify

import (
	"fmt"
	"strings"
)

func (c *card) cells(b *strings.Builder) {
	b.WriteString("\n## The cells\n")
	for _, phase := range phases {
		fmt.Fprintf(b, "\n### %s\n\n", phase)
		for _, f := range faults {
			if r := c.results[phase+"/"+f.name]; r != nil {
				fmt.Fprintf(b, "- **%s**: %s\n", f.name, r.long())
			}
		}
	}
}

func (r *result) long() string {
	status, attempts, _ := strings.Cut(r.outcome, ": ")
	out := status
	if attempts != "" {
		out += " (" + strings.TrimSuffix(attempts, ":")
		if r.epoch > 1 {
			out += fmt.Sprintf(", epoch %d", r.epoch)
		}
		out += ")"
	}
	out = strings.ReplaceAll(out, ":", "")
	slot := "no"
	if r.slotBack {
		slot = "yes"
	}
	out += ". Slot back: " + slot + "."
	for i, t := range r.times {
		if i == 0 {
			out += " Time " + t.what + " " + seconds(t.took)
		} else {
			out += ", " + t.what + " " + seconds(t.took)
		}
	}
	out += ". " + r.meaning()
	if r.stale > 0 {
		out += " Said in the dead Mac's name after that, and refused: progress, a commit with a made-up secret"
		if r.secret {
			out += ", and one with the true one"
		}
		out += "."
	}
	return out
}

func (r *result) meaning() string {
	switch {
	case r.unfelt:
		return "The outage was " + unfelt + "."
	case r.outcome == "cancelled:":
		return "It was never offered to anyone."
	case r.outcome == cancels:
		return "The cancel won; nothing was published (F10, F11)."
	case r.outcome == returns:
		return "The Mac came back without this run, which ended at its hello and was offered anew (F14, F12)."
	case r.outcome == takenOver:
		return "The lease ran out and the other Mac did the work; nothing of the first one's was accepted (F13, F4, F9)."
	case r.outcome == triedAnew:
		return "The Mac said what was wrong, and tried again when there was room (F12)."
	case strings.Contains(r.times[len(r.times)-1].what, "knowing"):
		return "The commit counted, and the Mac was told so when it came back (F6, F14)."
	case r.epoch > 1:
		return "The same run went on under a new epoch and secret; nothing was done twice (F14)."
	default:
		return "The job took no notice."
	}
}

const phaseNotes = `- **queued**: the job stands in line behind another one that fills each Mac. Agent faults strike the Mac that is busy with that other job, which succeeds as well.
- **leased**: the Mac has the offer and has said nothing yet; **downloading**: before the first byte; **running**: ffmpeg is encoding and has reported a fraction; **uploading**: the grant is there and no part is sent; **committing**: all parts are held and the commit is about to go out;
  **verifying**: the commit is accepted and the verifier is at work. All but running are held at that point, and let go as soon as the fault has struck.
- Each Mac has its proofs.json (what doctor's test frames have proved) beforehand, as an agent that was killed has: a Mac that has just booted proves anew, which takes seconds.
- Each cell also asserts: the Mac's only slot came back (it takes another job at once), no ffmpeg and no guard process is left, no run folder, no open write, and no object but the published ones. Cells of one fault follow one another on the same server and Macs.
`

const (
	cancelNote = "the buyer's `POST /v1/jobs/:id/cancel`."
	killNote   = "SIGKILL of the agent, and a new start at once; its ffmpeg dies by the guard. In the extra column it stays dead, and a second idle Mac takes the job; after the takeover the test itself speaks in the dead Mac's name, with its pairing: progress, a commit with a made-up secret, and, where the Mac had kept its result, the very commit that it would have sent. It is started again in the end, to show that what it kept is refused. There, queued and verifying do not depend on the Mac."
	freezeNote = "SIGSTOP of the agent, its guard and its ffmpeg, as when the lid is closed, until the lease has run out and a second Mac has the job; then SIGCONT, in the middle of the other's run. The Mac, awake, lets go of its run by itself (F17), and nothing of that run is accepted."
	dropNote   = "every connection between Mac and server is cut, transfers too, and none gets through for a second. In committing, the commit goes out, its answer is lost, and then the line is cut: COMMIT has happened and the Mac does not know."
	serverNote = "SIGKILL of the server, and a new start at once on the same data."
	outageNote = "the artifact store's folders are not there (plain files stand in their place) until the server has run into it (in running, where an encoder does not need them, for two seconds); the database goes on."
	diskNote   = "in downloading and running the Mac's work disk, else the disk with the server's database and artifacts: a small tmpfs, filled to the last byte, and freed when the shortage has shown."
	clockNote  = "the server's wall clock is set an hour ahead, then an hour behind real time (by failpoint, since the machine is shared), and the job goes on an hour behind. The clock is put right after the cell."
)
