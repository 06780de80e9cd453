package media

import (
	"fmt"
	"slices"

	"rendermac/media/probe"
)

// Expectation is what the verifier must find in a result. Sizes and durations
// are known only where the input is; what is zero is not asked for.
type Expectation struct {
	Container string
	Faststart bool
	Video     *ExpectVideo
	Audio     string         // codec of every sound track
	Channels  int            // of every sound track
	Rate      int            // samples a second of every sound track
	Streams   []ExpectStream // where the input is known: exactly these
}

// ExpectVideo is the picture. Width and Height are exact but for rounding;
// BoxWidth and BoxHeight bound it, either way round where Turns.
type ExpectVideo struct {
	Codec, Profile      string
	Tags                []string
	Width, Height       int
	BoxWidth, BoxHeight int
	Turns               bool
	Encoded             bool // by us: even sides, no rotation tag, known depth
	Still               bool // a picture made by us: any sides
	BitDepth            int
	Frames              int64       // exact
	Color               probe.Color // as far as it is known
}

// Check is nil, or one sentence on the first thing that is not as promised.
func (e Expectation) Check(m *probe.Media) error {
	if m.Container != e.Container {
		return fmt.Errorf("the result is %s, not %s", named(m.Container), e.Container)
	}
	if e.Faststart && !m.Faststart {
		return fmt.Errorf("the result's index (moov) lies behind its media, so that it cannot start playing early")
	}
	if m.Oddity != "" {
		return fmt.Errorf("the result is not as it was written: %s", m.Oddity)
	}
	if err := e.checkStreams(m); err != nil {
		return err
	}
	for _, s := range m.Streams {
		if s.Kind == "audio" {
			if err := e.checkSound(s); err != nil {
				return err
			}
		}
		if s.Kind == "video" && e.Video != nil && !s.AttachedPic {
			if err := e.Video.check(s); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e Expectation) checkSound(s probe.Stream) error {
	switch {
	case e.Audio != "" && s.Codec != e.Audio:
		return fmt.Errorf("the result's sound is %s, not %s", named(s.Codec), e.Audio)
	case e.Channels > 0 && s.Channels != e.Channels:
		return fmt.Errorf("the result's sound has %d channels, not %d", s.Channels, e.Channels)
	case e.Rate > 0 && s.SampleRate != e.Rate:
		return fmt.Errorf("the result's sound has %d samples a second, not %d", s.SampleRate, e.Rate)
	}
	return nil
}

func (e Expectation) checkStreams(m *probe.Media) error {
	got := map[string][]probe.Stream{}
	for _, s := range m.Streams {
		if !s.AttachedPic {
			got[s.Kind] = append(got[s.Kind], s)
		}
	}
	if e.Video != nil && len(got["video"]) != 1 {
		return fmt.Errorf("the result has %d video streams, not 1", len(got["video"]))
	}
	if e.Video == nil && len(got["video"]) > 0 {
		return fmt.Errorf("the result has a video stream that nobody asked for")
	}
	if e.Video == nil && len(got["audio"]) == 0 {
		return fmt.Errorf("the result has no audio stream")
	}
	for _, want := range e.Streams {
		if len(got[want.Kind]) == 0 {
			return fmt.Errorf("the result lacks its %s stream", want.Kind)
		}
		if err := want.check(got[want.Kind][0].DurationS); err != nil {
			return err
		}
		got[want.Kind] = got[want.Kind][1:]
	}
	if e.Streams != nil && len(got["audio"]) > 0 {
		return fmt.Errorf("the result has one audio stream too many")
	}
	return nil
}

func (v *ExpectVideo) check(s probe.Stream) error {
	switch {
	case v.Codec != "" && s.Codec != v.Codec:
		return fmt.Errorf("the result's picture is %s, not %s", named(s.Codec), v.Codec)
	case len(v.Tags) > 0 && !slices.Contains(v.Tags, s.Tag):
		return fmt.Errorf("the result's picture is tagged %s, not %s", named(s.Tag), v.Tags[0])
	case v.Profile != "" && s.Profile != v.Profile:
		return fmt.Errorf("the result's picture has profile %s, not %s", named(s.Profile), v.Profile)
	case s.Width <= 0 || s.Height <= 0:
		return fmt.Errorf("the result's picture has no size")
	case v.Frames > 0 && s.Frames != v.Frames:
		return wrongFrames(s.Frames, v.Frames)
	}
	if v.Encoded || v.Still {
		return v.checkEncoded(s)
	}
	return nil
}

func (v *ExpectVideo) checkEncoded(s probe.Stream) error {
	switch {
	case v.Encoded && (s.Width%2 != 0 || s.Height%2 != 0):
		return fmt.Errorf("the result's picture is %d×%d: its sides are not even", s.Width, s.Height)
	case s.Rotation != 0:
		return fmt.Errorf("the result's picture is not upright: it bears a rotation of %d degrees", s.Rotation)
	case v.BitDepth > 0 && s.BitDepth != v.BitDepth:
		return fmt.Errorf("the result's picture has %d bits, not %d", s.BitDepth, v.BitDepth)
	case !tagged(s.Color.Primaries, v.Color.Primaries), !tagged(s.Color.Transfer, v.Color.Transfer), !tagged(s.Color.Matrix, v.Color.Matrix):
		return fmt.Errorf("the result's colours are tagged %.80q, not %.80q", s.Color, v.Color)
	case v.Width > 0 && (away(s.Width, v.Width) || away(s.Height, v.Height)):
		return fmt.Errorf("the result's picture is %d×%d, not %d×%d", s.Width, s.Height, v.Width, v.Height)
	case !v.inBox(s.Width, s.Height) && !(v.Turns && v.inBox(s.Height, s.Width)):
		return fmt.Errorf("the result's picture is %d×%d: more than %d×%d", s.Width, s.Height, v.BoxWidth, v.BoxHeight)
	}
	return nil
}

func (v *ExpectVideo) inBox(w, h int) bool {
	return (v.BoxWidth == 0 || w <= v.BoxWidth) && (v.BoxHeight == 0 || h <= v.BoxHeight)
}

// away allows one step of evening: pixel aspects are read as rounded numbers.
func away(got, want int) bool { return got < want-2 || got > want+2 }

func tagged(got, want string) bool { return want == "" || got == want }

// named keeps what a file says of itself readable in a message.
func named(text string) string {
	if text == "" {
		return "of an unknown kind"
	}
	return fmt.Sprintf("%.40q", text)
}
