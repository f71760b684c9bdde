package claims

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tvps/data/statistics"
	"tvps/figures"
	"tvps/figures/looks"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
)

// Notes are the sentences below a chart: data, models and settings of the panel, the series that are absent, and what
// was measured besides the declared claims.
func (c Collected) Notes(absent []string, declared []paper.Claim) []string {
	out := c.Settings.Notes(c.Source, c.Series, c.Measure)
	if own := c.ownScale(); own != "" {
		out = append(out, own+".")
	}
	if len(absent) > 0 {
		labels := strings.Join(looks.Labels(absent...), ", ")
		out = append(out, fmt.Sprintf("Not drawn, as runs are missing: %s.", labels))
	}
	return slices.Concat(out, c.ends(declared), c.noted(), c.spans())
}

// ends describes the last quarter of the steps, if the protocol has tasks. For each learner it states the interquartile
// mean over tasks and seeds. For each pair of learners that a claim compares, it states the probability that a seed of
// one has a higher mean than a seed of the other.
func (c Collected) ends(declared []paper.Claim) []string {
	if c.Protocol.IsTask == nil || c.Metric != "" {
		return nil
	}
	shown := c.Shown().Name
	rows, metrics, over := c.RowsOf(c.Protocol.IsTask), []string{shown}, "the seeds"
	if len(rows) > 0 {
		names := map[string]bool{}
		for _, r := range rows {
			names[r.Metric] = true
		}
		metrics = slices.Sorted(maps.Keys(names))
		over = fmt.Sprintf("%s and the seeds", runs.Plural(len(metrics), "task"))
	}
	rows = append(rows, c.Rows()...)
	end := func(series, metric string) []float64 { return endOf(rows, c.Key, series, metric) }
	var means, gains []string
	for _, name := range c.Trained() {
		if len(end(name, shown)) == 0 {
			continue
		}
		var strata [][]float64
		for _, metric := range metrics {
			strata = append(strata, end(name, metric))
		}
		means = append(means, looks.Of(name).Label+" "+inBrackets("%.4g", statistics.InterquartileMean(strata)))
	}
	for _, pair := range c.comparedPairs(declared) {
		of, base := end(pair.Series, shown), end(pair.Base, shown)
		if len(of) > 0 && len(base) > 0 {
			probability := inBrackets("%.2f", statistics.Improvement(of, base))
			gains = append(gains, looks.Of(pair.Series).Label+" above "+looks.Of(pair.Base).Label+" "+probability)
		}
	}
	if len(means) == 0 {
		return nil
	}
	out := []string{fmt.Sprintf("Interquartile mean over %s of the last quarter, with the interval of the stratified "+
		"bootstrap: %s.", over, strings.Join(means, ", "))}
	if len(gains) > 0 {
		out = append(out, fmt.Sprintf("Probability over the last quarter that a seed of one is above one of the other: "+
			"%s.", strings.Join(gains, ", ")))
	}
	return out
}

// inBrackets formats an estimate, followed by its interval in brackets.
func inBrackets(format string, e statistics.Estimate) string {
	return fmt.Sprintf(format+" ["+format+", "+format+"]", e.Mean, e.Low, e.High)
}

// comparedPairs lists each learner of the panel with the learners that claims compare it with. A learner that no claim
// compares is paired with the panel's first series.
func (p Panel) comparedPairs(declared []paper.Claim) []paper.Part {
	var out []paper.Part
	for _, name := range p.Trained() {
		if name == p.Series[0] {
			continue
		}
		before := len(out)
		for _, c := range declared {
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

// noted states each learner's mean over the last quarter of the steps, with its interval over seeds, for the metrics
// that the panel mentions but does not draw.
func (c Collected) noted() []string {
	rows := c.RowsOf(func(m string) bool {
		return slices.ContainsFunc(c.Noted, func(n paper.Noted) bool { return n.Name == m })
	})
	var out []string
	for _, name := range c.Series {
		var values []string
		for _, metric := range c.Noted {
			if at := endOf(rows, c.Key, name, metric.Name); len(at) > 1 {
				values = append(values, metric.Meaning+" "+inBrackets("%.3f", statistics.MeanInterval(at)))
			}
		}
		if len(values) > 0 {
			out = append(out, fmt.Sprintf("%s over the last quarter, with 95%% intervals over the seeds: %s.",
				looks.Of(name).Label, strings.Join(values, ", ")))
		}
	}
	return out
}

// spans states, for each span of steps that the panel declares, the difference of its last learner to each of the
// others. An interval has the level of the claims about the panel.
func (c Collected) spans() []string {
	var out []string
	last, rows := c.Series[len(c.Series)-1], c.Rows()
	minus := "minus"
	if level := c.Level(); level != statistics.Level {
		minus = fmt.Sprintf("minus, at %.3g%%", 100*level)
	}
	for _, span := range c.Spans {
		within := slices.DeleteFunc(slices.Clone(rows), func(r figures.Row) bool { return r.T < span.From || r.T > span.To })
		var gains []string
		for _, base := range c.Series[:len(c.Series)-1] {
			part := paper.Part{Panel: c.Key, Series: last, Base: base}
			if m, err := NewEffect(within, part, c.Shown().Name, c.Sampled()); err == nil {
				gains = append(gains, looks.Of(base).Label+" "+m.Interval(c.Level()).Text(3))
			}
		}
		if len(gains) > 0 {
			out = append(out, fmt.Sprintf("%s at t = %d to %d %s: %s.", looks.Of(last).Label, span.From, span.To, minus,
				strings.Join(gains, ", ")))
		}
	}
	return out
}
