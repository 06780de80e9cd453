package fetch

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// journal is the file that says which ranges are whole: a line about the object,
// then the number of a range a line. Lines are only added, so that a kill leaves
// at worst a line without its end, which does not count.
type journal struct {
	path   string
	header header
}

// header is the object that a journal speaks of.
type header struct {
	Bytes      int64  `json:"bytes"`
	SHA256     string `json:"sha256"`
	RangeBytes int64  `json:"range_bytes"`
}

var errForeign = errors.New("the journal is not this object's")

// read is the ranges that are whole, out of n: all of them where no journal is.
func (j *journal) read(n int) ([]int, error) {
	text, err := os.ReadFile(j.path)
	var held []int
	if errors.Is(err, fs.ErrNotExist) {
		for i := range n {
			held = append(held, i)
		}
		return held, nil
	}
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(text), "\n")
	if torn := lines[len(lines)-1]; torn != "" { // the next line would go on with it
		if err := os.Truncate(j.path, int64(len(text)-len(torn))); err != nil {
			return nil, err
		}
	}
	lines = lines[:len(lines)-1]
	if len(lines) == 0 || lines[0]+"\n" != j.header.line() {
		return nil, errForeign
	}
	seen := make([]bool, n)
	for _, line := range lines[1:] {
		i, err := strconv.Atoi(line)
		if err != nil || i < 0 || i >= n {
			return nil, errForeign
		}
		if !seen[i] {
			seen[i] = true
			held = append(held, i)
		}
	}
	return held, nil
}

func (h header) line() string {
	text, _ := json.Marshal(h) // numbers and a string
	return string(text) + "\n"
}

// begin makes the journal of an object of which nothing is there. Without a
// digest there is none: nobody could tell this object from another.
func (j *journal) begin() error {
	if j.header.SHA256 == "" {
		return j.remove()
	}
	return os.WriteFile(j.path, []byte(j.header.line()), 0o600)
}

func (j *journal) add(ranges []int) error {
	f, err := os.OpenFile(j.path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(f)
	for _, i := range ranges {
		out.WriteString(strconv.Itoa(i) + "\n")
	}
	return errors.Join(out.Flush(), f.Close())
}

func (j *journal) remove() error {
	err := os.Remove(j.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
