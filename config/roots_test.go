package config

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestSharedRoots(t *testing.T) {
	c := mustLoad(t, `
shared_roots:
  media: {path: /Volumes/Media/}
  vault:
    path: /Volumes/Vault
    accounts: [acme, acc_01]
  closed: {path: /c, accounts: []}
  house: {path: /h, accounts: null}
`, nil)
	want := map[string]SharedRoot{
		"media": {"/Volumes/Media", []string{"studio"}}, "vault": {"/Volumes/Vault", []string{"acme", "acc_01"}},
		"closed": {"/c", []string{}}, "house": {"/h", []string{"studio"}},
	}
	if !reflect.DeepEqual(c.SharedRoots, want) {
		t.Errorf("got %v, want %v", c.SharedRoots, want)
	}
	if v := c.value(t, "shared_roots"); v.Source != filepath.Join(c.Data, "config.yaml")+":3" || !strings.Contains(v.Text, `"vault":{"path":"/Volumes/Vault"`) {
		t.Errorf("it is shown as %+v", v)
	}
	for _, none := range []string{"", "shared_roots: {}\n", "shared_roots: null\n"} {
		if c := mustLoad(t, none, nil); len(c.SharedRoots) > 0 {
			t.Errorf("%q is %v", none, c.SharedRoots)
		}
	}
	t.Setenv("RENDERMAC_SHARED_ROOTS", `{"env": {"path": "/e"}}`)
	if c := mustLoad(t, "", nil); !reflect.DeepEqual(c.SharedRoots, map[string]SharedRoot{"env": {"/e", []string{"studio"}}}) {
		t.Errorf("from the environment: %v", c.SharedRoots)
	}
}

func TestSharedRoots_MistakesNameKeyAndLine(t *testing.T) {
	const head = "shared_roots:\n  media:\n"
	const list = "must be a list of accounts' names or ids, such as [studio]"
	for yaml, want := range map[string]string{
		"shared_roots: /Volumes/Media\n":                     ":1: shared_roots must be names with a path and accounts each, such as {media: {path: /Volumes/Media}}",
		"shared_roots: [/Volumes/Media]\n":                   ":1: shared_roots must be names with a path and accounts each, such as {media: {path: /Volumes/Media}}",
		"shared_roots:\n  media: /Volumes/Media\n":           ":2: shared_roots.media must hold path, and may hold accounts",
		"shared_roots:\n  media: {}\n":                       ":2: shared_roots has a root media without an absolute path: give shared_roots.media.path",
		head + "    path: Volumes/Media\n":                   ":3: shared_roots.media.path must be an absolute path",
		head + "    path: [/a]\n":                            ":3: shared_roots.media.path must be an absolute path",
		head + "    path: /a\n    account: [studio]\n":       `:4: unknown key "shared_roots.media.account": a shared root has path and accounts`,
		head + "    path: /a\n    path: /b\n":                ":4: shared_roots.media.path stands here twice: remove one",
		head + "    path: /a\n    accounts: studio\n":        ":4: shared_roots.media.accounts " + list,
		head + "    path: /a\n    accounts:\n      - null\n": ":5: shared_roots.media.accounts " + list,
		head + "    path: /a\n  media: {path: /b}\n":         ":4: shared_roots.media stands here twice: remove one",
		"shared_roots:\n  my media: {path: /a}\n":            `:2: shared_roots has a root "my media": its name must be 1 to 64 letters, digits, - and _, and begin with a letter or digit`,
		"shared_roots:\n  a/b: {path: /a}\n":                 `:2: shared_roots has a root "a/b": its name must be 1 to 64 letters, digits, - and _, and begin with a letter or digit`,
	} {
		if _, err := load(t, yaml, nil); err == nil || !strings.HasSuffix(err.Error(), want) || !strings.Contains(err.Error(), "config.yaml") {
			t.Errorf("%q:\ngot  %v\nwant …%s", yaml, err, want)
		}
	}
	for text, want := range map[string]string{
		"media=/a": "must be names with a path", `{"media": {"path": "a"}}`: "without an absolute path", `{"a b": {"path": "/a"}}`: "its name must be", `{"media": {"way": "/a"}}`: "must be names with a path",
	} {
		t.Setenv("RENDERMAC_SHARED_ROOTS", text)
		if _, err := load(t, "", nil); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "RENDERMAC_SHARED_ROOTS") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
