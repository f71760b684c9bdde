package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"tvps/data/artifact"
	"tvps/figures"
	"tvps/replicate/claims"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
)

// freshness is how often the pages of drafts get a new time, by which they see that the program computes: see draft.js
// of package figures.
const freshness = 10 * time.Second

// draft is a figure that is drawn while its runs are computed: the first seeds of a panel, then the panels whose runs
// have ended, without verdicts, for which all panels are needed.
type draft struct {
	figure  paper.Figure
	options Options
	plan    []claims.Panel

	mutex  sync.Mutex // guards what follows
	drawn  *Result    // as it was last drawn; nil before that
	panels int        // number of panels whose runs had ended then
}

// compute computes the missing runs of figures, those of the panel with the least work first, and draws a draft of a
// figure whenever the runs of one of its panels have ended. The drafts of a computation that does not reach its end say
// so. The last drawing is left to the caller.
func (l *Lab) compute(ctx context.Context, workers int, drafts ...*draft) (runs.Report, error) {
	var plan []claims.Panel
	for _, d := range drafts {
		plan = append(plan, d.plan...)
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	go keepFresh(working, drafts)
	report, err := l.execute(ctx, plan, workers, func(report runs.Report) string {
		var lines []string
		for _, d := range drafts {
			if line := d.draw(l, report, len(drafts) == 1); line != "" {
				lines = append(lines, line)
			}
		}
		return strings.Join(lines, "\n")
	})
	if err != nil || report.Interrupted {
		for _, d := range drafts {
			d.end()
		}
	}
	return report, err
}

// keepFresh renews the time of all pages that are drawn, until ctx is cancelled.
func keepFresh(ctx context.Context, drafts []*draft) {
	ticker := time.NewTicker(freshness)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			for _, d := range drafts {
				d.touch(now)
			}
		}
	}
}

// touch renews the time of the page if there is one.
func (d *draft) touch(now time.Time) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.drawn != nil {
		_ = os.Chtimes(d.page(), now, now) // without it the page stops to reload itself
	}
}

func (d *draft) page() string { return filepath.Join(d.options.Out, "index.html") }

// draw draws the panels whose runs have ended if there are more of them than before, and returns a line that says so.
// The first picture is that of the first seeds of a panel. A single figure that has all its panels is left to its last
// drawing.
func (d *draft) draw(l *Lab, report runs.Report, single bool) (line string) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	var ready []claims.Collected
	var missing []string
	for _, c := range collect(d.plan, report) {
		if ended(c, report.Failed) {
			ready = append(ready, c)
		} else {
			missing = append(missing, c.Key)
		}
	}
	if len(ready) == 0 && d.drawn == nil {
		ready = d.begun(report)
	} else if len(ready) == d.panels {
		return ""
	}
	if len(ready) == 0 || len(missing) == 0 && single {
		return ""
	}
	d.panels = len(d.plan) - len(missing)
	judged := claims.Figure{Figure: d.figure, Panels: ready, Evidence: claims.AsDrawn(ready)} // by no claim
	r, err := l.describe(d.options, judged, &figures.Draft{Missing: missing, Running: true})
	if err == nil && len(r.Figure.Panels) > 0 {
		err = l.write(d.options, r)
	}
	switch {
	case err != nil:
		return fmt.Sprintf("%s cannot be drawn yet: %v", d.figure.Name(), err)
	case len(r.Figure.Panels) == 0:
		return ""
	}
	d.drawn = r
	var keys []string
	for _, panel := range r.Figure.Panels {
		key := panel.Key
		if slices.Contains(missing, key) {
			i := slices.IndexFunc(ready, func(c claims.Collected) bool { return c.Key == key })
			key += fmt.Sprintf(" (%s)", runs.Plural(len(ready[i].Seeds), "seed"))
		}
		keys = append(keys, key)
	}
	line = fmt.Sprintf("%s: %s drawn: %s", d.figure.Name(), strings.Join(keys, ", "), d.page())
	if len(missing) > 0 {
		line += fmt.Sprintf(" (%s to come)", strings.Join(missing, ", "))
	}
	return line
}

// end makes the page say that nothing is being computed. If that fails, the page finds out by its file's time.
func (d *draft) end() {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.drawn == nil {
		return
	}
	d.drawn.Figure.Draft.Running = false
	if page, err := figures.Page(d.drawn.Figure); err == nil {
		_ = artifact.Replace(d.page(), page, 0o644)
	}
}

// begun returns the panels of which some seeds have finished with every series, with these seeds alone.
func (d *draft) begun(report runs.Report) []claims.Collected {
	var out []claims.Collected
	for _, c := range collect(d.plan, report) {
		p := c.Panel
		p.Seeds = slices.DeleteFunc(slices.Clone(p.Seeds), func(seed int64) bool {
			return slices.ContainsFunc(p.Jobs, func(job runs.Wanted) bool {
				return job.Spec.Seed == seed && c.Results[job.Spec.ID()] == nil
			})
		})
		p.Jobs = slices.DeleteFunc(slices.Clone(p.Jobs), func(job runs.Wanted) bool {
			return !slices.Contains(p.Seeds, job.Spec.Seed)
		})
		if len(p.Seeds) > 0 {
			out = append(out, claims.Collect(p, c.Results))
		}
	}
	return out
}

// ended tells whether every run of the panel has finished or failed.
func ended(c claims.Collected, failed []runs.Failure) bool {
	return !slices.ContainsFunc(c.Jobs, func(job runs.Wanted) bool {
		id := job.Spec.ID()
		return c.Results[id] == nil && !slices.ContainsFunc(failed, func(f runs.Failure) bool { return f.Spec.ID() == id })
	})
}
