package fence

import "fmt"

// CheckParts says whether parts of these sizes, numbered from 1 in order, are a
// file of so many bytes: each part_bytes long but for the last; an empty file
// is one empty part (F16).
func CheckParts(bytes, partBytes int64, sizes []int64) error {
	want := max(1, (bytes+partBytes-1)/partBytes)
	if bytes < 0 || int64(len(sizes)) != want {
		return &Error{Code: CodeInvalid, Rule: "F16", Message: fmt.Sprintf("%d bytes are %d parts of %d bytes, not %d: number them from 1", bytes, want, partBytes, len(sizes))}
	}
	for i, size := range sizes {
		if size != min(partBytes, bytes-int64(i)*partBytes) {
			return &Error{Code: CodeInvalid, Rule: "F16", Message: fmt.Sprintf("part %d has a wrong number or length: every part but the last is %d bytes", i+1, partBytes)}
		}
	}
	return nil
}
