package server

import (
	"cmp"
	"context"
	"fmt"

	"rendermac/api"
	"rendermac/artifact"
	"rendermac/fence"
	"rendermac/store"
	"rendermac/web"
)

// filesOf are the job's inputs, and its output once it has one. Of inputs that
// other jobs make, showOutputsOf says more.
func filesOf(j store.Job) (inputs []web.File, output *web.File) {
	media := showInputs(j)
	for i, in := range j.Inputs {
		f := web.File{
			Name: cmp.Or(in.Name, in.UploadID, in.JobID), Number: i + 1, Path: in.Path, JobID: in.JobID, Bytes: in.Bytes, SHA256: in.SHA256,
			Media: webMedia(media[i]), Deleted: in.DeletedAt,
		}
		if in.UploadID != "" && in.DeletedAt == nil {
			f.Source, f.ContentType = fmt.Sprintf("/v1/jobs/%s/inputs/%d", j.ID, f.Number), artifact.ContentType(in.Key, in.Name)
		}
		inputs = append(inputs, f)
	}
	if a := j.Artifact; a != nil && j.Status == fence.JobSucceeded {
		output = &web.File{
			Name: j.OutputName, Bytes: a.Bytes, SHA256: a.SHA256, ContentType: j.ContentType, Source: "/v1/jobs/" + j.ID + "/output", Media: webMedia(showMedia(a.Media)),
			Warnings: a.Warnings, Deleted: a.DeletedAt,
		}
	}
	return inputs, output
}

// showOutputsOf lets the inputs be seen that are outputs of other jobs.
func (s *Server) showOutputsOf(ctx context.Context, c call, _ store.Job, page *web.Job) error {
	for i := range page.Inputs {
		in := &page.Inputs[i]
		if in.JobID == "" {
			continue
		}
		made, err := s.visibleJob(ctx, c, in.JobID)
		switch {
		case err != nil && s.refusalOf(err).Code == api.CodeNotFound:
			continue
		case err != nil:
			return err
		}
		in.Name = made.OutputName
		if _, output := filesOf(made); output != nil && output.Deleted == nil {
			in.Source, in.ContentType = output.Source, output.ContentType
		}
	}
	return nil
}

func webMedia(m *api.Media) *web.Media {
	if m == nil {
		return nil
	}
	out := &web.Media{ByAgent: m.ReadBy == "agent", Container: m.Container, Seconds: m.DurationS, Oddity: m.Oddity}
	for _, t := range m.Streams {
		out.Tracks = append(out.Tracks, web.Track{
			Kind: t.Kind, Codec: t.Codec, Tag: t.Tag, Profile: t.Profile, Width: t.Width, Height: t.Height, Rotation: t.Rotation, BitDepth: t.BitDepth,
			Chroma: t.Chroma, FPS: t.FPS, SampleRate: t.SampleRate, Channels: t.Channels, Primaries: t.Color.Primaries, Transfer: t.Color.Transfer,
			Matrix: t.Color.Matrix, Cover: t.AttachedPic,
		})
	}
	return out
}
