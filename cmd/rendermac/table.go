package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-runewidth"
	"golang.org/x/sys/unix"
)

const leastOfAFile = 16 // a name of fewer letters says nothing

// printTable writes columns for people.
func printTable(w io.Writer, head []string, rows [][]string) error {
	rows = append([][]string{head}, rows...)
	var widths []int
	for y, row := range rows {
		rows[y] = make([]string, len(row))
		for x, cell := range row {
			rows[y][x] = clean(cell)
			if x == len(widths) {
				widths = append(widths, 0)
			}
			widths[x] = max(widths[x], runewidth.StringWidth(rows[y][x]))
		}
	}
	for _, row := range rows {
		for x := range row[:max(0, len(row)-1)] {
			row[x] = pad(row[x], widths[x]+2)
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(strings.Join(row, ""), " ")); err != nil {
			return err
		}
	}
	return nil
}

// fit shortens one column so that the first few of them fit into a width; 0 is
// any width.
func fit(rows [][]string, column, columns, width int) {
	if width == 0 {
		return
	}
	room := width
	for x := range columns {
		widest := 0
		for _, row := range rows {
			widest = max(widest, runewidth.StringWidth(clean(row[x])))
		}
		if x > 0 {
			room -= 2 // between columns
		}
		if x != column {
			room -= widest
		}
	}
	for _, row := range rows {
		row[column] = shorten(clean(row[column]), max(leastOfAFile, room))
	}
}

// widthOf is how wide a terminal is; 0 is anything else, whose lines are not cut.
func widthOf(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}

// shorten leaves out the middle of what is too long: how a name begins and ends
// tells it from others.
func shorten(s string, width int) string {
	if runewidth.StringWidth(s) <= width {
		return s
	}
	half := (width - 1) / 2
	return runewidth.Truncate(s, half, "") + "…" + runewidth.TruncateLeft(s, runewidth.StringWidth(s)-half, "")
}

// cut leaves out the end of what is too long.
func cut(s string, width int) string {
	if width < 1 {
		return ""
	}
	return runewidth.Truncate(s, width, "…")
}

func pad(s string, width int) string { return runewidth.FillRight(s, width) }
