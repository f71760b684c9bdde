// Package backtest shows back tests of a user's own table in the cells of a notebook. It is a package of its own,
// because GoNB links each cell: a cell that imports it links the readers of tables and GoMLX.
package backtest

import (
	"cmp"
	"context"
	"fmt"
	"html"
	"os"
	"runtime"
	"strings"

	"tvps/replicate/notebook"
	"tvps/replicate/runs"
	"tvps/replicate/tables/backtest"
)

// Request says what is to be tested.
type Request = backtest.Request

// Run runs a back test of a user's own table, with a progress bar, and shows its rules and its verdict. Finished test
// blocks are in the same store as the runs of figures ($TVPS_RESULTS, or results). If it fails or is interrupted, it
// ends the cell.
func Run(q Request) *backtest.Result {
	r := notebook.Must(run(notebook.Context(), q))
	notebook.Show(shown(r))
	return r
}

func run(ctx context.Context, q Request) (*backtest.Result, error) {
	p, err := backtest.Prepare(q)
	if err != nil {
		return nil, err
	}
	store, err := runs.Open(cmp.Or(os.Getenv("TVPS_RESULTS"), "results"))
	if err != nil {
		return nil, err
	}
	bar := notebook.NewProgress()
	r, err := p.Run(ctx, backtest.Host{Store: store, Workers: runtime.NumCPU(), Log: bar})
	if err != nil {
		return nil, err
	}
	bar.End(fmt.Sprintf("Back test: %d test blocks, all finished.", r.Tuning+r.Tested))
	return r, nil
}

// shown returns the rules with their scores as HTML and as text, and these numbers.
func shown(r *backtest.Result) (page, text string, values map[string]float64) {
	values = map[string]float64{}
	for _, rule := range r.Rules {
		values["backtest/"+rule.Rule+"/"+r.Metric] = rule.Scores[r.Metric]
		values["backtest/"+rule.Rule+"/minus-"+backtest.Forgetting] = rule.AgainstForgetting.Mean
	}
	tested := fmt.Sprintf("%s; model %s. Brackets: 95%% intervals. %s", r.Span(), r.ShortModel(), strings.Join(r.Notes, ". "))
	verdict := html.EscapeString(r.Verdict.Sentence)
	if r.Finding != nil {
		verdict += " " + html.EscapeString(r.Finding.Sentence) + "."
	}
	return fmt.Sprintf("<p><b>%s</b></p>\n%s\n<p>%s</p>", verdict, notebook.Table(r.Table(r.Rules)),
		html.EscapeString(tested)), r.String(), values
}

// Losses returns a line of a [notebook.Chart] through the loss of a rule at each test block of a back test; x is the
// number of the block in [Times].
func Losses(r *backtest.Result, rule string) notebook.Series {
	line := notebook.Series{Name: rule}
	for i, b := range r.Blocks {
		line.X, line.Y = append(line.X, float64(i)), append(line.Y, b.Scores[rule])
	}
	return line
}

// Times are the names of the test blocks, such as months.
func Times(r *backtest.Result) []string {
	var names []string
	for _, b := range r.Blocks {
		names = append(names, b.Time)
	}
	return names
}
