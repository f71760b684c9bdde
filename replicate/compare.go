package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"tvps/replicate/export"
	"tvps/replicate/runs"
	"tvps/replicate/settings"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

// comparing is one call of compare.
type comparing struct {
	whereA, whereB []string
	all, json      bool
}

func compareCommand() *cobra.Command {
	var c comparing
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Set the runs of two results folders against each other",
		Long: "Set the runs of two results folders against each other: for each experiment, learner and\n" +
			"settings that both have, the differences B minus A, paired by seed and step. Backend, plugin,\n" +
			"protocol and checkpoint need not match. Exit 1 if there is nothing to compare, or a damaged file.",
		Example: "  replicate compare results other\n  replicate compare results results --a epochs=20 --b epochs=5",
		Args:    folders(2, 2),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.run(cmd, args) },
	}
	cmd.Flags().StringArrayVar(&c.whereA, "a", nil, "of A only runs with this name=value: a setting, experiment or learner, which then need not match; repeatable")
	cmd.Flags().StringArrayVar(&c.whereB, "b", nil, "the same for B")
	cmd.Flags().BoolVar(&c.all, "all", false, "list what only one side has, with settings")
	cmd.Flags().BoolVar(&c.json, "json", false, "print JSON")
	return cmd
}

// folders demands a number of arguments; most 0 means any.
func folders(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || most > 0 && len(args) > most {
			return usage.Errorf("`%s` takes results folders, but got %d of them (see `%s --help`)", cmd.UseLine(), len(args), cmd.CommandPath())
		}
		return nil
	}
}

func (c *comparing) run(cmd *cobra.Command, args []string) error {
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
		return asked(err)
	}
	if err := c.print(cmd.OutOrStdout(), args, found); err != nil {
		return err
	}
	if len(found.Groups) == 0 {
		err = nothing(found)
	}
	return listed(cmd.ErrOrStderr(), found.Problems, err, "left out of the comparison")
}

// openSide opens a folder with its filter.
func openSide(name, folder string, where []string) (export.Side, error) {
	side := export.Side{Name: name, Where: map[string]string{}}
	for _, text := range where {
		key, value, ok := strings.Cut(text, "=")
		if _, twice := side.Where[key]; !ok || key == "" || twice {
			return side, usage.Errorf("--%s %s: give name=value, and each name once", strings.ToLower(name), text)
		}
		side.Where[key] = value
	}
	store, err := runs.View(folder)
	side.Store = store
	return side, usage.Error(err)
}

// asked turns a filter that no run passes into a mistake of the user's.
func asked(err error) error {
	var filter *export.FilterError
	if !errors.As(err, &filter) {
		return err
	}
	switch {
	case len(filter.Names) == 0:
		return usage.Errorf("%w: it has no finished run", err)
	case len(filter.Values) == 0:
		return usage.Errorf("%w; did you mean %q?", err, settings.Nearest(filter.Name, filter.Names))
	}
	return usage.Errorf("%w; there are %s", err, strings.Join(filter.Values, ", "))
}

// nothing says why there is nothing to compare.
func nothing(c *export.Comparison) error {
	text := fmt.Sprintf("none of the finished runs has a partner (A has %d, B has %d)", c.RunsA, c.RunsB)
	if nearest := c.Nearest(); nearest != "" {
		text += "; the nearest differ so: " + nearest + " (see --a and --b)"
	}
	return errors.New(text)
}

// print writes the comparison as text or JSON.
func (c *comparing) print(w io.Writer, folders []string, found *export.Comparison) error {
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
	if _, err := fmt.Fprintf(w, "A is %s (finished runs: %d), B is %s (%d). Differences are B minus A, paired by seed and step.\n\n", folders[0], found.RunsA, folders[1], found.RunsB); err != nil {
		return err
	}
	return found.Print(w, c.all)
}
