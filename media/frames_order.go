package media

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// NotAFrame says what a zip of frames may hold beside them: what macOS, Windows
// and editors leave in folders, hidden. It is not unpacked.
func NotAFrame(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		switch strings.ToLower(part) {
		case "__macosx", "thumbs.db", "desktop.ini":
			return true
		}
		if strings.HasPrefix(part, ".") {
			return true
		}
	}
	return false
}

// OrderFrames puts the images of a zip in the order of their numbers, which may
// begin anywhere. They are one sequence in one folder; a number that is missing
// is an image that was not rendered, and a film without it would be wrong.
func OrderFrames(files []string) ([]string, error) {
	if len(files) == 0 {
		return nil, errors.New("the zip holds no images")
	}
	for _, name := range files[1:] {
		if path.Dir(name) != path.Dir(files[0]) {
			return nil, fmt.Errorf("the zip's images lie in more than one folder (%s and %s): zip one folder of them", shortName(files[0]), shortName(name))
		}
	}
	if len(files) == 1 {
		return files, nil
	}
	numbers, err := numberFrames(files)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(numbers, func(a, b numbered) int { return cmp.Compare(a.number, b.number) })
	ordered := make([]string, len(numbers))
	for i, f := range numbers {
		ordered[i] = f.name
		if i == 0 {
			continue
		}
		switch before := numbers[i-1]; {
		case f.number == before.number:
			return nil, fmt.Errorf("the zip holds frame %d twice: %s and %s", f.number, shortName(before.name), shortName(f.name))
		case f.number > before.number+1:
			return nil, missingFrames(numbers)
		}
	}
	return ordered, nil
}

type numbered struct {
	name   string
	number uint64
}

var digits = regexp.MustCompile(`[0-9]+`)

// numberFrames finds the number that tells the names apart: the last one, unless
// it is another (shot_0001@2x.png).
func numberFrames(files []string) ([]numbered, error) {
	first := path.Base(files[0])
	runs := digits.FindAllStringIndex(first[:len(first)-len(path.Ext(first))], -1)
	if len(runs) == 0 {
		return nil, fmt.Errorf("the zip's image %s has no number in its name", shortName(files[0]))
	}
	var odd string
	for _, run := range slices.Backward(runs) {
		list, other := numberedAlike(files, first[:run[0]], first[run[1]:])
		if list != nil {
			return list, nil
		}
		odd = cmp.Or(odd, other)
	}
	return nil, fmt.Errorf("the zip holds more than one sequence of images, or other files: %s and %s differ by more than a number", shortName(files[0]), shortName(odd))
}

// numberedAlike reads names that are the same but for a number in one place; odd
// is the first that is not.
func numberedAlike(files []string, before, after string) (list []numbered, odd string) {
	for _, name := range files {
		base := path.Base(name)
		if len(base) <= len(before)+len(after) || !strings.HasPrefix(base, before) || !strings.EqualFold(base[len(base)-len(after):], after) {
			return nil, name
		}
		n, err := strconv.ParseUint(base[len(before):len(base)-len(after)], 10, 63)
		if err != nil {
			return nil, name
		}
		list = append(list, numbered{name, n})
	}
	return list, ""
}

// missingFrames names the first gap, and counts all of them.
func missingFrames(sorted []numbered) error {
	var missing uint64
	var first string
	for i := 1; i < len(sorted); i++ {
		gap := sorted[i].number - sorted[i-1].number - 1
		if gap > 0 && first == "" {
			first = fmt.Sprintf("%d, between %s and %s", sorted[i-1].number+1, shortName(sorted[i-1].name), shortName(sorted[i].name))
		}
		missing += gap
	}
	if missing == 1 {
		return fmt.Errorf("the zip lacks frame %s", first)
	}
	return fmt.Errorf("the zip lacks %d frames, the first of them %s", missing, first)
}

// shortName is a stranger's file name in a sentence.
func shortName(name string) string { return fmt.Sprintf("%.60q", path.Base(name)) }
