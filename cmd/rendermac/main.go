// Command rendermac is the whole of RenderMac: the server, the agent, and the
// commands that speak to a server. This package wires them to the command line,
// a file a command, and decides nothing else.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"rendermac/program"
)

// version is set by the build.
var version = "dev"

func main() {
	program.GuardMain()
	os.Exit(run())
}

// run is main in a form that tests can call: it answers the exit code.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second Ctrl-C ends the process at once
	g := &globals{}
	cmd, err := newRoot(g).ExecuteContextC(ctx)
	if err != nil && !g.begun {
		err = usagef("%w; see %s --help", err, cmd.CommandPath())
	}
	return exitCode(os.Stderr, err)
}
