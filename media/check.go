package media

import (
	"errors"
	"fmt"
)

// CheckOutput holds the finished file, as ffprobe sees it, against the plan:
// ffmpeg exits with 0 on many a source that it could read only half of.
func (s *Service) CheckOutput(plan Plan, out *InputMedia) error {
	if out == nil {
		return errors.New("ffmpeg wrote no readable file")
	}
	got := map[string][]InputStream{}
	for _, stream := range out.Streams {
		kind := stream.Kind
		if stream.Tag == "tmcd" {
			kind = "timecode"
		}
		got[kind] = append(got[kind], stream)
	}
	for _, want := range plan.Streams {
		if len(got[want.Kind]) == 0 && want.Optional {
			continue
		}
		if len(got[want.Kind]) == 0 {
			return fmt.Errorf("the result lacks its %s stream", want.Kind)
		}
		stream := got[want.Kind][0]
		got[want.Kind] = got[want.Kind][1:]
		if err := want.check(stream.DurationS); err != nil {
			return err
		}
		if want.Kind == "video" && plan.Frames > 0 && stream.Frames != plan.Frames {
			return wrongFrames(stream.Frames, plan.Frames)
		}
	}
	for _, kind := range []string{"video", "audio", "subtitle"} {
		if len(got[kind]) > 0 {
			return fmt.Errorf("the result has one %s stream too many", kind)
		}
	}
	return nil
}

func (e ExpectStream) check(durationS float64) error {
	switch {
	case e.Still, e.Kind != "video" && e.Kind != "audio":
		return nil
	case durationS <= 0:
		return fmt.Errorf("the result's %s is empty", e.Kind)
	case durationS < e.MinS:
		return fmt.Errorf("the result's %s lasts %.2f s where the input promises at least %.2f s: the input may be damaged or cut short", e.Kind, durationS, e.MinS)
	case e.MaxS > 0 && durationS > e.MaxS:
		return fmt.Errorf("the result's %s lasts %.2f s where the input promises at most %.2f s", e.Kind, durationS, e.MaxS)
	}
	return nil
}

func wrongFrames(got, want int64) error {
	return fmt.Errorf("the result has %d frames, not %d", got, want)
}
