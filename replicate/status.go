package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/lab"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

func statusCommand(c lab.Catalog) *cobra.Command {
	flags := &figureFlags{catalog: c}
	cmd := &cobra.Command{
		Use:   "status [figure ... | all]",
		Short: "Show which runs of the figures are done, running (and where), partial, failed or missing",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			chosen, err := flags.figures(cmd, args)
			if err != nil {
				return err
			}
			o, err := flags.options("")
			if err != nil {
				return err
			}
			all, err := flags.states(chosen, o)
			if err != nil {
				return err
			}
			store, err := runs.Open(flags.results)
			if err != nil {
				return err
			}
			unreadable, err := store.Unreadable()
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, r := range all {
				id := r.job.Spec.ID()
				if r.state.Kind == runs.Missing {
					id = "" // it depends on the machine that will compute the run
				}
				named := r.job.Spec
				named.Learner = r.job.Series // figures may have several of one learner
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.panel.Figure, r.panel.Key, named, id, r.state)
			}
			for _, path := range unreadable {
				fmt.Fprintf(w, "damaged, counts as missing: %s\n", path)
			}
			if _, err := os.Stat(flags.results); errors.Is(err, fs.ErrNotExist) {
				fmt.Fprintf(w, "there is no folder %s: the first run that is computed makes it\n", flags.results)
			}
			fmt.Fprintf(w, "scale %s: %s\n", o.Scale, summary(all))
			return w.Flush()
		},
	}
	flags.registerPlan(cmd, c.Figures...)
	flags.registerJudged(cmd, "")
	return cmd
}

// figures returns the named figures, or all of the scale if none or "all" is named. Errors: an unknown name.
func (f *figureFlags) figures(cmd *cobra.Command, names []string) (out []paper.Figure, err error) {
	if len(names) == 0 || slices.Equal(names, []string{"all"}) {
		return f.catalog.FiguresAt(experiment.Scale(f.scale)), nil
	}
	var known []string
	for _, figure := range f.catalog.Figures {
		known = append(known, figure.Command())
		if slices.Contains(names, figure.Command()) {
			out = append(out, figure)
		}
	}
	return out, usage.Known(cmd.CommandPath()+": there is no figure", names, known)
}

// runState is a run that a panel wants, and what is stored of it.
type runState struct {
	panel  claims.Panel
	job    runs.Wanted
	images bool // see lab.OfImages
	state  runs.State
}

// states lists the runs of figures, whichever machine computed them or computes them now. If --backend names a backend,
// they are those of it and of the others named.
func (f *figureFlags) states(figures []paper.Figure, o lab.Options, others ...string) ([]runState, error) {
	l, err := f.openStored()
	if err != nil {
		return nil, err
	}
	if l.Index.Backends != nil {
		l.Index.Backends = append(l.Index.Backends, others...)
	}
	o.AllFigures = len(figures) > 1
	var out []runState
	for _, figure := range figures {
		plan, err := l.Plan(figure, o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", figure.Name(), err)
		}
		for _, p := range plan {
			ofImages, err := lab.OfImages(p)
			if err != nil {
				return nil, err
			}
			for _, job := range p.Jobs {
				out = append(out, runState{p, job, ofImages, l.Store.State(job.Spec, job.Steps)})
			}
		}
	}
	return out, nil
}

// distinct returns the runs, each once, as the panel sees it that lacks most steps: figures share some.
func distinct(all []runState) (out []runState) {
	at := map[string]int{}
	for _, r := range all {
		id := r.job.Spec.ID()
		i, again := at[id]
		switch {
		case !again:
			at[id] = len(out)
			out = append(out, r)
		case r.missing() > out[i].missing():
			out[i] = r
		}
	}
	return out
}

// missing is the number of steps that are not stored.
func (r runState) missing() int { return r.state.Of - r.state.Steps }

// summary is as "3 done, 1 running, 4 missing; 35 of 80 steps are missing".
func summary(all []runState) string {
	count, steps, missing := map[string]int{}, 0, 0
	for _, r := range distinct(all) {
		count[string(r.state.Kind)]++
		steps += r.state.Of
		missing += r.missing()
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(count)) {
		parts = append(parts, fmt.Sprintf("%d %s", count[kind], kind))
	}
	text := strings.Join(parts, ", ")
	if missing > 0 {
		text += fmt.Sprintf("; %d of %s missing", missing, runs.Plural(steps, "step"))
	}
	return text
}
