package main

import (
	"fmt"
	"hash/fnv"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rendermac/web/webtest"
)

func TestMain(m *testing.M) { os.Exit(webtest.Main(m)) }

// The windows that pages are looked at in: a desk and a phone.
var (
	sizes   = [][2]int64{{1440, 900}, {390, 844}}
	schemes = []string{"light", "dark"}
)

// TestStories opens each story once and judges it in both windows and both
// schemes: the name picks which goes with which, so that a new story changes
// nothing for the others.
func TestStories(t *testing.T) {
	s := httptest.NewServer(handler())
	t.Cleanup(s.Close)
	for _, story := range stories {
		t.Run(story.Name, func(t *testing.T) {
			page := webtest.Open(t, s.URL+"/stories/"+story.Name, webtest.At(now))
			page.Until(`["live", undefined].includes(document.getElementById("link")?.dataset.state) && !document.querySelector("[data-canned]")`)
			name := fnv.New32()
			name.Write([]byte(story.Name))
			for i, size := range sizes {
				page.Resize(size[0], size[1])
				page.Colours(schemes[(int(name.Sum32())+i)%2])
				page.Fits()
				page.Axe()
			}
			if folder := os.Getenv("SCREENSHOTS"); folder != "" {
				picture(page, folder, strings.ReplaceAll(story.Name, "/", "-"))
			}
		})
	}
}

func picture(page *webtest.Page, folder, name string) {
	for _, size := range sizes {
		page.Resize(size[0], size[1])
		for _, scheme := range schemes {
			page.Colours(scheme)
			page.Screenshot(filepath.Join(folder, fmt.Sprintf("%s-%s-%d.png", name, scheme, size[0])))
		}
	}
}

func TestIndex_LinksEveryStory(t *testing.T) {
	s := httptest.NewServer(handler())
	t.Cleanup(s.Close)
	page := webtest.Open(t, s.URL)
	page.Axe()
	if n := page.Count("li a"); n != len(stories) {
		t.Errorf("the index has %d links for %d stories", n, len(stories))
	}
	page.Click(stories[0].Name)
	page.WaitPath("/stories/" + stories[0].Name)
}
