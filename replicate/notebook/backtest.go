package notebook

import (
	"cmp"
	"context"
	"fmt"
	"html"
	"os"
	"runtime"
	"strings"

	"tvps/figures"
	"tvps/gomlx_models/backend"
	"tvps/replicate/tables"
)

// Backtest runs a back test of a user's own table, with a progress bar, and shows its rules and its verdict. Finished
// test blocks are in the same store as the runs of figures ($TVPS_RESULTS, or results). If it fails or is interrupted,
// it ends the cell.
func Backtest(q tables.BacktestRequest) *tables.Backtest {
	r := Must(backTest(Context(), q))
	showBacktest(output, r)
	return r
}

func backTest(ctx context.Context, q tables.BacktestRequest) (*tables.Backtest, error) {
	p, err := tables.PrepareBacktest(q)
	if err != nil {
		return nil, err
	}
	b, err := backend.Open(ctx, "", backend.Options{Log: os.Stderr})
	if err != nil {
		return nil, err
	}
	defer b.Finalize()
	bar := newProgress(output)
	host, err := tables.OpenHost(b, cmp.Or(os.Getenv("TVPS_RESULTS"), "results"), runtime.NumCPU(), bar)
	if err != nil {
		return nil, err
	}
	r, err := p.Run(ctx, host)
	if err != nil {
		return nil, err
	}
	bar.end(fmt.Sprintf("Back test: %d test blocks, all finished.", r.Tuning+r.Tested))
	return r, nil
}

// showBacktest shows the rules with their scores, and emits these numbers.
func showBacktest(out sink, r *tables.Backtest) {
	values := map[string]float64{}
	for _, rule := range r.Rules {
		values["backtest/"+rule.Rule+"/"+r.Metric] = rule.Scores[r.Metric]
		values["backtest/"+rule.Rule+"/minus-"+tables.Forgetting] = rule.AgainstForgetting.Mean
	}
	tested := fmt.Sprintf("%s; model %s. Brackets: 95%% intervals. %s", r.Span(), r.ShortModel(), strings.Join(r.Notes, ". "))
	verdict := html.EscapeString(r.Verdict.Sentence)
	if r.Finding != nil {
		verdict += " " + html.EscapeString(r.Finding.Sentence) + "."
	}
	show(out, fmt.Sprintf("%s\n<p>%s</p>\n<p><b>%s</b></p>", table(r.Table(r.Rules)), html.EscapeString(tested), verdict), r.String(),
		values)
}

// Losses returns a line for [Plot] through the loss of a rule at each test block of a back test.
func Losses(r *tables.Backtest, rule string) figures.Series {
	var x, loss []float64
	for i, b := range r.Blocks {
		x, loss = append(x, float64(i+1)), append(loss, b.Scores[rule])
	}
	return Curve(rule, x, loss)
}
