package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Exit codes, beside 0.
const (
	exitFailed       = 1
	exitUsage        = 2
	exitJobFailed    = 3
	exitJobCancelled = 4
)

// codedError is an error that ends the process with a code of its own.
type codedError struct {
	code int
	error
}

func codedf(code int, format string, args ...any) error {
	return &codedError{code, fmt.Errorf(format, args...)}
}

func usagef(format string, args ...any) error { return codedf(exitUsage, format, args...) }

// faults is what went wrong with several files or jobs, one line each.
type faults []error

func (f faults) Error() string { return errors.Join(f...).Error() }

// err is nil where there are none.
func (f faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// codeOf is how err ends the process. Of several faults a failed job counts
// first, then a cancelled one, then whatever else broke.
func codeOf(err error) int {
	var many faults
	if errors.As(err, &many) {
		codes := make([]int, len(many))
		for i, one := range many {
			codes[i] = codeOf(one)
		}
		for _, code := range []int{exitJobFailed, exitJobCancelled, exitFailed} {
			if slices.Contains(codes, code) {
				return code
			}
		}
		return codes[0]
	}
	var coded *codedError
	if errors.As(err, &coded) {
		return coded.code
	}
	return exitFailed
}

// exitCode says each error in one sentence, and how the process ends.
func exitCode(stderr io.Writer, err error) int {
	if err == nil {
		return 0
	}
	var many faults
	if !errors.As(err, &many) {
		many = faults{err}
	}
	for _, one := range many {
		fmt.Fprintf(stderr, "rendermac: %s\n", clean(one.Error()))
	}
	return codeOf(err)
}

// interrupted tells whether err is only that the user has stopped waiting.
func interrupted(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Cause(ctx))
}
