package agent

import (
	"bytes"
	"encoding/json"
	"testing"

	"rendermac/agentproto"
	"rendermac/media"
)

func TestTranscodeIsFetchedEncodedUploadedAndCommitted(t *testing.T) {
	srv := newServer(t)
	a := startAgent(t, srv)
	o := srv.offer(srv.session(1), "att_1", mustClip(t), `{"preset":"web-480p"}`)

	commit := next[*agentproto.Commit](srv, 0, nil)
	a.over()
	if commit.IDs != o.IDs || commit.CommitToken != o.CommitToken {
		t.Errorf("commit bears %+v %q", commit.IDs, commit.CommitToken)
	}
	whole := srv.uploaded("att_1")
	if int64(len(whole)) != commit.Bytes || digest(whole) != commit.SHA256 {
		t.Errorf("the commit claims %d bytes, %d came", commit.Bytes, len(whole))
	}
	if !bytes.Contains(whole[:64], []byte("ftyp")) {
		t.Error("the result is no mp4")
	}
	upload := next[*agentproto.Upload](srv, 0, nil)
	if want := (len(whole) + partBytes - 1) / partBytes; len(upload.Parts) != want || want < 3 {
		t.Errorf("%d bytes in %d parts", len(whole), len(upload.Parts))
	}
	progress := next(srv, 0, func(p *agentproto.Progress) bool { return p.InputMedia != nil })
	var in media.InputMedia
	if err := json.Unmarshal(progress.InputMedia[0], &in); err != nil || len(in.Streams) != 2 {
		t.Errorf("input_media %s: %v", progress.InputMedia, err)
	}
	srv.until("the slot to be free again", func() bool {
		last, ok := srv.heard[len(srv.heard)-1].m.(*agentproto.Ready)
		return ok && last.SlotsFree == 1
	})
}
