package main

import (
	"fmt"

	"tvps/replicate/cluster"
	"tvps/replicate/runs"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

func cancelCommand() *cobra.Command {
	var plan string
	cmd := &cobra.Command{
		Use:   "cancel",
		Short: "Cancel the jobs of a plan that `submit` put into Slurm's queue; stored steps stay",
		Args:  usage.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := readPlan(plan); err != nil {
				return err
			}
			n, err := cluster.Cancel(cmd.Context(), plan)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s cancelled\n", runs.Plural(n, "job"))
			return err
		},
	}
	registerPlanFile(cmd, &plan)
	return cmd
}
