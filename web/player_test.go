package web

import "testing"

func TestPlayer_NamesTheTypeAsBrowsersTakeIt(t *testing.T) {
	source := func(contentType string, tracks ...Track) File {
		return File{Source: "/v1/jobs/job_1/output", ContentType: contentType, Media: &Media{Container: "mov", Tracks: tracks}}
	}
	aac := Track{Kind: "audio", Codec: "aac"}
	for _, c := range []struct {
		file             File
		kind, typ, named string
	}{
		{h264(), "video", `video/mp4; codecs="avc1.640028, mp4a.40.2"`, "H.264 and AAC in mp4"},
		{source("video/quicktime", prores().Media.Tracks...), "video", `video/mp4; codecs="apch"`, "ProRes and PCM in mov"},
		{source("video/quicktime", Track{Kind: "video", Codec: "hevc", BitDepth: 10, Tag: "hvc1"}, aac), "video", `video/mp4; codecs="hvc1.2.4.L120.90, mp4a.40.2"`, "HEVC and AAC in mov"},
		{source("video/mp4", Track{Kind: "video", Codec: "h264", Profile: "unheard of"}), "video", "video/mp4", "H.264 in mov"},
		{source("audio/mp4", aac, Track{Kind: "video", Codec: "mjpeg", Cover: true}), "audio", `audio/mp4; codecs="mp4a.40.2"`, "AAC in mov"},
		{source("video/mp4", aac), "audio", `video/mp4; codecs="mp4a.40.2"`, "AAC in mov"},
		{source("audio/wav", Track{Kind: "audio", Codec: "pcm"}), "audio", "audio/wav", "PCM in mov"},
		{source("image/png"), "picture", "", "PNG pictures"},
		{File{Source: "/v1/jobs/job_1/output", ContentType: "video/mp4"}, "video", "video/mp4", "video/mp4"},
	} {
		p := c.file.Player()
		if p == nil || p.Kind != c.kind || p.Type != c.typ || p.Named != c.named {
			t.Errorf("%s with %+v gets %+v", c.file.ContentType, c.file.Media, p)
		}
	}
}

func TestPlayer_IsNotForWhatCannotBeSeen(t *testing.T) {
	shared, gone, archive := h264(), h264(), h264()
	shared.Source, gone.Deleted, archive.ContentType = "", &noon, "application/zip"
	for name, f := range map[string]File{"a file by path": shared, "a deleted output": gone, "an archive": archive} {
		if p := f.Player(); p != nil {
			t.Errorf("%s has the player %+v", name, p)
		}
	}
}

// A film joined from a hundred others must not load them all.
func TestPlayers_AreFewAndEachOnce(t *testing.T) {
	out := h264()
	j := Job{Output: &out}
	for i, c := range []struct{ source, digest string }{
		{"/v1/jobs/job_a/output", "aa"}, {"/v1/jobs/job_a/output", ""}, {"/v1/jobs/job_x/inputs/3", "aa"}, {"/v1/jobs/job_x/inputs/4", ""}, {"/v1/jobs/job_x/inputs/5", ""},
	} {
		f := h264()
		f.Number, f.Source, f.SHA256 = i+1, c.source, c.digest
		j.Inputs = append(j.Inputs, f)
	}
	var shown []string
	for _, p := range j.Players() {
		shown = append(shown, p.At())
	}
	if got := listed(shown); got != "in-1, in-4 and out" {
		t.Errorf("shown are %s", got)
	}
}
