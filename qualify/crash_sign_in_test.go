package qualify

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"rendermac/api"
)

// signInScript signs in to the dashboard by a link, looks at something, and signs
// out. A session that was given works until it is over, and never again.
func (d *day) signInScript() {
	cookie := d.signIn()
	look := func() (*http.Response, error) { return d.browse("GET", "/v1/services", cookie, "") }
	must(insist(d, "look, signed in", look))(d)
	must(insist(d, "sign out", func() (*http.Response, error) { return d.browse("DELETE", "/session", cookie, "") }))(d)
	_, _, err := insist(d, "look, signed out", look)
	if refused := new(api.Error); !errors.As(err, &refused) || refused.Status != 401 {
		d.Errorf("a session that is over was answered: %v", err)
	}
}

// signIn redeems a link. One whose answer was lost is spent: a person then asks
// for another.
func (d *day) signIn() (cookie string) {
	d.Helper()
	for {
		link := must(insist(d, "make a sign-in link", func() (*api.SignIn, error) { return d.client.CreateSignIn(context.Background()) }))(d)
		_, token, _ := strings.Cut(link.URL, "#")
		answer, sure, err := insist(d, "sign in", func() (*http.Response, error) { return d.browse("POST", "/session", "", `{"token":"`+token+`"}`) })
		if refused := new(api.Error); !sure && errors.As(err, &refused) && refused.Code == api.CodeBadSignIn {
			continue
		}
		if err != nil {
			d.Fatal(err)
		}
		return answer.Cookies()[0].Name + "=" + answer.Cookies()[0].Value
	}
}

// browse asks as the dashboard's pages do.
func (d *day) browse(method, path, cookie, body string) (*http.Response, error) {
	d.Helper()
	r, err := http.NewRequest(method, d.url+path, strings.NewReader(body))
	if err != nil {
		d.Fatal(err)
	}
	r.Header = http.Header{"Origin": {d.url}, "Content-Type": {"application/json"}}
	if cookie != "" {
		r.Header.Set("Cookie", cookie)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, &api.Unreachable{URL: d.url, Cause: err}
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode < 300 {
		return answer, err
	}
	problem := &api.Error{}
	if err := json.Unmarshal(text, problem); err != nil {
		d.Fatalf("%s %s: %d %s", method, path, answer.StatusCode, text)
	}
	return answer, problem
}
