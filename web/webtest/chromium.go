package webtest

import (
	"context"
	_ "embed"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

var (
	mayStart bool
	closers  []func() // what is shared by all tests, and ends after them
)

// Main runs a package's tests, and closes the browser if any of them opened
// it. Every package that calls Open calls this in TestMain.
func Main(m *testing.M) int {
	mayStart = true
	code := m.Run()
	for _, closer := range closers {
		closer()
	}
	return code
}

//go:embed fonts.conf
var fonts []byte

// chromium is the one browser of this test process. Its profile is a folder
// that chromedp makes under TMPDIR and removes with it.
var chromium = sync.OnceValues(func() (context.Context, error) {
	folder, err := os.MkdirTemp("", "rendermac-browser")
	if err != nil {
		return nil, err
	}
	config := filepath.Join(folder, "fonts.conf")
	if err := os.WriteFile(config, fonts, 0o600); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	ctx, free := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.DisableGPU,
		chromedp.Env("FONTCONFIG_FILE="+config),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("lang", "en-US"),
		chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("font-render-hinting", "none"),
	)...)
	ctx, _ = chromedp.NewContext(ctx)
	closers = append(closers, func() {
		timeout, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		chromedp.Cancel(timeout)
		free()
		os.RemoveAll(folder)
	})
	return ctx, chromedp.Do(ctx)
})
