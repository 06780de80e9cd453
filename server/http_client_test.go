package server

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rendermac/api"
)

// The command line's client and this server speak the same wire.
func TestHTTP_ClientAndServer(t *testing.T) {
	h := mustServe(t, func(o *Options) { o.PartBytes = 100 })
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	admin := api.NewClient(h.url, h.admin, "test")
	source, content := filepath.Join(t.TempDir(), "take 1.mov"), noise(1050)
	if err := os.WriteFile(source, content, 0o600); err != nil {
		t.Fatal(err)
	}
	up, err := admin.Upload(ctx, source, func(int64) {})
	if err != nil || up.SHA256 != sum(content) {
		t.Fatalf("upload: %+v, %v", up, err)
	}
	pairing, err := admin.CreatePairing(ctx, api.PairingRequest{Name: ptr("mini")})
	if err != nil {
		t.Fatal(err)
	}
	paired, err := api.NewClient(h.url, "", "test").Pair(ctx, api.PairRequest{Code: pairing.Code})
	if err != nil {
		t.Fatal(err)
	}
	if services, err := admin.Services(ctx); err != nil || len(services) == 0 {
		t.Errorf("services: %v, %v", services, err)
	}
	if devices, err := admin.Devices(ctx); err != nil || len(devices) != 1 || devices[0].ID != paired.DeviceID {
		t.Errorf("devices: %v, %v", devices, err)
	}
	job, err := admin.Submit(ctx, api.JobRequest{Service: "ffmpeg.transcode", Inputs: []api.Input{{UploadID: &up.ID}}})
	if err != nil {
		t.Fatal(err)
	}
	h.mustSucceed([]byte("the output"))
	if job, err = admin.Wait(ctx, job.ID, func(*api.Job) {}, nil); err != nil || job.Status != api.JobSucceeded {
		t.Fatalf("wait: %+v, %v", job, err)
	}
	target := filepath.Join(t.TempDir(), *job.OutputName)
	if err := admin.Download(ctx, job, target, false, func(int64) {}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(target); err != nil || !bytes.Equal(got, []byte("the output")) {
		t.Errorf("downloaded %q, %v", got, err)
	}
	var e *api.Error
	if _, err := admin.Cancel(ctx, job.ID); !errors.As(err, &e) || e.Code != api.CodeJobTerminal {
		t.Errorf("cancel of what has ended: %v", err)
	}
	if list, err := admin.Jobs(ctx, api.JobQuery{Status: api.JobSucceeded, Limit: 10}); err != nil || len(list.Items) != 1 {
		t.Errorf("jobs: %v, %v", list, err)
	}
	if err := admin.RevokeDevice(ctx, paired.DeviceID); err != nil {
		t.Error(err)
	}
}
