package qualify

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// leftovers says what is left of runs that are over, "" if nothing is.
func (b *bench) leftovers() string {
	for _, m := range b.macs {
		if runs := m.runs(); len(runs) > 0 {
			return "run folders: " + strings.Join(runs, ", ")
		}
	}
	if p := b.strays(); len(p) > 0 {
		return fmt.Sprint("processes: ", p)
	}
	if w := files(filepath.Join(b.data(), "artifacts", "writes")); len(w) > 0 {
		return "open writes: " + strings.Join(w, ", ")
	}
	objects := filepath.Join(b.data(), "artifacts", "objects")
	have := files(filepath.Join(objects, "outputs"))
	for i := range have {
		have[i], _ = filepath.Rel(objects, have[i])
	}
	slices.Sort(have)
	published := strings.Split(b.row(`SELECT coalesce(group_concat(object_key, char(10)), '') FROM (SELECT object_key FROM artifacts ORDER BY object_key)`), "\n")
	if !slices.Equal(have, published) {
		return fmt.Sprintf("objects %v, published %v", have, published)
	}
	return ""
}

// runs are the folders of the Mac's runs.
func (m *worker) runs() []string {
	found, _ := filepath.Glob(filepath.Join(m.work, "rendermac-run-*"))
	return found
}

func files(dir string) (found []string) {
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			found = append(found, path)
		}
		return nil
	})
	return found
}

// strays are processes that work in the site's folders and are neither its
// server nor its agents: an ffmpeg, or a guard of one.
func (b *bench) strays() (pids []int) {
	known := map[int]bool{}
	for _, p := range b.logs {
		known[p.cmd.Process.Pid] = true
	}
	folders, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, folder := range folders {
		cwd, err := os.Readlink(folder)
		pid, _ := strconv.Atoi(strings.Split(folder, "/")[2])
		if err == nil && strings.HasPrefix(cwd, b.home) && !known[pid] && !isZombie(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func stat(pid int) (fields []string) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(text), ") ")
	return strings.Fields(rest)
}

func isZombie(pid int) bool { f := stat(pid); return len(f) == 0 || f[0] == "Z" }

// sleep stops the agent and all that it has started, as a closed lid does.
func (m *worker) sleep() (wake func()) {
	pids := []int{m.process.cmd.Process.Pid}
	_ = syscall.Kill(pids[0], syscall.SIGSTOP)
	for _, pid := range m.strays() {
		if f := stat(pid); len(f) > 1 && f[1] == strconv.Itoa(pids[0]) {
			_ = syscall.Kill(pid, syscall.SIGSTOP)
			pids = append(pids, pid)
		}
	}
	return func() {
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	}
}
