package whole

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"rendermac/media/mediatest"
)

// Every file is whole as it is, and cut at any byte it is not; there is no cut
// inside of these that the walk does not see.
func TestCheck_SeesEveryCut(t *testing.T) {
	for name, demuxer := range map[string]string{
		"anim.gif": "gif", "sound.ogg": "ogg", "sound.opus": "ogg", "film.avi": "avi",
	} {
		data, err := os.ReadFile(filepath.Join(mediatest.More(t), "whole", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(bytes.NewReader(data), int64(len(data)), demuxer); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for at := 200; at < len(data); at += 1 + len(data)/500 {
			if Check(bytes.NewReader(data[:at]), int64(at), demuxer) == nil {
				t.Errorf("%s: cut at %d of %d it passes for whole", name, at, len(data))
				break
			}
		}
	}
}

// These tell of cuts within a unit, and not between two.
func TestCheck_SeesBrokenUnits(t *testing.T) {
	for name, demuxer := range map[string]string{"film.flv": "flv", "sound.mp3": "mp3", "no_xing.mp3": "mp3", "sound.aac": "aac", "film.mpg": "mpeg"} {
		data, err := os.ReadFile(filepath.Join(mediatest.More(t), "whole", name))
		if err != nil {
			t.Fatal(err)
		}
		passed := 0
		for at := len(data); at > 200; at -= 1 + len(data)/500 {
			if Check(bytes.NewReader(data[:at]), int64(at), demuxer) == nil {
				passed++
			}
		}
		if passed == 0 || passed > 50 {
			t.Errorf("%s: %d of %d cuts pass", name, passed, len(data))
		}
	}
}

// Whatever the bytes, the walk ends, and without a panic.
func FuzzCheck(f *testing.F) {
	for demuxer := range walkers {
		f.Add([]byte("GIF89a\x01\x00\x01\x00\x80\x00\x00"), demuxer)
		f.Add([]byte("OggS\x00\x02"), demuxer)
	}
	f.Fuzz(func(_ *testing.T, data []byte, demuxer string) {
		_ = Check(bytes.NewReader(data), int64(len(data)), demuxer)
	})
}
