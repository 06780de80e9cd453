package server

import (
	"encoding/json"

	"rendermac/api"
	"rendermac/media"
	"rendermac/store"
)

// showMedia shows the server's own reading of a file, our own row; nil is what
// it could not read.
func showMedia(raw json.RawMessage) *api.Media {
	m := &api.Media{ReadBy: "server"}
	if len(raw) == 0 || json.Unmarshal(raw, m) != nil {
		return nil
	}
	return whole(m)
}

// whole leaves no list out, as rows of older versions may.
func whole(m *api.Media) *api.Media {
	m.Brands, m.Streams = append([]string{}, m.Brands...), append([]api.MediaStream{}, m.Streams...)
	return m
}

// showInputs says what each input is: by the server's own reading, else by what
// the last agent that read it has said.
func showInputs(j store.Job) []*api.Media {
	all := make([]*api.Media, len(j.Inputs))
	for _, a := range j.Attempts {
		var said []json.RawMessage
		_ = json.Unmarshal(a.InputMedia, &said) // our own row, or nothing
		for i := range min(len(said), len(all)) {
			if m := agentMedia(said[i]); m != nil {
				all[i] = m
			}
		}
	}
	for i, in := range j.Inputs {
		if m := showMedia(in.Media); m != nil {
			all[i] = m
		}
	}
	return all
}

// agentMedia shows what ffprobe said on a device, in the server's own words.
func agentMedia(raw json.RawMessage) *api.Media {
	m := media.Said(raw)
	if m == nil {
		return nil
	}
	out := &api.Media{ReadBy: "agent"}
	text, err := json.Marshal(m)
	if err != nil || json.Unmarshal(text, out) != nil {
		return nil
	}
	return whole(out)
}
