package main

import "github.com/spf13/cobra"

func cleanCommand() *cobra.Command {
	return &cobra.Command{Use: "clean"}
}
