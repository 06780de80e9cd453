package mediatest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// RemotionMain is called early in TestMain: where Remotion's script started this
// test binary it does what @remotion/cli 4.0.529 was seen to do, and never returns.
// The input props say how it ends: {"throws": "…"}, {"hangs": true}, {"unsettled": true},
// {"short": true} for fewer frames than it said, {"full": true} for a full disk,
// {"abandons": true} for a browser that is left behind.
func RemotionMain() {
	if os.Getenv(standInRole) == "" {
		return
	}
	if len(os.Args) == 2 && os.Args[1] == "versions" {
		fmt.Print("Node.JS = v20.20.2, OS = linux\n\nOn version: 4.0.529\n- @remotion/cli\n\nAll packages have the correct version.\n")
		os.Exit(0)
	}
	s := &standIn{flags: map[string]string{}}
	s.parse(os.Args[1:])
	os.Exit(s.render())
}

type standIn struct {
	bundle, composition, out string
	flags                    map[string]string
	browser                  *exec.Cmd
	props                    struct {
		Throws                                  string
		Hangs, Unsettled, Short, Full, Abandons bool
	}
}

// parse takes no argument that the real one does not have.
func (s *standIn) parse(args []string) {
	if len(args) < 4 || args[0] != "render" {
		refuse("No entry point specified. Pass more arguments: %q", args)
	}
	s.bundle, s.composition, s.out = args[1], args[2], args[3]
	for _, arg := range args[4:] {
		name, value, ok := strings.Cut(arg, "=")
		switch name {
		case "--browser-executable", "--concurrency", "--props", "--codec", "--color-space", "--timeout", "--scale", "--frames":
			s.flags[name] = value
		default:
			ok = false
		}
		if !ok {
			refuse("the stand-in knows no %s", arg)
		}
	}
	if text, err := os.ReadFile(s.flags["--props"]); err == nil {
		_ = json.Unmarshal(text, &s.props) // props of other tests are none of its own
	}
}

func refuse(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}

// open starts the browser in a session of its own, and waits until it listens.
func (s *standIn) open() {
	profile, err := os.MkdirTemp("", "puppeteer_dev_chrome_profile-")
	if err != nil {
		refuse("Error: %v", err)
	}
	if socket := filepath.Join(os.TempDir(), "org.chromium.Chromium.ka1MS7", "SingletonSocket"); len(socket) > 103 {
		refuse("Error: Failed to launch the browser process!\nFATAL:chrome/browser/process_singleton_posix.cc:315] Socket path too long: %s", socket)
	}
	s.browser = exec.Command(s.flags["--browser-executable"], "about:blank", "--user-data-dir="+profile)
	s.browser.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	stderr, _ := s.browser.StderrPipe()
	if err := s.browser.Start(); err != nil {
		refuse("Error: Failed to launch the browser process!\n%v", err)
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "DevTools listening on ws://") {
			return
		}
	}
	refuse("Error: Failed to launch the browser process!")
}

// close kills the browser's group; what it left in its folder stays.
func (s *standIn) close() { _ = unix.Kill(-s.browser.Process.Pid, unix.SIGKILL) }

func (s *standIn) render() int {
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, unix.SIGINT, unix.SIGTERM)
	if _, err := os.Stat(filepath.Join(s.bundle, "index.html")); err != nil {
		refuse("Error: the stand-in bundles no source: %v", err)
	}
	s.open()
	go func() { <-interrupted; s.close(); os.Exit(130) }()
	fmt.Println("Getting composition")
	text, err := os.ReadFile(filepath.Join(s.bundle, "compositions", s.composition))
	if err != nil {
		return s.fails("Error: Could not find composition with ID " + s.composition + ". Available compositions: Main")
	}
	total, _ := strconv.Atoi(string(text))
	if from, to, ok := strings.Cut(s.flags["--frames"], "-"); ok {
		first, _ := strconv.Atoi(from)
		last, err := strconv.Atoi(to)
		if err != nil {
			last = total - 1
		}
		total = last - first + 1
	}
	fmt.Printf("Composition          %s\nCodec                %s\nOutput               %s\nConcurrency          %sx\n",
		s.composition, s.flags["--codec"], s.out, s.flags["--concurrency"])
	fmt.Printf("Rendered 0/%d\n", total)
	for i := 1; i <= total; i++ {
		fmt.Printf("Rendered %d/%d, time remaining: %ds\n", i, total, total-i)
		if i == total/2 && s.endsBadly() {
			return 1
		}
	}
	return s.encode(total)
}

func (s *standIn) endsBadly() bool {
	switch {
	case s.props.Throws != "":
		fmt.Printf("\nAn error occurred while rendering frame 5:\n")
		s.fails(s.props.Throws)
		fmt.Printf("\nat Title.jsx:7\n7 │ \t\tthrow new Error()\n")
	case s.props.Unsettled:
		s.fails(`A delayRender() "the fonts" was called but not cleared after 28000ms. See https://remotion.dev/docs/timeout for help.`)
	case s.props.Full:
		s.fails("ENOSPC: no space left on device, write")
	case s.props.Hangs:
		time.Sleep(time.Hour)
	default:
		return false
	}
	return true
}

func (s *standIn) fails(message string) int {
	fmt.Fprintf(os.Stderr, " Error  %s\n", message)
	s.close()
	return 1
}

// encode leaves its working folder behind, as the real one does at times.
func (s *standIn) encode(total int) int {
	work, err := os.MkdirTemp("", "react-motion-render")
	if err != nil {
		return s.fails(err.Error())
	}
	_ = os.WriteFile(filepath.Join(work, "element-00.jpeg"), make([]byte, 1000), 0o600)
	made := total
	if s.props.Short {
		made--
	}
	encoder := map[string][]string{
		"h264":   {"-c:v", "libx264", "-preset", "ultrafast", "-profile:v", "high", "-pix_fmt", "yuv420p"},
		"h265":   {"-c:v", "libx265", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-tag:v", "hev1"},
		"prores": {"-c:v", "prores_ks", "-profile:v", "3", "-pix_fmt", "yuv422p10le"},
	}[s.flags["--codec"]]
	args := append([]string{"-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc=s=64x36:r=30", "-frames:v", strconv.Itoa(made)}, encoder...)
	if out, err := exec.Command("ffmpeg", append(args, s.out)...).CombinedOutput(); err != nil {
		return s.fails(string(out))
	}
	fmt.Printf("Rendered %d/%[1]d\nEncoded %d/%[1]d\nEncoded %[1]d/%[1]d\n+                    %[3]s 9.4 kB\n", total, total/2, s.out)
	if !s.props.Abandons {
		s.close()
	}
	return 0
}
