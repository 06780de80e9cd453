package web

import "encoding/json"

// Scene is the picture of a preset: a frame of 3840×2160, and in it, to the same
// scale, what becomes of it; or sound alone.
type Scene struct {
	Sound      bool
	X, Y, W, H float64
}

// The frame, in the picture's own units.
const (
	sceneX, sceneY = 2, 2
	sceneW, sceneH = 36, 20.25
)

// Scene is drawn from the params, so that a studio's own presets have one too.
func (p OfferPreset) Scene() Scene {
	var y yielded
	if json.Unmarshal(p.Params, &y) != nil || y.VideoCodec == "" || y.VideoCodec == "none" {
		return Scene{Sound: true}
	}
	w, h := sceneW*float64(y.Width)/3840, sceneH*float64(y.Height)/2160
	switch {
	case w == 0 && h == 0:
		w, h = sceneW, sceneH
	case w == 0:
		w = h * sceneW / sceneH
	case h == 0:
		h = w * sceneH / sceneW
	}
	if by := min(sceneW/w, sceneH/h); by < 1 {
		w, h = w*by, h*by
	}
	return Scene{X: sceneX + (sceneW-w)/2, Y: sceneY + (sceneH-h)/2, W: w, H: h}
}
