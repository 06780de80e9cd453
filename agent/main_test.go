package agent

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"rendermac/media/mediatest"
	"rendermac/program"
)

// TestMain lets the test binary take roles: the guard of an external program,
// Remotion's stand-in, and an agent in a process of its own, so that one can be killed.
func TestMain(m *testing.M) {
	program.GuardMain()
	mediatest.RemotionMain()
	if os.Getenv("RENDERMAC_TEST_AGENT") != "" {
		os.Exit(agentProcess())
	}
	os.Exit(m.Run())
}

func agentProcess() int {
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM)
	defer stop()
	slots, _ := strconv.Atoi(os.Getenv("TEST_SLOTS"))
	a, err := newAgent(Options{
		URL: os.Getenv("TEST_URL"), Token: testToken, DataDir: os.Getenv("TEST_DATA"), WorkDir: os.Getenv("TEST_WORK"),
		FFmpeg: os.Getenv("TEST_FFMPEG"), FFprobe: "ffprobe", Slots: slots, Cache: 1 << 30, Stall: minute, Version: "test",
		Remotion: Remotion{Command: os.Getenv("TEST_REMOTION"), Browser: os.Getenv("TEST_BROWSER")},
		Log:      slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err == nil {
		err = workQuickly(ctx, a)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
