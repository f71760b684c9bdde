package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"tvps/figures"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
	"tvps/replicate/usage"
)

// State tells how much of a figure is stored.
type State struct {
	Number  int     `json:"number"`
	Name    string  `json:"figure"`
	Title   string  `json:"title"`
	Seeds   []int64 `json:"seeds"`
	Runs    int     `json:"runs"`              // number of runs of the figure
	Stored  int     `json:"stored"`            // number of these that are stored with every step
	Command string  `json:"command,omitempty"` // makes the figure and computes what is missing
	Note    string  `json:"note,omitempty"`    // why the runs of some panels cannot be planned
}

// Short returns the name of the figure in text: "figure 1".
func (s State) Short() string { return fmt.Sprint("figure ", s.Number) }

// stored is the stored part of a figure. To read it computes nothing and changes nothing in the store.
type stored struct {
	State
	plan   []PanelPlan // the panels whose runs can be planned
	report runs.Report // the runs that are stored with every step
	rows   []figures.Row
	evidence
}

// look finds the stored part of a figure, panel by panel: data or a checkpoint may be missing for some panels only.
// Errors: usage errors, and files that cannot be read.
func (l *Lab) look(f paper.Figure, o Options) (stored, error) {
	s := stored{State: stateOf(f, o), report: runs.Report{Results: map[string]*runs.Result{}}}
	wanted, err := l.Panels(f, o)
	if err != nil {
		return stored{}, err
	}
	var notes []string
	for _, panel := range wanted {
		s.Runs += len(panel.Series) * len(panel.Seeds)
		if len(panel.Seeds) > len(s.Seeds) {
			s.Seeds = panel.Seeds
		}
		err := panel.resolve(l)
		if errors.Is(err, usage.Err) {
			return stored{}, err
		}
		if err != nil {
			notes = append(notes, fmt.Sprintf("panel %s: %v", panel.Key, err))
			continue
		}
		if err := s.load(l, panel); err != nil {
			return stored{}, err
		}
	}
	s.Note = withoutFolders(strings.Join(notes, "; "))
	s.evidence, err = l.evidence(o, f, s.plan, complete(s.plan, s.rows, s.report))
	return s, err
}

// Draw draws a figure from the runs that are stored with every step, into the folder o.Out, and prints its tables and
// verdicts. It trains nothing. If runs are missing it returns a *MissingError together with what could be drawn
// without them, if anything. Other errors: usage errors, files that cannot be read or written.
func (l *Lab) Draw(f paper.Figure, o Options) (*Result, error) {
	s, err := l.look(f, o)
	if err != nil {
		return nil, err
	}
	if err := o.CheckOut(); err != nil {
		return nil, err
	}
	r, err := s.result(l, f, o)
	if err == nil && len(r.Figure.Panels) > 0 {
		err = l.write(o, r)
	}
	if err != nil {
		return r, err
	}
	if missing := s.missing(); len(missing) > 0 {
		return r, &MissingError{Stored: s.Stored, Of: s.Runs, Runs: missing}
	}
	return r, nil
}

// DrawAll is Draw for every figure of the catalog, each in its own folder below o.Out.
func (l *Lab) DrawAll(ctx context.Context, o Options) ([]Made, error) {
	if err := l.CheckAll(o); err != nil {
		return nil, err
	}
	o.AllFigures = true
	if err := o.CheckOut(); err != nil {
		return nil, err
	}
	quiet := *l
	quiet.Stdout = io.Discard
	made := l.each(o, func(f paper.Figure, own Options) (*Result, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return quiet.Draw(f, own)
	})
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("interrupted: %w", err)
	}
	return made, nil
}

// MissingError says which runs are not stored with every step.
type MissingError struct {
	Stored, Of int
	Runs       []string // as "panel a: Ours seeds 1, 2"
}

// Error counts the runs and names them.
func (e *MissingError) Error() string {
	return fmt.Sprintf("%d of %s not stored: %s", e.Of-e.Stored, runs.Plural(e.Of, "run"), strings.Join(e.Runs, "; "))
}

// missing names the runs that are not stored, by panel and series.
func (s stored) missing() []string {
	var out []string
	for _, p := range s.plan {
		for _, name := range p.Series {
			var seeds []int64
			for _, job := range p.Jobs {
				if job.Series == name && len(finished(job.Job, s.report).Steps) == 0 {
					seeds = append(seeds, job.Spec.Seed)
				}
			}
			if len(seeds) > 0 {
				out = append(out, fmt.Sprintf("panel %s: %s, seeds %s", p.Key, labels([]string{name})[0], seedText(seeds, ", ")))
			}
		}
	}
	if s.Note != "" {
		out = append(out, s.Note)
	}
	return out
}

// load adds a panel with those of its runs that are stored with every step.
func (s *stored) load(l *Lab, p PanelPlan) error {
	s.plan = append(s.plan, p)
	for _, job := range p.Jobs {
		result, err := l.read(job.Spec, p.metric())
		if errors.Is(err, runs.ErrMissing) { // also for a damaged file
			continue
		}
		if err != nil {
			return err
		}
		one := runs.Report{Results: map[string]*runs.Result{job.Spec.ID(): result}}
		if len(finished(job.Job, one).Steps) > 0 {
			s.Stored++
			s.report.Results[job.Spec.ID()] = result
		}
	}
	s.rows = append(s.rows, p.Rows(s.report)...)
	return nil
}

// judge judges all claims of the figure. A claim is not run if one of its runs is not stored.
func (s stored) judge(f paper.Figure) []Judged {
	shown := shownIn(s.plan)
	var out []Judged
	for _, c := range f.Claims {
		out = append(out, judge(f, c, shown, s.evidence))
	}
	return out
}

// result describes the figure as it can be drawn from the stored runs. It has no panels if nothing can be drawn.
func (s stored) result(l *Lab, f paper.Figure, o Options) (*Result, error) {
	r := &Result{Report: s.report, evidence: s.evidence}
	var plan []PanelPlan
	if plan, r.Rows = drawable(s.plan, complete(s.plan, s.rows, s.report)); len(plan) == 0 {
		return r, nil
	}
	if err := l.describe(f, o, plan, r); err != nil {
		return nil, err
	}
	return r, nil
}

// stateOf returns the state of a figure without its runs.
func stateOf(f paper.Figure, o Options) State {
	return State{Number: f.Number, Name: f.Name(), Title: f.Title, Command: o.Command(f.Command())}
}

// Command returns the command line of a command with these options, without folders, which differ between machines.
func (o Options) Command(name string) string {
	words := []string{"go run ./replicate", name, "--scale", string(o.Scale)}
	if len(o.Seeds) > 0 {
		words = append(words, "--seeds", seedText(o.Seeds, ","))
	}
	for _, override := range o.Overrides {
		words = append(words, "--set", override)
	}
	return strings.Join(words, " ")
}

// seedText lists seeds, four or more consecutive ones as a range: "0,1,2" and "0-7".
func seedText(seeds []int64, comma string) string {
	var parts []string
	for i := 0; i < len(seeds); {
		last := i
		for last+1 < len(seeds) && seeds[last+1] == seeds[last]+1 {
			last++
		}
		if last-i > 2 {
			parts = append(parts, fmt.Sprintf("%d-%d", seeds[i], seeds[last]))
			i = last + 1
			continue
		}
		parts = append(parts, fmt.Sprint(seeds[i]))
		i++
	}
	return strings.Join(parts, comma)
}
