package natural

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"tvps/data/artifact"
	"tvps/data/statistics"
	"tvps/replicate/tables"
	"tvps/replicate/tables/backtest"
)

// Losses are what the rules lost on a table in a suite: all that the report rests on.
type Losses struct {
	Table  Dataset
	Suite  Suite
	Metric string
	Times  []string    // of the test blocks that count
	Rows   []int       // of each
	Rules  []string    // that train a model
	Values [][]float64 // [rule][test block]
	// Extra has other numbers of each test block, by the names of their columns: see heldOut and window.
	Extra map[string][]float64
	Drift *Drift // of the table, in suites with omega

	against map[[2]string]statistics.Estimate // what Against has found: a bootstrap each
}

// Columns of Losses.Extra. extra begins their names.
const (
	extra   = "#"
	heldOut = extra + "held-out loss of g" // of x and y
	window  = extra + "window"             // that is chosen at last, in blocks
)

// lossesOf takes them from a back test.
func lossesOf(b *backtest.Result) *Losses {
	l := &Losses{Metric: b.Metric, Extra: map[string][]float64{}}
	last := 0.
	for _, r := range b.Rules {
		if r.Rule == backtest.Window {
			last = float64(r.Window)
		}
		if r.Rule != backtest.NoChange && r.Rule != backtest.Majority {
			l.Rules = append(l.Rules, r.Rule)
		}
	}
	l.Values = make([][]float64, len(l.Rules))
	for _, block := range b.Blocks {
		l.Times, l.Rows = append(l.Times, tables.ShortName(block.Time)), append(l.Rows, block.Rows)
		for i, rule := range l.Rules {
			l.Values[i] = append(l.Values[i], block.Scores[rule])
		}
		if g := block.HeldOut; g != 0 {
			l.Extra[heldOut], l.Extra[window] = append(l.Extra[heldOut], g), append(l.Extra[window], last)
		}
	}
	return l
}

// lossFile is where they are stored: CSV with the columns METRIC (the time of a test block), rows, each rule, and those
// of Extra.
func lossFile(folder string, t Dataset, s Suite) string {
	return filepath.Join(folder, t.Name, s.Name+".csv")
}

func (l *Losses) write(folder string, t Dataset, s Suite) error {
	others := slices.Sorted(maps.Keys(l.Extra))
	columns := slices.Clone(l.Values)
	for _, name := range others {
		columns = append(columns, l.Extra[name])
	}
	records := [][]string{slices.Concat([]string{l.Metric, "rows"}, l.Rules, others)}
	for b, time := range l.Times {
		record := []string{time, strconv.Itoa(l.Rows[b])}
		for _, v := range columns {
			record = append(record, strconv.FormatFloat(v[b], 'g', 6, 64))
		}
		records = append(records, record)
	}
	var text bytes.Buffer
	if err := csv.NewWriter(&text).WriteAll(records); err != nil {
		return err
	}
	path := lossFile(folder, t, s)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return artifact.Replace(path, text.Bytes(), 0o644)
}

// Read reads what is stored of all tables and suites, in their order.
func Read(folder string) (all []*Losses, err error) {
	for _, s := range Suites {
		for _, t := range Datasets {
			l, err := read(lossFile(folder, t, s))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			l.Table, l.Suite = t, s
			if len(s.Kinds) > 0 && !t.Test {
				if l.Extra[heldOut] == nil {
					return nil, fmt.Errorf("%s has no column %s: compute it again", lossFile(folder, t, s), heldOut)
				}
				if l.Drift, err = readDrift(driftFile(folder, t)); err != nil {
					return nil, err
				}
			}
			all = append(all, l)
		}
	}
	return all, nil
}

func read(path string) (*Losses, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(records) < 2 || len(records[0]) < 3 {
		return nil, errors.Join(fmt.Errorf("%s has no losses: compute it again", path), err)
	}
	l := &Losses{Metric: records[0][0], Rules: records[0][2:], Values: make([][]float64, len(records[0])-2),
		Extra: map[string][]float64{}}
	if !slices.Contains(l.Rules, backtest.Uniform) || !slices.Contains(l.Rules, backtest.Forgetting) {
		return nil, fmt.Errorf("%s: there are no columns %s and %s: compute it again", path, backtest.Uniform, backtest.Forgetting)
	}
	for _, record := range records[1:] {
		rows, err := strconv.Atoi(record[1])
		l.Times, l.Rows = append(l.Times, record[0]), append(l.Rows, rows)
		for i, cell := range record[2:] {
			v, failed := strconv.ParseFloat(cell, 64)
			l.Values[i], err = append(l.Values[i], v), errors.Join(err, failed)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w: compute it again", path, err)
		}
	}
	for n := len(l.Rules) - 1; strings.HasPrefix(l.Rules[n], extra); n-- {
		l.Extra[l.Rules[n]] = l.Values[n]
		l.Rules, l.Values = l.Rules[:n], l.Values[:n]
	}
	return l, nil
}

// Of are the losses of a rule, nil if it took no part.
func (l *Losses) Of(rule string) []float64 {
	if i := slices.Index(l.Rules, rule); i >= 0 {
		return l.Values[i]
	}
	return nil
}

// mean is the loss of a rule over all rows.
func (l *Losses) mean(rule string) float64 {
	sum, rows := 0., 0.
	for b, v := range l.Of(rule) {
		sum, rows = sum+v*float64(l.Rows[b]), rows+float64(l.Rows[b])
	}
	return sum / rows
}

// best is the rule with the lowest loss: the best in hindsight.
func (l *Losses) best() string {
	return slices.MinFunc(l.Rules, func(a, b string) int { return cmp.Compare(l.mean(a), l.mean(b)) })
}

// Regret is the loss of a rule above that of the best in hindsight, relative to that of equal weights.
func (l *Losses) Regret(rule string) float64 {
	return (l.mean(rule) - l.mean(l.best())) / l.mean(backtest.Uniform)
}

// Against is the loss of a rule minus that of another, relative to the other's, with its 95% interval over runs of
// consecutive test blocks.
func (l *Losses) Against(rule, other string) statistics.Estimate {
	pair := [2]string{rule, other}
	if found, known := l.against[pair]; known {
		return found
	}
	if l.against == nil {
		l.against = map[[2]string]statistics.Estimate{}
	}
	d, scale := make([]float64, len(l.Rows)), 1/l.mean(other)
	floats.SubTo(d, l.Of(rule), l.Of(other))
	alone, _ := statistics.BlockBootstrap([][]float64{d}, l.Rows, seed)
	e := alone[0]
	l.against[pair] = statistics.Estimate{Mean: e.Mean * scale, Low: e.Low * scale, High: e.High * scale}
	return l.against[pair]
}
