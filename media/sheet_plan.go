package media

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// sheet is a sheet in the making: its pictures are taken first, as files of the
// run's folder, and the last pass lays them out.
type sheet struct {
	still
	p      *sheetParams
	times  []float64
	paints []string
	env    Env
}

func planSheet(p *sheetParams, in []Input, env Env) (Plan, error) {
	m := &in[0].Media
	s, err := filmOf(m)
	if err != nil {
		return Plan{}, err
	}
	if err := env.filter("drawtext", "the timecodes of a sheet"); err != nil {
		return Plan{}, err
	}
	sh := &sheet{still: still{s: s, in: in[0]}, p: p, times: p.times(s, m), env: env}
	sh.w, sh.h = p.cell(s)
	if sh.paints, err = sh.paint(env); err != nil {
		return Plan{}, err
	}
	if !m.seeks() && len(sh.times) > 1 {
		return sh.takeAll(), nil
	}
	return sh.take(0), nil
}

func (s *sheet) file(i int) string {
	return filepath.Join(filepath.Dir(s.env.OutPath), fmt.Sprintf("cell-%03d.png", i))
}

func (s *sheet) bytes() int64 {
	w, h := s.p.size(s.w, s.h)
	return 2*4*int64(w)*int64(h) + 1<<20
}

// take enters the film at one place after another.
func (s *sheet) take(i int) Plan {
	read, filters := s.at(s.times[i])
	args := append(quietly("warning"), read...)
	args = append(args, only(s.s, append(filters, s.paints...)...)...)
	args = append(append(args, "-frames:v", "1"), encoded("png")...)
	return Plan{
		Args: append(args, "file:"+s.file(i)), ExpectBytes: s.bytes(), Upto: float64(i+1) / float64(len(s.times)+1),
		Next: func(said []string) (Plan, error) {
			switch {
			case tookNothing(said):
				return Plan{}, fmt.Errorf("the input's picture ends before %s s: the input may be damaged or cut short", plain(math.Round(s.times[i]*100)/100))
			case i+1 < len(s.times):
				return s.take(i + 1), nil
			}
			return s.layOut(), nil
		},
	}
}

func tookNothing(said []string) bool {
	return slices.ContainsFunc(said, func(line string) bool { return strings.Contains(line, "nothing was encoded") })
}

// takeAll reads a film that cannot be entered in the middle, once.
func (s *sheet) takeAll() Plan {
	every := s.times[1] - s.times[0]
	filters := append(s.held(), "fps=1000000/"+plain(math.Round(every*1e6))+":start_time="+micros(s.times[0])+":round=up")
	args := append(quietly("warning"), guarded(s.in.Path, s.in.Demuxer)...)
	args = append(args, only(s.s, append(filters, s.paints...)...)...)
	args = append(args, "-frames:v", strconv.Itoa(len(s.times)), "-c:v", "png", "-f", "image2", "-start_number", "0")
	dir := strings.ReplaceAll(filepath.Dir(s.env.OutPath), "%", "%%")
	return Plan{
		Args: append(args, "file:"+filepath.Join(dir, "cell-%03d.png")), ExpectBytes: s.bytes(), DurationS: s.s.end(), Upto: 0.95,
		Next: func([]string) (Plan, error) { return s.layOut(), nil },
	}
}

// layOut names each picture, so that a missing one is an error and no hole.
func (s *sheet) layOut() Plan {
	args, graph, all := quietly("warning"), "", ""
	for i := range s.times {
		args = append(args, "-threads", "1", "-f", "png_pipe", "-i", "file:"+s.file(i))
		graph += fmt.Sprintf("[%d:v]%s[c%d];", i, s.label(i), i)
		all += fmt.Sprintf("[c%d]", i)
	}
	graph += fmt.Sprintf("%sconcat=n=%d,tile=%dx%d:padding=%d:margin=%d,scale=flags=accurate_rnd+full_chroma_int%s,setsar=1[sheet]",
		all, len(s.times), s.p.Columns, s.p.Rows, gap, gap, jfif)
	args = append(args, "-filter_complex", graph, "-map", "[sheet]", "-frames:v", "1")
	args = append(append(args, encoded("jpg")...), "file:"+s.env.OutPath)
	return Plan{Args: args, Streams: []ExpectStream{{Kind: "video", Still: true}}}
}

// label draws when a picture is: by the film's own timecode, or else by its
// distance from the start.
func (s *sheet) label(i int) string {
	text := shiftTimecode(s.in.Media.Timecode, s.frameTime(i)-s.s.StartS, s.s.FPS)
	if text == "" {
		text = clock(s.frameTime(i))
	}
	size := min(max(8, min(s.h/10, s.w/9)), 48)
	return fmt.Sprintf("drawtext=text='%s':expansion=none:fontsize=%d:fontcolor=white:box=1:boxcolor=black@0.6:boxborderw=%d:x=(w-tw)/2:y=h-th*2",
		strings.NewReplacer(":", `\:`, ";", `\;`).Replace(text), size, max(1, size/6))
}

// frameTime is when the frame began that is on screen at a picture's time.
func (s *sheet) frameTime(i int) float64 {
	if s.s.Variable || s.s.FPS <= 0 {
		return s.times[i]
	}
	return s.s.StartS + math.Floor((s.times[i]-s.s.StartS)*s.s.FPS+0.001)/s.s.FPS
}

// clock is a time as hours, minutes, seconds and thousandths.
func clock(t float64) string {
	ms := int64(math.Round(t * 1000))
	return fmt.Sprintf("%02d:%02d:%02d.%03d", ms/3_600_000, ms/60_000%60, ms/1000%60, ms%1000)
}
