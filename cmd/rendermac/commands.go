package main

import "github.com/spf13/cobra"

// commands is every command, in the order of the day's work.
func commands(g *globals) []*cobra.Command {
	return []*cobra.Command{
		demoCommand(g),
		serveCommand(g),
		dashboardCommand(g),
		pairCommand(g),
		agentCommand(g),
		submitCommand(g),
		jobsCommand(g),
		devicesCommand(g),
		accountsCommand(g),
		keysCommand(g),
		servicesCommand(g),
		webhooksCommand(g),
		statsCommand(g),
		gcCommand(g),
		backupCommand(g),
		restoreCommand(g),
		configCommand(g),
		doctorCommand(g),
	}
}
