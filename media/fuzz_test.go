package media

import (
	"encoding/json"
	"testing"
)

const saidSeed = `{"format":"matroska,webm","duration_s":2.5,"streams":[{"kind":"video","codec":"vp9","width":320,"height":180,"pixel_aspect":1.5,"rotation":90,"pixel_format":"yuv420p10le"},{"kind":"audio","codec":"pcm_s24le","channels":6}]}`

// What an agent says of an input is a stranger's word: it can be shown and
// judged, or it is nothing.
func FuzzSaid(f *testing.F) {
	f.Add([]byte(saidSeed))
	f.Add([]byte(`{"streams":[{"width":-1,"pixel_aspect":1e308,"rotation":-90}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m := Said(raw)
		if m == nil {
			return
		}
		if _, err := json.Marshal(m); err != nil {
			t.Fatal(err)
		}
		service, _ := Lookup("ffmpeg.transcode")
		resolved, _ := service.Resolve(json.RawMessage(`{"preset":"web-480p"}`))
		service.Expect(resolved, nil, []json.RawMessage{raw}).Check(good())
	})
}

func FuzzFFprobe(f *testing.F) {
	f.Add([]byte(`{"format":{"format_name":"matroska,webm","duration":"2.5"},"streams":[{"codec_type":"video","codec_name":"vp9","r_frame_rate":"25/1","avg_frame_rate":"25/0","tags":{"DURATION":"00:00:02.5"}}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := ParseFFprobe(raw)
		if err != nil {
			return
		}
		if _, err := json.Marshal(m); err != nil {
			t.Fatal(err)
		}
	})
}

func TestSaid_SpeaksTheServersWords(t *testing.T) {
	m := Said(json.RawMessage(saidSeed))
	v, a := m.Streams[0], m.Streams[1]
	if m.Container != "matroska" || v.Width != 180 || v.Height != 480 || v.Rotation != 270 || v.Chroma != "4:2:0" || a.Codec != "pcm" || a.Channels != 6 {
		t.Errorf("%+v", m)
	}
	for _, nothing := range []string{"", "null", "[]", `{"streams":[]}`, `{"streams":"many"}`} {
		if m := Said(json.RawMessage(nothing)); m != nil {
			t.Errorf("%q says %+v", nothing, m)
		}
	}
}
