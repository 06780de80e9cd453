package web

import (
	"cmp"
	"fmt"
)

// Difference is one fact of input and output side by side.
type Difference struct {
	Name, In, Out string
	Differs       bool
}

// Compared are the facts that either side has. One input stands beside the output;
// several stand in a list of their own, and here is the output alone.
func (j Job) Compared() (rows []Difference) {
	var in, out facts
	if len(j.Inputs) == 1 {
		in = factsOf(&j.Inputs[0])
	}
	if j.Output != nil {
		out = factsOf(j.Output)
	}
	for _, name := range factNames {
		a, b := in[name], out[name]
		if a == "" && b == "" {
			continue
		}
		both := len(in) > 0 && len(out) > 0
		if both {
			a, b = cmp.Or(a, "none"), cmp.Or(b, "none")
		}
		rows = append(rows, Difference{name, a, b, both && a != b})
	}
	return rows
}

// facts are said by their names.
type facts map[string]string

var factNames = []string{"Container", "Picture", "Duration", "Frame rate", "Video", "Colours", "Audio", "Other tracks", "Size"}

func factsOf(f *File) facts {
	all := facts{}
	if f.Bytes > 0 || f.SHA256 != "" {
		all["Size"] = Bytes(f.Bytes)
	}
	m := f.Media
	if m == nil {
		return all
	}
	all["Container"] = m.Container
	if m.Seconds > 0 {
		all["Duration"] = Seconds(m.Seconds)
	}
	if v := m.track("video"); v != nil {
		all["Picture"], all["Video"], all["Colours"] = v.size(), v.video(), v.colours()
		if v.FPS > 0 {
			all["Frame rate"] = number(v.FPS) + " fps"
		}
	}
	if a := m.track("audio"); a != nil {
		all["Audio"] = a.audio()
	}
	all["Other tracks"] = m.others()
	return all
}

// others counts the tracks that have no line of their own.
func (m Media) others() string {
	counts, order := map[string]int{}, []string{}
	for i, t := range m.Tracks {
		kind := t.Kind
		switch {
		case t.Cover:
			kind = "cover"
		case &m.Tracks[i] == m.track(kind) && (kind == "video" || kind == "audio"):
			continue
		}
		if counts[kind]++; counts[kind] == 1 {
			order = append(order, kind)
		}
	}
	for i, kind := range order {
		if counts[kind] > 1 {
			order[i] = fmt.Sprintf("%d × %s", counts[kind], kind)
		}
	}
	return listed(order)
}
