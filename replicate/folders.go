package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"

	"tvps/data/artifact"
	"tvps/replicate/runs"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

// exportFlags are the flags of export.
type exportFlags struct{ folder, out string }

func exportCommand() *cobra.Command {
	var e exportFlags
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write all finished runs as one table, for pandas, DuckDB, polars or a spreadsheet",
		Long: "Write all finished runs as one table, CSV or Parquet: one row for each measurement, with the\n" +
			"columns " + strings.Join(exportedNames(), ", ") + ".",
		Args: usage.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return e.run(cmd)
		},
	}
	cmd.Flags().StringVar(&e.folder, "results", "results", "folder of the runs")
	cmd.Flags().StringVar(&e.out, "out", "-", "output file, Parquet if it ends in .parquet, otherwise CSV; - for standard output")
	return cmd
}

func (e *exportFlags) run(cmd *cobra.Command) error {
	if err := cmp.Or(usage.File(e.out), keepForeign(cmd, e.out, "--out", exportedNames()...)); err != nil {
		return err
	}
	ctx, stdout, stderr := cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	store, err := runs.View(e.folder)
	if err != nil {
		return usage.Errorf("%w: name another with --results", err)
	}
	var done exported
	write := func(w io.Writer) (err error) {
		done, err = exportRuns(ctx, store, w, strings.HasSuffix(e.out, ".parquet"))
		return err
	}
	if e.out == "-" {
		err = write(stdout)
	} else if err = writeFile(e.out, write); err == nil {
		_, err = fmt.Fprintf(stdout, "%s: runs: %d, rows: %d\n", e.out, done.runs, done.rows)
	}
	if done.unfinished > 0 {
		fmt.Fprintf(stderr, "Unfinished runs, not in the table: %d\n", done.unfinished)
	}
	return printProblems(stderr, done.problems, err, "left out of the table")
}

// writeFile calls write with a temporary file and renames it to path once it is complete. An existing path that is no
// regular file, such as a pipe, is written to directly.
func writeFile(path string, write func(io.Writer) error) error {
	unwritable := func(err error) error {
		return fmt.Errorf("cannot write %s, choose another with --out: %w", path, err)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return unwritable(err)
		}
		defer file.Close()
		return write(file)
	}
	file, err := artifact.Create(path, 0o644)
	if err != nil {
		return unwritable(err)
	}
	defer file.Cleanup() // does nothing after the rename
	if err := write(file); err != nil {
		return err
	}
	if err := artifact.Commit(file); err != nil {
		return unwritable(err)
	}
	return nil
}

// printProblems prints the problems, one line each. It returns err or, if that is nil, an error with the number of
// problems and what they are left out of.
func printProblems(w io.Writer, problems []error, err error, leftOut string) error {
	for _, problem := range problems {
		fmt.Fprintln(w, problem)
	}
	if err == nil && len(problems) > 0 {
		err = fmt.Errorf("problems: %d, listed above and %s", len(problems), leftOut)
	}
	return err
}
