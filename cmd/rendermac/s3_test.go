package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"

	"rendermac/artifact"
	"rendermac/artifact/artifacttest"
	"rendermac/config"
)

// onS3 makes the house's server keep its files in a bucket.
func (h *house) onS3(o artifact.S3Options) {
	h.Helper()
	config := fmt.Sprintf("store:\n  kind: s3\n  part_bytes: 5MiB\n  s3:\n    endpoint: %s\n    bucket: %s\n    prefix: %s\n    path_style: true\n    access_key: %s\n    secret_key: %s\n",
		o.Endpoint, o.Bucket, o.Prefix, o.AccessKey, o.SecretKey)
	h.run("mkdir -p d; cat > d/config.yaml <<'END'\n%sEND", config)
}

// The real binary, server, agent and client, with files of several parts.
func TestAJobWhoseFilesAreOnS3(t *testing.T) {
	s3 := artifacttest.StartS3(t)
	o := s3.Options(t)
	h := newHouse(t)
	h.onS3(o)
	server := h.serve("--data d --with-agent")
	h.run(`ffmpeg -v error -f lavfi -i testsrc2=s=160x90:r=5:d=32 -f lavfi -i anoisesrc=d=32:r=48000 -c:v libx264 -ac 2 -c:a pcm_s16le 'Köln "1".mov'`)
	if info, err := os.Stat(filepath.Join(h.home, `Köln "1".mov`)); err != nil || info.Size() < artifact.MinS3Part {
		t.Fatalf("the input is to have several parts: %v, %v", info, err)
	}
	h.run(`rendermac submit 'Köln "1".mov' --data d --preset prores-proxy -o out/`)
	h.run(`ffprobe -v error out/*.mov`)
	answer := h.run(`job=$(rendermac jobs --data d --json | grep -o 'job_[a-z0-9]*' | head -1)
		curl -s -o /dev/null -w '%%{http_code} %%{redirect_url}' -H "Authorization: Bearer $(cat d/admin.key)" http://127.0.0.1:%s/v1/jobs/$job/output`, h.port)
	if !strings.HasPrefix(answer, "302 "+o.Endpoint+"/"+o.Bucket+"/studio/objects/outputs/job_") {
		t.Errorf("the output is at %s", answer)
	}

	found := map[string]int{}
	for object := range s3.Client(t).ListObjects(t.Context(), o.Bucket, minio.ListObjectsOptions{Recursive: true}) {
		if object.Err != nil {
			t.Fatal(object.Err)
		}
		found[strings.Join(strings.SplitN(object.Key, "/", 4)[:min(3, strings.Count(object.Key, "/")+1)], "/")]++
	}
	want := map[string]int{"studio/store": 1, "studio/objects/uploads": 1, "studio/objects/outputs": 1, "studio/digests/uploads": 1, "studio/digests/outputs": 1}
	if fmt.Sprint(found) != fmt.Sprint(want) {
		t.Errorf("the bucket holds %v, want %v", found, want)
	}
	if blobs, err := http.Get("http://127.0.0.1:" + h.port + "/v1/blobs/x?sig=1"); err != nil || blobs.StatusCode != http.StatusNotFound {
		t.Errorf("/v1/blobs answers %v, %v; want 404", blobs, err)
	}
	for _, secret := range []string{o.SecretKey, "X-Amz-Signature"} {
		if strings.Contains(server.err.String(), secret) {
			t.Errorf("the log says %s", secret)
		}
	}
}

func TestStartsOnS3ThatCannotWork(t *testing.T) {
	s3 := artifacttest.StartS3(t)
	h := newHouse(t)
	good := s3.Options(t)
	refused := func(o artifact.S3Options, says string) {
		t.Helper()
		h.onS3(o)
		term := h.open("rendermac serve --data d")
		<-term.ended
		lines := strings.Split(strings.TrimSpace(term.err.String()), "\n")
		if last := lines[len(lines)-1]; term.cmd.ProcessState.ExitCode() != 1 || !regexp.MustCompile(says).MatchString(last) {
			t.Errorf("exit code %d: %s", term.cmd.ProcessState.ExitCode(), last)
		}
	}
	missing, wrong := good, good
	missing.Bucket, wrong.SecretKey = "none-such", "testsecret124"
	refused(missing, `^rendermac: the S3 server has no bucket none-such: make it, or correct store.s3.bucket$`)
	refused(wrong, `^rendermac: the S3 server refuses the access key \(SignatureDoesNotMatch\): correct store.s3.access_key`)

	h.onS3(good)
	server := h.serve("--data d")
	server.signal(15)
	h.run("rm d/rendermac.db*")
	refused(good, `^rendermac: there is another server's store in the bucket .*remove the object studio/store and start again$`)
	doctor := h.open("rendermac doctor --data d")
	<-doctor.ended
	if !strings.Contains(doctor.out.String(), "there is another server's store in the bucket") {
		t.Errorf("doctor: %s", &doctor.out)
	}
	if err := s3.Client(t).RemoveObject(t.Context(), good.Bucket, "studio/store", minio.RemoveObjectOptions{}); err != nil {
		t.Fatal(err)
	}
	server = h.serve("--data d")
	server.signal(15)
	h.serve("--data d")
}

func TestDoctorLooksAtTheBucket(t *testing.T) {
	s3 := artifacttest.StartS3(t)
	good := s3.Options(t)
	careless, missing, wrong, silent := good, good, good, good
	careless.Endpoint, missing.Bucket = artifacttest.StartCareless(t, s3), "none-such"
	wrong.SecretKey, silent.Endpoint = "testsecret124", "http://127.0.0.1:1"
	for _, c := range []struct {
		o        artifact.S3Options
		want, do string
	}{
		{good, "ok ok", ""},
		{careless, "ok warn warn warn", "use another S3 server"},
		{missing, "fail", "make it, or correct store.s3.bucket"},
		{wrong, "fail", "correct store.s3.access_key or its secret, or let it do what Files on S3"},
		{silent, "fail", "is it running? Start it, or correct store.s3.endpoint"},
	} {
		d := checkup(t, "127.0.0.1:0")
		d.c.Store.Kind = "s3"
		d.c.Store.S3 = config.S3{Endpoint: c.o.Endpoint, Bucket: c.o.Bucket, AccessKey: c.o.AccessKey, SecretKey: c.o.SecretKey, PathStyle: true}
		d.store(t.Context())
		var levels []string
		for _, f := range d.findings {
			levels = append(levels, f.Level)
			if strings.Contains(f.Found, c.o.SecretKey) {
				t.Errorf("a finding tells the secret: %s", f.Found)
			}
		}
		last := d.findings[len(d.findings)-1]
		if got := strings.Join(levels, " "); got != c.want || !strings.HasPrefix(last.Do, c.do) || strings.Contains(last.Found, "docs/") {
			t.Errorf("got %s, want %s: %+v", got, c.want, d.findings)
		}
	}
}
