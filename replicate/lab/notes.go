package lab

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tvps/figures"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
)

// ends compares the learners where the steps end, by each seed's mean over the last quarter of them, if the protocol
// has tasks: the interquartile mean over tasks and seeds, and the probability of improvement on the learner that claims
// compare each one with.
func (p PanelPlan) ends(r *Result, claims []paper.Claim) []string {
	if p.Protocol.IsTask == nil || p.Metric != "" {
		return nil
	}
	rows, metrics, over := p.rowsOf(r.Report, p.Protocol.IsTask), []string{p.Shown}, "the seeds"
	if len(rows) > 0 {
		metrics = metricsOf(rows)
		over = fmt.Sprintf("%s and the seeds", runs.Plural(len(metrics), "task"))
	}
	rows = append(rows, r.Rows...)
	end := func(series, metric string) []float64 { return p.endOf(rows, series, metric) }
	var means, gains []string
	for _, name := range p.trained() {
		if len(end(name, p.Shown)) == 0 {
			continue
		}
		var strata [][]float64
		for _, metric := range metrics {
			strata = append(strata, end(name, metric))
		}
		means = append(means, labels([]string{name})[0]+" "+inBrackets("%.4g", figures.InterquartileMean(strata)))
	}
	for _, pair := range p.compared(claims) {
		of, base := end(pair.Series, p.Shown), end(pair.Base, p.Shown)
		if len(of) > 0 && len(base) > 0 {
			names := strings.Join(labels([]string{pair.Series, pair.Base}), " above ")
			gains = append(gains, names+" "+inBrackets("%.2f", figures.Improvement(of, base)))
		}
	}
	if len(means) == 0 {
		return nil
	}
	notes := []string{fmt.Sprintf("Interquartile mean over %s of the last quarter, with the interval of the stratified "+
		"bootstrap: %s.", over, strings.Join(means, ", "))}
	if len(gains) > 0 {
		notes = append(notes, fmt.Sprintf("Probability over the last quarter that a seed of one is above one of the other: "+
			"%s.", strings.Join(gains, ", ")))
	}
	return append(notes, p.trueWeights(rows)...)
}

// endOf returns each seed's mean of a metric over the last quarter of the steps.
func (p PanelPlan) endOf(rows []figures.Row, series, metric string) []float64 {
	var values []float64
	for _, c := range curves(rows, paper.Part{Panel: p.Key, Series: series}, metric) {
		values = append(values, statistics[paper.End].of(c))
	}
	return values
}

// inBrackets writes an estimate with its interval.
func inBrackets(format string, e figures.Estimate) string {
	return fmt.Sprintf(format+" ["+format+", "+format+"]", e.Mean, e.Low, e.High)
}

// compared lists the learners of the panel with those that claims compare them with, or with the first one if none
// does.
func (p PanelPlan) compared(claims []paper.Claim) []paper.Part {
	var out []paper.Part
	for _, name := range p.trained() {
		if name == p.Series[0] {
			continue
		}
		before := len(out)
		for _, c := range claims {
			for _, part := range c.Parts {
				pair := paper.Part{Series: name, Base: part.Base}
				if part.Panel == p.Key && part.Series == name && slices.Contains(p.Series, part.Base) &&
					!slices.Contains(out, pair) {
					out = append(out, pair)
				}
			}
		}
		if len(out) == before {
			out = append(out, paper.Part{Series: name, Base: p.Series[0]})
		}
	}
	return out
}

// trueWeights says what the learner with the true weights gains on the panel's first one, if it is shown.
func (p PanelPlan) trueWeights(rows []figures.Row) []string {
	part := paper.Part{Panel: p.Key, Series: p.Protocol.TrueWeights, Base: p.Series[0], Statistic: paper.EndGain}
	if !slices.Contains(p.Series, part.Series) {
		return nil
	}
	m, err := measure(rows, part, p.Shown, len(p.Settings.Strides()) > 0)
	if err != nil {
		return nil
	}
	names, gain := labels([]string{part.Series, part.Base}), m.interval(figures.Level)
	found := "Whether an omega that follows the tasks would gain is undecided."
	switch {
	case gain.Low > 0:
		found = "So an omega that follows the tasks would gain here."
	case gain.High < 0:
		found = "So an omega that follows the tasks would lose here."
	}
	return []string{fmt.Sprintf("Weights by the true similarity of tasks, over the last quarter, %s minus %s: %s %s. %s",
		names[0], names[1], signed(gain.Mean), ends(gain), found)}
}

// noted tells, for the panel's metrics that are not drawn, each learner's mean over the last quarter with its interval
// over the seeds.
func (p PanelPlan) noted(report runs.Report) []string {
	rows := p.rowsOf(report, func(m string) bool {
		return slices.ContainsFunc(p.Noted, func(n paper.Noted) bool { return n.Name == m })
	})
	var out []string
	for _, name := range p.Series {
		var values []string
		for _, metric := range p.Noted {
			if at := p.endOf(rows, name, metric.Name); len(at) > 1 {
				values = append(values, metric.Meaning+" "+inBrackets("%.3f", figures.MeanInterval(at)))
			}
		}
		if len(values) > 0 {
			out = append(out, fmt.Sprintf("%s over the last quarter, with 95%% intervals over the seeds: %s.",
				labels([]string{name})[0], strings.Join(values, ", ")))
		}
	}
	return out
}

// spans compares the panel's last learner with each of the others in each of the panel's spans of steps, with intervals
// at the level of claims about them.
func (p PanelPlan) spans(e evidence) []string {
	var out []string
	last := p.Series[len(p.Series)-1]
	look, _ := figures.LookUp(last)
	for _, span := range p.Spans {
		gains := map[float64][]string{} // by level
		for _, base := range p.Series[:len(p.Series)-1] {
			part := paper.Part{Panel: p.Key, Series: last, Base: base}
			rows, level := e.of(part)
			within := slices.DeleteFunc(slices.Clone(rows), func(r figures.Row) bool {
				return r.T < span.From || r.T > span.To
			})
			m, err := measure(within, part, p.Shown, len(p.Settings.Strides()) > 0)
			if err != nil {
				continue
			}
			other, _ := figures.LookUp(base)
			interval := m.interval(cmp.Or(level, figures.Level))
			gains[level] = append(gains[level], fmt.Sprintf("%s %s %s", other.Label, signed(interval.Mean), ends(interval)))
		}
		for _, level := range slices.Sorted(maps.Keys(gains)) {
			minus := "minus"
			if level > 0 {
				minus = fmt.Sprintf("minus, at %g%%", 100*level)
			}
			out = append(out, fmt.Sprintf("%s at t = %d to %d %s: %s.", look.Label, span.From, span.To, minus,
				strings.Join(gains[level], ", ")))
		}
	}
	return out
}

// metricsOf lists the metrics of rows, sorted.
func metricsOf(rows []figures.Row) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r.Metric)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
