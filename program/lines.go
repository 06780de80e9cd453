package program

import (
	"io"
	"strings"
)

// Lines cuts what is written into lines and gives each to a function.
func Lines(each func(string)) io.Writer { return &lines{each: each} }

type lines struct {
	each func(string)
	rest []byte
}

// longestLine is where a line is cut: a program may write without end.
const longestLine = 2000

func (l *lines) Write(p []byte) (int, error) {
	for _, c := range p {
		switch {
		case c == '\n' || c == '\r':
			if len(l.rest) > 0 {
				l.each(strings.ToValidUTF8(string(l.rest), "?"))
			}
			l.rest = l.rest[:0]
		case len(l.rest) < longestLine:
			l.rest = append(l.rest, c)
		}
	}
	return len(p), nil
}
