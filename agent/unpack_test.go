package agent

import (
	"archive/zip"
	"bytes"
	"image"
	"image/jpeg"
	"image/png"
	"os"
	"strconv"
	"strings"
	"testing"

	"rendermac/agentproto"
)

// zipOf packs names and contents, which stand in turn.
func zipOf(t *testing.T, namesAndTexts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(namesAndTexts); i += 2 {
		in, err := w.Create(namesAndTexts[i])
		if err == nil {
			_, err = in.Write([]byte(namesAndTexts[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func pngOf(t *testing.T, w, h int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFramesBecomeAFilm(t *testing.T) {
	srv := newServer(t)
	a := startAgent(t, srv)
	one := pngOf(t, 64, 36)
	in := zipOf(t, "shot/-y %d 9.png", one, "shot/-y %d 10.png", one, "shot/-y %d 11.png", one, "__MACOSX/shot/._x", "x", "shot/.DS_Store", "x", "shot/Thumbs.db", "x")
	srv.offerOf("ffmpeg.frames", srv.session(1), "att_1", in, `{"fps":25}`)
	commit := next[*agentproto.Commit](srv, 0, nil)
	if commit.Bytes == 0 {
		t.Error("the result is empty")
	}
	said := next(srv, 0, func(p *agentproto.Progress) bool { return len(p.InputMedia) > 0 })
	if text := string(said.InputMedia[0]); !strings.Contains(text, `"frames":3`) || !strings.Contains(text, `"image2"`) {
		t.Errorf("the agent says of the input: %s", text)
	}
	a.over()
	if left, err := os.ReadDir(a.WorkDir); err != nil || strings.Contains(entryNames(left), folderPrefix) {
		t.Errorf("left in the work folder: %v, %v", left, err)
	}
}

func entryNames(entries []os.DirEntry) string {
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

func TestZipsWithoutARightResultFailAsRunnerFailed(t *testing.T) {
	srv := newServer(t)
	a := startAgent(t, srv)
	one := pngOf(t, 64, 36)
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 64, 36)), nil); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		input []byte
		says  string
	}{
		{mustClip(t), "the file is no zip"},
		{nil, "the zip is empty (0 bytes)"},
		{zipOf(t), "the zip holds no images"},
		{zipOf(t, "../1.png", one), `the zip's entry "../1.png" has a path with`},
		{zipOf(t, "1.png", one, "2.png", pngOf(t, 32, 36)), `the zip's image "2.png" is 32×36, not 64×36 like "1.png": all must be alike`},
		{zipOf(t, "1.png", one, "2.png", photo.String()), `the zip's image "2.png" is of another format than "1.png"`},
		{zipOf(t, "1.jpg", photo.String(), "2.jpg", photo.String()[:photo.Len()-10]), `the zip's image "2.jpg" is cut short`},
		{zipOf(t, "1.png", one, "2.png", ""), `the zip's image "2.png" is empty (0 bytes)`},
		{zipOf(t, "1.svg", "<svg/>", "2.svg", "<svg/>"), `the zip's image "1.svg" is no jpg, png or tif`},
		{zipOf(t, "1.png", one, "3.png", one), "the zip lacks frame 2"},
	} {
		mark := srv.mark()
		srv.offerOf("ffmpeg.frames", srv.session(1), "att_"+strconv.Itoa(i), c.input, `{"fps":25}`)
		fail := next[*agentproto.Fail](srv, mark, nil)
		if fail.FailureCode != "runner_failed" || !strings.Contains(fail.Message, c.says) {
			t.Errorf("%s: %s: %s", c.says, fail.FailureCode, fail.Message)
		}
		a.over()
	}
}
