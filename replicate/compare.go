package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"tvps/replicate/experiment"
	"tvps/replicate/export"
	"tvps/replicate/runs"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

// compareFlags are the flags of compare.
type compareFlags struct {
	whereA, whereB []string
	all, json      bool
}

func compareCommand() *cobra.Command {
	var c compareFlags
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare the runs of two results folders",
		Long: "Compare the runs of two results folders: the differences B minus A, paired by seed and step, for\n" +
			"each experiment, learner and settings that both have. Backend, plugin, protocol and checkpoint\n" +
			"need not match. Exit 1 if there is nothing to compare or a file is damaged.",
		Example: "  replicate compare results other\n  replicate compare results results --a epochs=20 --b epochs=5",
		Args:    folders(2, 2),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.run(cmd, args) },
	}
	cmd.Flags().StringArrayVar(&c.whereA, "a", nil,
		"filter name=value of A's runs, by setting, experiment or learner; B need not match it; repeatable")
	cmd.Flags().StringArrayVar(&c.whereB, "b", nil, "the same filter of B's runs")
	cmd.Flags().BoolVar(&c.all, "all", false, "list the runs that only one folder has, with settings")
	cmd.Flags().BoolVar(&c.json, "json", false, "print the comparison as JSON")
	return cmd
}

// folders checks the number of folders among the arguments; most = 0 is no limit.
func folders(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || most > 0 && len(args) > most {
			return usage.Errorf("`%s` takes results folders, but got %d of them (see `%s --help`)",
				cmd.UseLine(), len(args), cmd.CommandPath())
		}
		return nil
	}
}

func (c *compareFlags) run(cmd *cobra.Command, args []string) error {
	a, err := openSide("A", args[0], c.whereA)
	if err != nil {
		return err
	}
	b, err := openSide("B", args[1], c.whereB)
	if err != nil {
		return err
	}
	found, err := export.Compare(cmd.Context(), a, b)
	if err != nil {
		return filterUsage(err)
	}
	if err := c.print(cmd.OutOrStdout(), args, found); err != nil {
		return err
	}
	if len(found.Groups) == 0 {
		err = noPairs(found)
	}
	return printProblems(cmd.ErrOrStderr(), found.Problems, err, "left out of the comparison")
}

// openSide opens a folder with the filter of its runs. Errors: a wrong filter, a missing folder.
func openSide(name, folder string, where []string) (export.Side, error) {
	side := export.Side{Name: name, Where: map[string]string{}}
	for _, text := range where {
		key, value, ok := strings.Cut(text, "=")
		if _, twice := side.Where[key]; !ok || key == "" || twice {
			return export.Side{}, usage.Errorf("--%s %s: give name=value, and each name once", strings.ToLower(name),
				text)
		}
		side.Where[key] = value
	}
	store, err := runs.View(folder)
	if err != nil {
		return export.Side{}, usage.Error(err)
	}
	side.Store = store
	return side, nil
}

// filterUsage marks the error of a filter that matches no run as a usage error and names valid values.
func filterUsage(err error) error {
	var filter *export.FilterError
	if !errors.As(err, &filter) {
		return err
	}
	switch {
	case len(filter.Names) == 0:
		return usage.Errorf("%w: it has no finished run", err)
	case len(filter.Values) == 0:
		return usage.Errorf("%w; did you mean %q?", err, experiment.Nearest(filter.Name, filter.Names))
	}
	return usage.Errorf("%w; there are %s", err, strings.Join(filter.Values, ", "))
}

// noPairs returns the error of two folders without a common run. It names the nearest pair.
func noPairs(c *export.Comparison) error {
	text := fmt.Sprintf("none of the finished runs has a partner (A has %d, B has %d)", c.RunsA, c.RunsB)
	if nearest := c.Nearest(); nearest != "" {
		text += "; the nearest ones differ: " + nearest + " (see --a and --b)"
	}
	return errors.New(text)
}

// print writes the comparison as text or JSON.
func (c *compareFlags) print(w io.Writer, folders []string, found *export.Comparison) error {
	if c.json {
		problems := []string{}
		for _, problem := range found.Problems {
			problems = append(problems, problem.Error())
		}
		out := json.NewEncoder(w)
		out.SetIndent("", "  ")
		return out.Encode(struct {
			A string `json:"folder_a"`
			B string `json:"folder_b"`
			*export.Comparison
			Problems []string `json:"problems"`
		}{folders[0], folders[1], found, problems})
	}
	const head = "A is %s (finished runs: %d), B is %s (%d). Differences are B minus A, paired by seed and step.\n\n"
	if _, err := fmt.Fprintf(w, head, folders[0], found.RunsA, folders[1], found.RunsB); err != nil {
		return err
	}
	return found.Print(w, c.all)
}
