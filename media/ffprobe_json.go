package media

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
)

// ffprobe's own JSON, as far as it is read.
type ffprobeOutput struct {
	Streams []ffprobeStream `json:"streams"`
	Frames  []struct {
		Stream   int        `json:"stream_index"`
		SideData []sideData `json:"side_data_list"`
	} `json:"frames"`
	Format struct {
		Name     string            `json:"format_name"`
		Start    string            `json:"start_time"`
		Duration string            `json:"duration"`
		Size     string            `json:"size"`
		Tags     map[string]string `json:"tags"`
	} `json:"format"`
}

type ffprobeStream struct {
	Index       int               `json:"index"`
	Kind        string            `json:"codec_type"`
	Codec       string            `json:"codec_name"`
	Tag         string            `json:"codec_tag_string"`
	Profile     string            `json:"profile"`
	Width       int               `json:"width"`
	Height      int               `json:"height"`
	PixelAspect string            `json:"sample_aspect_ratio"`
	PixelFormat string            `json:"pix_fmt"`
	FieldOrder  string            `json:"field_order"`
	Range       string            `json:"color_range"`
	Matrix      string            `json:"color_space"`
	Transfer    string            `json:"color_transfer"`
	Primaries   string            `json:"color_primaries"`
	RealRate    string            `json:"r_frame_rate"`
	MeanRate    string            `json:"avg_frame_rate"`
	Frames      string            `json:"nb_frames"`
	SampleRate  string            `json:"sample_rate"`
	Channels    int               `json:"channels"`
	Layout      string            `json:"channel_layout"`
	SampleBits  int               `json:"bits_per_sample"`
	RawBits     string            `json:"bits_per_raw_sample"`
	Start       string            `json:"start_time"`
	Duration    string            `json:"duration"`
	Disposition map[string]int    `json:"disposition"`
	Tags        map[string]string `json:"tags"`
	SideData    []sideData        `json:"side_data_list"`
}

// sideData may be a display matrix; what is none has no rotation.
type sideData struct {
	Rotation *float64 `json:"rotation"`
}

func rotationOf(list []sideData) (degrees int) {
	for _, d := range list {
		if d.Rotation != nil {
			degrees = (int(math.Round(*d.Rotation)) + 720) % 360
		}
	}
	return degrees
}

// ParseFFprobe reads the output of the command that ProbeArgs names.
func ParseFFprobe(jsonOut []byte) (*InputMedia, error) {
	var out ffprobeOutput
	if err := json.Unmarshal(jsonOut, &out); err != nil || out.Format.Name == "" {
		return nil, errors.New("the input is no film, sound or picture that ffmpeg can read")
	}
	m := &InputMedia{
		Format: out.Format.Name, DurationS: seconds(out.Format.Duration), StartS: seconds(out.Format.Start),
		Timecode: timecode(out.Format.Tags["timecode"]),
	}
	m.Bytes, _ = strconv.ParseInt(out.Format.Size, 10, 64)
	for _, s := range out.Streams {
		m.Streams = append(m.Streams, s.reduced(m.StartS))
		if tc := timecode(s.Tags["timecode"]); tc != "" && m.Timecode == "" {
			m.Timecode = tc
		}
	}
	for _, f := range out.Frames {
		for i := range m.Streams {
			if turned := rotationOf(f.SideData); m.Streams[i].Index == f.Stream && turned != 0 {
				m.Streams[i].Rotation = turned
			}
		}
	}
	if len(m.Streams) == 0 {
		return nil, errors.New("the input holds no streams")
	}
	return m, nil
}

// timecode is text out of a stranger's file, on its way into a filter: what is
// no timecode is none.
func timecode(tag string) string {
	if !timecodeText.MatchString(tag) {
		return ""
	}
	return tag
}

func (s ffprobeStream) reduced(fileStart float64) InputStream {
	r := InputStream{
		Index: s.Index, Kind: s.Kind, Codec: s.Codec, Tag: s.Tag, Profile: s.Profile,
		Width: s.Width, Height: s.Height, PixelAspect: ratio(s.PixelAspect, ":"), PixelFormat: s.PixelFormat,
		FieldOrder: s.FieldOrder, Range: s.Range, Matrix: s.Matrix, Transfer: s.Transfer, Primaries: s.Primaries,
		Channels: s.Channels, Layout: s.Layout, SampleBits: s.SampleBits,
		StartS: max(0, seconds(s.Start)-fileStart), DurationS: seconds(s.Duration), taggedEndS: s.taggedEnd(), Language: s.Tags["language"],
		AttachedPic: s.Disposition["attached_pic"] == 1 || s.Disposition["timed_thumbnails"] == 1,
	}
	r.SampleRate, _ = strconv.Atoi(s.SampleRate)
	r.Frames, _ = strconv.ParseInt(s.Frames, 10, 64)
	if bits, _ := strconv.Atoi(s.RawBits); bits > 0 {
		r.SampleBits = bits
	}
	if r.PixelAspect <= 0 {
		r.PixelAspect = 1
	}
	mean, whole := ratio(s.MeanRate, "/"), ratio(s.RealRate, "/")
	r.FPS = mean
	if mean <= 0 {
		r.FPS = whole
	}
	r.Variable = s.Kind == "video" && mean > 0 && math.Abs(whole-mean) > 0.002*mean
	r.Rotation = rotationOf(s.SideData)
	return r
}

// taggedEnd reads the tag that Matroska writers leave ("00:00:03.023000000").
func (s ffprobeStream) taggedEnd() float64 {
	parts := strings.Split(s.Tags["DURATION"], ":")
	if len(parts) != 3 {
		return 0
	}
	return seconds(parts[0])*3600 + seconds(parts[1])*60 + seconds(parts[2])
}

func seconds(text string) float64 {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

func ratio(text, by string) float64 {
	a, b, ok := strings.Cut(text, by)
	num, den := seconds(a), seconds(b)
	if !ok || den == 0 {
		return 0
	}
	return num / den
}
