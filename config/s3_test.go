package config

import (
	"strings"
	"testing"
)

const s3Yaml = `store:
  kind: s3
  s3:
    endpoint: https://s3.example.com
    bucket: renders
    access_key: AKIA1
    secret_key: hunter2
    prefix: studio
`

func TestS3IsTakenAndItsSecretIsNotShown(t *testing.T) {
	c := mustLoad(t, s3Yaml, nil)
	want := S3{Endpoint: "https://s3.example.com", Bucket: "renders", AccessKey: "AKIA1", SecretKey: "hunter2", Prefix: "studio"}
	if c.Store.Kind != "s3" || c.Store.S3 != want {
		t.Errorf("got %s %+v", c.Store.Kind, c.Store.S3)
	}
	if got := c.value(t, "store.s3.secret_key").Text; got != "********" {
		t.Errorf("config shows the secret as %q", got)
	}
	t.Setenv("RENDERMAC_STORE_S3_SECRET_KEY", "hunter3")
	c = mustLoad(t, s3Yaml, nil)
	if v := c.value(t, "store.s3.secret_key"); c.Store.S3.SecretKey != "hunter3" || v.Text != "********" || v.Source != "environment RENDERMAC_STORE_S3_SECRET_KEY" {
		t.Errorf("from the environment: %+v", v)
	}
}

func TestS3SaysWhatIsMissingOrCannotBe(t *testing.T) {
	with := func(old, new string) string { return strings.Replace(s3Yaml, old, new, 1) }
	for yaml, want := range map[string]string{
		with("    endpoint: https://s3.example.com\n", ""):               ":2: store.s3.endpoint must be set where store.kind is s3, such as https://s3.eu-central-1.amazonaws.com",
		with("    bucket: renders\n", ""):                                ":2: store.s3.bucket must be set where store.kind is s3",
		with("    access_key: AKIA1\n", ""):                              ":2: store.s3.access_key must be set where store.kind is s3",
		with("    secret_key: hunter2\n", ""):                            ":2: store.s3.secret_key must be set where store.kind is s3",
		with("https://s3.example.com", "s3.example.com"):                 ":4: store.s3.endpoint must be an http or https URL without a path, such as https://s3.example.com",
		with("https://s3.example.com", "https://s3.example.com/renders"): ":4: store.s3.endpoint must be an http or https URL without a path, such as https://s3.example.com",
		with("https://s3.example.com", "http://192.0.2.7:9000"):          ":4: store.s3.endpoint has no name before which the bucket could stand: set store.s3.path_style to true",
		with("prefix: studio", "public_endpoint: \"http://[::1]:9000\""): ":8: store.s3.public_endpoint has no name before which the bucket could stand: set store.s3.path_style to true",
		with("prefix: studio", "prefix: /studio"):                        ":8: store.s3.prefix must be like studio or studio/renders",
		with("  kind: s3\n", "  kind: s3\n  part_bytes: 1MiB\n"):         ":3: store.part_bytes must be 5MiB to 5GiB where store.kind is s3",
	} {
		_, err := load(t, yaml, nil)
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got %v, want …%s", err, want)
		}
	}
	mustLoad(t, with("https://s3.example.com", "http://192.0.2.7:9000")+"    path_style: true\n", nil)
	mustLoad(t, strings.Replace(s3Yaml, "kind: s3", "kind: dir\n  part_bytes: 1MiB", 1), nil)
}
