package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"tvps/figures"
	"tvps/figures/looks"
	"tvps/replicate/claims"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
	"tvps/replicate/usage"

	"github.com/gomlx/gomlx/support/xslices"
)

// A figure is made in steps, each of which needs the values of the ones before alone: its panels are declared
// (Catalog.Panels), their runs collected (claims.Collect after computing, Lab.stored without), claims judged by these
// (claims.Judge), what is drawn gathered (drawings) and described, and the files written. Make, Draw, drafts and Verify
// are these steps, or the first of them.

// Result is a finished figure. It has no panels if nothing can be drawn.
type Result struct {
	Figure figures.Figure
	Rows   []figures.Row
	Claims []claims.Judged
	Record claims.Record // the contents of provenance.json
	Report runs.Report   // of Make: the runs that were computed or taken from the store
}

// Make computes the missing runs of a figure, draws it into the folder o.Out, and prints its tables and verdicts. If
// runs failed it returns an error together with a result of what could be drawn without them. Meanwhile o.Out has a
// draft with the panels whose runs have ended. If Make is interrupted, the draft stays.
func (l *Lab) Make(ctx context.Context, f paper.Figure, o Options) (*Result, error) {
	if err := o.CheckOut(); err != nil {
		return nil, err
	}
	p, err := l.prepare(f, o)
	if err != nil {
		return nil, err
	}
	// By seeds, so that all panels can be seen early.
	d := &draft{planned: p}
	report, err := l.execute(ctx, ranked(p.panels, true), o.Workers, func(report runs.Report) string {
		return d.draw(l, report)
	})
	if err != nil {
		return nil, err
	}
	return l.finish(p, report)
}

// planned is a figure whose runs are planned.
type planned struct {
	figure  paper.Figure
	options Options
	panels  []claims.Panel
}

// prepare plans a figure's runs. Errors: those of Plan, and files of others in the output folder.
func (l *Lab) prepare(f paper.Figure, o Options) (*planned, error) {
	panels, err := l.Plan(f, o)
	if err == nil {
		err = o.keepOthers(f)
	}
	return &planned{f, o, panels}, err
}

// finish draws a figure whose runs have ended. The error names those that failed.
func (l *Lab) finish(p *planned, report runs.Report) (*Result, error) {
	panels := xslices.Map(claims.CollectAll(p.panels, report), claims.Collected.Look)
	r, err := l.drawPanels(p.figure, p.options, panels)
	if r == nil {
		return nil, err
	}
	r.Report = report
	if err != nil {
		return r, err
	}
	return r, report.Err()
}

// Draw draws a figure from the runs that are stored with every step, into the folder o.Out, and prints its tables and
// verdicts. It trains nothing. If runs are missing it returns an error that names them, together with what could be
// drawn without them, if anything. Other errors: usage errors, files that cannot be read or written.
func (l *Lab) Draw(f paper.Figure, o Options) (*Result, error) {
	panels, state, err := l.stored(f, o)
	if err == nil && state.Stored == 0 {
		err = l.nothing(f, o)
	}
	if err == nil {
		err = o.keepOthers(f)
	}
	if err != nil {
		return nil, err
	}
	r, err := l.drawPanels(f, o, panels)
	if err != nil {
		return r, err
	}
	if missing := missing(panels, state); len(missing) > 0 {
		return r, fmt.Errorf("%d of %s not stored: %s%s", state.Runs-state.Stored, runs.Plural(state.Runs, "run"),
			strings.Join(missing, "; "), l.elsewhere(f, o))
	}
	return r, nil
}

// nothing is the usage error of a figure of which no run is stored.
func (l *Lab) nothing(f paper.Figure, o Options) error {
	what := fmt.Sprintf("there is no run of %s at the scale %s with these settings in the folder of runs", f.Name(), o.Scale)
	if l.Tables == nil {
		return usage.Errorf("%s: compute some first", what)
	}
	what += " or in " + l.Tables.Dir
	return usage.Errorf("%s%s", what, cmp.Or(l.elsewhere(f, o), ": name tables of that scale"))
}

// elsewhere says that the tables of a figure's scale have a folder of their own below that of the tables; or nothing.
func (l *Lab) elsewhere(f paper.Figure, o Options) string {
	if l.Tables == nil {
		return ""
	}
	has := filepath.Join(l.Tables.Dir, string(o.Scale))
	if _, err := os.Stat(filepath.Join(has, f.Name())); err != nil {
		return ""
	}
	return fmt.Sprintf(": tables of the scale %s are in %s", o.Scale, has)
}

// drawPanels draws a figure from the runs that were collected.
func (l *Lab) drawPanels(f paper.Figure, o Options, panels []claims.Collected) (*Result, error) {
	judged, err := o.besideGallery(o.judge(f, panels))
	if err != nil {
		return nil, err
	}
	return l.draw(f, o, panels, judged, nil)
}

// stored collects the stored runs of a figure, panel by panel: data or a checkpoint may be missing for some panels
// only. It changes nothing in the store. Errors: usage errors, and files that cannot be read.
func (l *Lab) stored(f paper.Figure, o Options) ([]claims.Collected, claims.State, error) {
	state := claims.State{Number: f.Number, Name: f.Name(), Title: f.Title, Command: o.Command(f.Command())}
	wanted, err := l.Panels(f, o)
	if err != nil {
		return nil, state, err
	}
	var out []claims.Collected
	var notes []string
	for _, p := range wanted {
		state.Runs += len(p.Series) * len(p.Seeds)
		if err := l.AddJobs(&p); errors.Is(err, usage.Err) {
			return nil, state, err
		} else if err != nil {
			notes = append(notes, fmt.Sprintf("panel %s: %v", p.Key, err))
		} else {
			c, err := l.Load(p)
			if err != nil {
				return nil, state, err
			}
			for _, job := range c.Jobs {
				if c.Results[job.Spec.ID()] != nil {
					state.Stored++
				}
			}
			c = c.Look()
			p, out = c.Panel, append(out, c)
		}
		if p.Scale == "" && len(p.Seeds) > len(state.Seeds) { // a panel of another scale says so itself
			state.Seeds = p.Seeds
		}
	}
	state.Note = withoutFolders(strings.Join(notes, "; "))
	return out, state, nil
}

// missing names the runs that are not stored, by panel and series, and the panels whose runs cannot be planned.
func missing(panels []claims.Collected, state claims.State) []string {
	var out []string
	for _, c := range panels {
		for _, name := range c.Series {
			var seeds []int64
			for _, job := range c.Jobs {
				if job.Series == name && c.Results[job.Spec.ID()] == nil {
					seeds = append(seeds, job.Spec.Seed)
				}
			}
			if len(seeds) > 0 {
				out = append(out, fmt.Sprintf("panel %s: %s, seeds %s", c.Key, looks.Of(name).Label,
					claims.FormatSeeds(seeds, ", ")))
			}
		}
	}
	if state.Note != "" {
		out = append(out, state.Note)
	}
	return out
}

var folders = regexp.MustCompile(`(^|[\s"(=])/(?:[^\s/:"]+/)*`)

// withoutFolders shortens the absolute paths in a text to their last names.
func withoutFolders(text string) string { return folders.ReplaceAllString(text, "$1") }
