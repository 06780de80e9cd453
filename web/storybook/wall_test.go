package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"rendermac/web/webtest"
)

// On a wall the overview is as wide as the screen, and larger: it is read from afar.
func TestOverview_FillsAWall(t *testing.T) {
	s := httptest.NewServer(handler())
	t.Cleanup(s.Close)
	page := webtest.Open(t, s.URL+"/stories/overview/busy", webtest.At(now), webtest.Dark)
	rows := `document.querySelector(".lines li").getBoundingClientRect().height`
	var desk float64
	page.Eval(rows, &desk)
	for _, size := range [][2]int64{{1920, 1080}, {2560, 1440}, {3840, 2160}} {
		page.Resize(size[0], size[1])
		page.Until(`document.querySelector("aside").getBoundingClientRect().right > innerWidth - 48`)
		page.Fits()
		var wall float64
		if page.Eval(rows, &wall); wall < desk*1.2 {
			t.Errorf("at %d a row is %.0f high, and %.0f on a desk", size[0], wall, desk)
		}
		if folder := os.Getenv("SCREENSHOTS"); folder != "" && size[0] == 2560 {
			page.Screenshot(filepath.Join(folder, "overview-wall-dark-2560.png"))
		}
	}
}
