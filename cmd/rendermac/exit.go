package main

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// codeOf is how err ends the process. A lower code is the worse one.
func codeOf(err error) int {
	var coded *codedError
	if errors.As(err, &coded) {
		return coded.code
	}
	return exitFailed
}

// exitCode says an error in one sentence, and how the process ends.
func exitCode(stderr io.Writer, err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "rendermac: %s\n", clean(err.Error()))
	return codeOf(err)
}

// interrupted tells whether err is only that the user has stopped waiting.
func interrupted(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Cause(ctx))
}
