package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// home gives the test a home of its own with this client file, if not "".
func home(t *testing.T, clientYAML string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "xdg"))
	if clientYAML == "" {
		return
	}
	file, err := ClientFile()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(clientYAML), 0o600); err != nil {
		t.Fatal(err)
	}
}

func dataWithAdminKey(t *testing.T, yaml string) Options {
	t.Helper()
	dir := dataWith(t, yaml)
	if err := os.WriteFile(filepath.Join(dir, "admin.key"), []byte("rm_admin\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return Options{Data: dir}
}

func TestFindServer(t *testing.T) {
	const client = "url: https://render.example.com/\nkey: rm_file\n"
	cases := []struct {
		name, client, config string
		env                  map[string]string
		flags                ClientFlags
		url, key             string
	}{
		{name: "a server on this machine", url: "http://127.0.0.1:7420", key: "rm_admin"},
		{name: "listening everywhere", config: "listen: 0.0.0.0:9000", url: "http://127.0.0.1:9000", key: "rm_admin"},
		{name: "listening on one address", config: "listen: 192.0.2.1:9000", url: "http://192.0.2.1:9000", key: "rm_admin"},
		{name: "with TLS", config: "public_url: https://r.example\ntls: {cert: /c, key: /k}", url: "https://r.example", key: "rm_admin"},
		{name: "the client file", client: client, url: "https://render.example.com", key: "rm_file"},
		{name: "environment over file", client: client, env: map[string]string{"RENDERMAC_URL": "https://e.example", "RENDERMAC_API_KEY": "rm_env"}, url: "https://e.example", key: "rm_env"},
		{name: "flags over environment", env: map[string]string{"RENDERMAC_URL": "https://e.example", "RENDERMAC_API_KEY": "rm_env"}, flags: ClientFlags{"http://f.example", "rm_flag"}, url: "http://f.example", key: "rm_flag"},
		{name: "no key leaves for another server", client: client, flags: ClientFlags{URL: "https://other.example"}, url: "https://other.example"},
		{name: "the key of the file for its own server", client: client, flags: ClientFlags{URL: "https://render.example.com"}, url: "https://render.example.com", key: "rm_file"},
		{name: "the admin key for a port on loopback", flags: ClientFlags{URL: "http://127.0.0.1:5555"}, url: "http://127.0.0.1:5555", key: "rm_admin"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			home(t, c.client)
			for name, value := range c.env {
				t.Setenv(name, value)
			}
			s, err := FindServer(c.flags, dataWithAdminKey(t, c.config))
			if err != nil {
				t.Fatal(err)
			}
			if s.URL != c.url || s.Key != c.key {
				t.Errorf("got %s with %q, want %s with %q", s.URL, s.Key, c.url, c.key)
			}
			for _, v := range s.Values {
				if c.key != "" && strings.Contains(v.Text, c.key) {
					t.Errorf("%s shows the key", v.Name)
				}
			}
		})
	}
}

func TestFindServerRefusesWhatIsNoURL(t *testing.T) {
	home(t, "")
	_, err := FindServer(ClientFlags{URL: "localhost:7420"}, Options{Data: t.TempDir()})
	const want = "flag --url: the server's URL must be like http://127.0.0.1:7420"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestClientFileMistakesNameTheLine(t *testing.T) {
	home(t, "url: https://a.example\ntoken: rm_1\n")
	_, err := FindServer(ClientFlags{}, Options{Data: t.TempDir()})
	if err == nil || !strings.HasSuffix(err.Error(), `client.yaml:2: unknown key "token": did you mean key?`) {
		t.Errorf("got %v", err)
	}
}

// A server on a free port writes down where it is.
func TestFindServerFollowsTheRunningOne(t *testing.T) {
	home(t, "")
	o := dataWithAdminKey(t, "listen: 127.0.0.1:0")
	if err := os.WriteFile(URLFile(o.Data), []byte("http://127.0.0.1:40404\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := FindServer(ClientFlags{}, o)
	if err != nil || s.URL != "http://127.0.0.1:40404" || s.Key != "rm_admin" {
		t.Errorf("got %+v, %v", s, err)
	}
}
