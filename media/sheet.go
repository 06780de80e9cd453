package media

import "math"

// sheetParams is a table of pictures, each with the time it was taken at.
type sheetParams struct {
	Columns      int    `json:"columns,omitempty" min:"1" max:"12" default:"4" help:"pictures side by side"`
	Rows         int    `json:"rows,omitempty" min:"1" max:"20" default:"4" help:"rows of pictures; a film with fewer frames than places leaves the last ones empty"`
	Width        int    `json:"width,omitempty" min:"64" max:"16384" default:"1920" help:"the widest the sheet may be, in pixels; its pictures are never enlarged"`
	DamagedInput string `json:"damaged_input,omitempty" enum:"reject,accept" default:"reject" help:"accept takes what could be decoded of a damaged input"`
}

var _ = define(definition[sheetParams]{
	name: "ffmpeg.sheet", title: "A contact sheet of a film, with timecodes",
	minInputs: 1, maxInputs: 1,
	settle: settleSheet,
	needs:  func(_ *sheetParams, in []*InputMedia) []string { return needsOfPictures(in, "drawtext") },
	output: func(*sheetParams) Output { return pictureFile("jpg") },
	plan:   planSheet,
	expect: expectSheet,
})

func settleSheet(p *sheetParams, _ paramSet) []Fault {
	if p.Width > 0 && p.Columns > 0 && p.cellWidth() < narrowest {
		return []Fault{{"params.width", "is too narrow for so many columns"}}
	}
	return nil
}

// gap is the black around every picture; narrowest is the least that is asked of one.
const (
	gap       = 4
	narrowest = 8
)

func (p *sheetParams) cellWidth() int { return (p.Width - gap*(p.Columns+1)) / p.Columns }

// cell is the size of one picture, so small that the whole sheet stays within
// what a picture may be.
func (p *sheetParams) cell(s InputStream) (w, h int) {
	w, h = s.within(p.cellWidth())
	for {
		sw, sh := p.size(w, h)
		over := max(float64(sw)*float64(sh)/maxPixels, float64(sh)/maxSide)
		if over <= 1 || w == 1 && h == 1 {
			return w, h
		}
		w, h = max(1, int(float64(w)/math.Sqrt(over)*0.99)), max(1, int(float64(h)/math.Sqrt(over)*0.99))
	}
}

// size is that of the sheet.
func (p *sheetParams) size(cellW, cellH int) (w, h int) {
	return p.Columns*(cellW+gap) + gap, p.Rows*(cellH+gap) + gap
}

// times are where the pictures lie: each in the middle of its share of the film.
func (p *sheetParams) times(s InputStream, m *InputMedia) []float64 {
	places := p.Columns * p.Rows
	frames := int(math.Round(s.DurationS * s.FPS))
	if m.isPicture() || frames < 1 {
		return []float64{s.StartS}
	}
	if !s.Variable {
		places = min(places, frames)
	}
	times := make([]float64, places)
	for i := range times {
		times[i] = s.StartS + s.DurationS*(float64(i)+0.5)/float64(places)
	}
	return times
}

func expectSheet(p *sheetParams, in []*InputMedia) Expectation {
	w, h := 0, 0
	if len(in) > 0 && in[0] != nil {
		if s, err := filmOf(in[0]); err == nil {
			w, h = p.size(p.cell(s))
		}
	}
	return expectPicture("jpg", w, h, p.Width)
}
