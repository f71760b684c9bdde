package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tvps/data/artifact"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/lab"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

func verifyCommand(c lab.Catalog) *cobra.Command {
	flags := &figureFlags{catalog: c}
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Judge every claim of the paper by the stored runs",
		Long: "Judge every claim of the paper by the stored runs. A claim is \"not run\" if a run or a step of it is\n" +
			"missing. The table is printed and written to a file as JSON. The exit code is 0 also if a claim does\n" +
			"not hold: that is a result.",
		Args: usage.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.verify(cmd) },
	}
	flags.registerSettings(cmd)
	flags.registerJudged(cmd, ofTables)
	flags.registerTables(cmd)
	cmd.Flags().StringVar(&flags.out, "out", filepath.Join("figures", "out", "verify.json"),
		"output file of the table as JSON")
	return cmd
}

func (f *figureFlags) verify(cmd *cobra.Command) error {
	l, o, err := f.openVerify(cmd)
	if err != nil {
		return err
	}
	v, err := l.Verify(cmd.Context(), o)
	if err != nil {
		return err
	}
	if v.Scale == experiment.Tiny {
		v.Claims = []claims.Judged{}
		fmt.Fprintln(cmd.OutOrStdout(), lab.TinyNote)
	}
	if err := lab.WriteJSON(f.out, v); err != nil {
		return err
	}
	if err := v.Print(cmd.OutOrStdout(), givenFlags(cmd, "results", "backend")); err != nil {
		return err
	}
	if _, err = fmt.Fprintf(cmd.OutOrStdout(), "Table: %s\n", f.out); err != nil || cmd.Flags().Changed("scale") {
		return err
	}
	return f.printMedium(cmd, v, o)
}

// printMedium prints how many claims hold if those are counted at the scale medium that have tables of it, in a folder
// of that name below --tables, as README.md counts them.
func (f *figureFlags) printMedium(cmd *cobra.Command, v claims.Verification, o lab.Options) error {
	o.Scale = experiment.Medium
	folder := filepath.Join(f.tables, string(o.Scale))
	if _, err := os.Stat(folder); f.tables == "" || err != nil {
		return nil
	}
	f.tables = folder
	l, err := f.openStored()
	if err != nil {
		return err
	}
	medium, err := l.Verify(cmd.Context(), o)
	if err != nil {
		return err
	}
	medium = medium.Ran()
	var numbers []string
	for _, figure := range medium.Figures {
		numbers = append(numbers, fmt.Sprint(figure.Number))
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "With figures %s at the scale %s, by %s:\n%s.\n", strings.Join(numbers, ", "), o.Scale,
		folder, claims.Total(v.With(medium).Claims))
	return err
}

// openVerify opens the lab of verify.
func (f *figureFlags) openVerify(cmd *cobra.Command) (*lab.Lab, lab.Options, error) {
	o, err := f.options("")
	if err != nil {
		return nil, o, err
	}
	if err := cmp.Or(f.catalog.CheckAll(o), checkResults(cmd), usage.File(f.out)); err != nil {
		return nil, o, err
	}
	if err := artifact.TryCreate(f.out); err != nil {
		return nil, o, fmt.Errorf("cannot write %s (%w): choose another file with --out", f.out, err)
	}
	l, err := f.openStored()
	return l, o, err
}

// checkResults returns a usage error if the user named a folder of runs that does not exist.
func checkResults(cmd *cobra.Command) error {
	flag := cmd.Flags().Lookup("results")
	if _, err := os.Stat(flag.Value.String()); flag.Changed && os.IsNotExist(err) {
		return usage.Errorf("there is no results folder %s: name another with --results", flag.Value)
	}
	return nil
}

// givenFlags returns those of the named flags that the user gave, as text to append to a command.
func givenFlags(cmd *cobra.Command, names ...string) string {
	text := ""
	for _, name := range names {
		if flag := cmd.Flags().Lookup(name); flag.Changed {
			text += " " + quote("--"+name, flag.Value.String())
		}
	}
	return text
}
