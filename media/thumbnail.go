package media

import "fmt"

// thumbnailParams: the two places are pointers, since zero is one of them.
type thumbnailParams struct {
	AtS          *float64 `json:"at_s,omitempty" min:"0" max:"1000000" help:"seconds from the start; excludes at_fraction"`
	AtFraction   *float64 `json:"at_fraction,omitempty" min:"0" max:"1" help:"how much of the film lies before it: 0 is the first frame, 1 the last; 0.1 where neither is given"`
	Width        int      `json:"width,omitempty" min:"2" max:"16384" help:"the widest it may be, in pixels; it is never enlarged"`
	Format       string   `json:"format,omitempty" enum:"jpg,png" default:"jpg" help:"the kind of file"`
	DamagedInput string   `json:"damaged_input,omitempty" enum:"reject,accept" default:"reject" help:"accept takes what could be decoded of a damaged input"`
}

var _ = define(definition[thumbnailParams]{
	name: "ffmpeg.thumbnail", title: "A picture out of a film",
	minInputs: 1, maxInputs: 1,
	settle: settleThumbnail,
	needs:  func(_ *thumbnailParams, in []*InputMedia) []string { return needsOfPictures(in) },
	output: func(p *thumbnailParams) Output { return pictureFile(p.Format) },
	plan:   planThumbnail,
	expect: expectThumbnail,
})

func settleThumbnail(p *thumbnailParams, _ paramSet) []Fault {
	switch {
	case p.AtS != nil && p.AtFraction != nil:
		return []Fault{{"params.at_fraction", "excludes at_s; give one of the two"}}
	case p.AtS == nil && p.AtFraction == nil:
		p.AtFraction = new(0.1)
	}
	return nil
}

func planThumbnail(p *thumbnailParams, in []Input, env Env) (Plan, error) {
	m := &in[0].Media
	s, err := filmOf(m)
	if err != nil {
		return Plan{}, err
	}
	t, err := p.time(s, m)
	if err != nil {
		return Plan{}, err
	}
	picture := still{s: s, in: in[0], format: p.Format}
	picture.w, picture.h = s.within(p.Width)
	colours, err := picture.paint(env)
	if err != nil {
		return Plan{}, err
	}
	read, filters := picture.at(t)
	args := append(quietly("warning"), read...)
	if !m.seeks() && t > 0 {
		// A second output, of no bytes, shows how far the decoding has come.
		args = append(args, "-map", "0:v", "-c", "copy", "-t", micros(t), "-f", "null", "-")
	}
	args = append(args, only(s, append(filters, colours...)...)...)
	args = append(append(args, "-frames:v", "1"), encoded(p.Format)...)
	return Plan{
		Args: append(args, "file:"+env.OutPath), DurationS: t, ExpectBytes: int64(picture.w)*int64(picture.h)*4 + 1<<20,
		Streams: []ExpectStream{{Kind: "video", Still: true}},
	}, nil
}

// time is where the frame lies, counted from the start of the file. A picture
// is there at any time.
func (p *thumbnailParams) time(s InputStream, m *InputMedia) (float64, error) {
	switch {
	case m.isPicture():
		return 0, nil
	case p.AtFraction != nil:
		return s.StartS + *p.AtFraction*max(0, s.DurationS), nil
	case s.end() > 0 && *p.AtS > s.end():
		return 0, fmt.Errorf("at_s (%s) is past the end of the input's picture (%s s)", plain(*p.AtS), plain(s.end()))
	}
	return *p.AtS, nil
}

func expectThumbnail(p *thumbnailParams, in []*InputMedia) Expectation {
	w, h := 0, 0
	if len(in) > 0 && in[0] != nil {
		if s, err := filmOf(in[0]); err == nil {
			w, h = s.within(p.Width)
		}
	}
	return expectPicture(p.Format, w, h, p.Width)
}
