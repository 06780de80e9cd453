package api

// Media is what a file holds. What is absent, or unknown, is empty or 0.
type Media struct {
	_         struct{}      `nullable:"true"`
	ReadBy    string        `json:"read_by" enum:"server,agent" doc:"server: the server's own reading, which counts; agent: what ffprobe on a device said of a file that the server cannot read"`
	Container string        `json:"container" example:"mp4" doc:"mp4, mov, m4a, wav, jpg, png; by an agent, ffprobe's name of the format"`
	Brands    []string      `json:"brands" nullable:"false" doc:"of mp4, mov and m4a"`
	DurationS float64       `json:"duration_s" minimum:"0" doc:"to the end of the last picture or sound, in seconds; 0 of a still picture"`
	Faststart bool          `json:"faststart" doc:"whether the index lies before the media, so that playing can start early"`
	Streams   []MediaStream `json:"streams" nullable:"false"`
	Oddity    string        `json:"oddity" doc:"a sentence on what does not fit together in the file; players may get along with it"`
}

// MediaStream is one track of a file.
type MediaStream struct {
	Kind        string     `json:"kind" example:"video" doc:"video, audio, timecode, subtitle or data"`
	Codec       string     `json:"codec" example:"h264" doc:"as ffprobe names it; pcm for all kinds of that"`
	Tag         string     `json:"tag" example:"avc1" doc:"the four letters of the sample entry"`
	Profile     string     `json:"profile" example:"High"`
	Width       int        `json:"width" doc:"in square pixels, as displayed: turned, and stretched by the pixels' shape"`
	Height      int        `json:"height"`
	Rotation    int        `json:"rotation" doc:"degrees clockwise that a player turns the picture; width and height are after that"`
	BitDepth    int        `json:"bit_depth" doc:"of a sample of picture, or of uncompressed sound"`
	Chroma      string     `json:"chroma" example:"4:2:0"`
	FPS         float64    `json:"fps" doc:"frames a second, on average"`
	Frames      int64      `json:"frames" doc:"samples: pictures, or packets of sound"`
	DurationS   float64    `json:"duration_s"`
	StartS      float64    `json:"start_s" doc:"after the first stream's start"`
	SampleRate  int        `json:"sample_rate" doc:"in Hz"`
	Channels    int        `json:"channels"`
	Color       MediaColor `json:"color"`
	AttachedPic bool       `json:"attached_pic" doc:"cover art or pictures of chapters: no film"`
	Language    string     `json:"language" example:"eng"`
}

// MediaColor names colours as ffprobe does.
type MediaColor struct {
	Primaries string `json:"primaries" example:"bt709"`
	Transfer  string `json:"transfer" example:"bt709"`
	Matrix    string `json:"matrix" example:"bt709"`
}
