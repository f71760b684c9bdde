package lab

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/statistics"
	"tvps/figures"
	"tvps/replicate/claims"
	"tvps/replicate/paper"

	"gonum.org/v1/gonum/stat/distuv"
)

// robotRows reads tables of the gallery at the medium scale.
func robotRows(t *testing.T, folder string, names ...string) (rows []figures.Row) {
	t.Helper()
	f, err := figures.OpenFolder(filepath.Join(medium, folder))
	demand.NoError(t, err)
	for _, name := range names {
		text, err := f.Read(name)
		demand.NoError(t, err)
		some, err := figures.ReadCSV(bytes.NewReader(text))
		demand.NoError(t, err)
		rows = append(rows, some...)
	}
	return rows
}

// effect is a part's statistic of a metric over seeds.
func effect(t *testing.T, rows []figures.Row, p paper.Part, metric string) statistics.Intervals {
	t.Helper()
	e, err := claims.NewEffect(rows, p, metric, false)
	demand.NoError(t, err)
	return e.Interval
}

// fewest is the smallest number of seeds at which a condition on it and on Student's quantile of the level holds.
func fewest(level float64, holds func(n, quantile float64) bool) float64 {
	n := 2.
	for !holds(n, distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(.5+level/2)) {
		n++
	}
	return n
}

// TestClaw: what the page of robots says of the D'Claw, and of how many seeds would decide it, follows from the tables.
func TestClaw(t *testing.T) {
	page := string(demand.Read(t, filepath.Join(gallery, "archive", "robots.md")))
	plain := distuv.UnitNormal
	for _, c := range []struct {
		folder, title, base string
		look                float64 // the next one
	}{{"fig02", "2 repeats", "sac", 2}, {"fig10", "25 repeats", "sac", 3}, {"fig11", "25 repeats", "sac-context", 3}} {
		rows := robotRows(t, c.folder, c.folder+"-a.csv", c.folder+"-a-metrics.csv")
		e := effect(t, rows, paper.Part{Panel: "a", Series: c.base + "-omega", Base: c.base}, "return")(statistics.Level)
		n := float64(e.N)
		sd := (e.High - e.Low) / 2 * math.Sqrt(n) / distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(.975)
		level := 1 - (1-statistics.Level)/c.look
		narrow := fewest(level, func(n, q float64) bool { return q*sd/math.Sqrt(n) <= 65 })
		none := fewest(level, func(n, q float64) bool { // Student's interval lies within the margin in 80% of samples
			power, grid := 0., 200
			for i := range grid {
				s := math.Sqrt(distuv.ChiSquared{K: n - 1}.Quantile((float64(i)+.5)/float64(grid)) / (n - 1))
				power += max(0, 2*plain.CDF(65*math.Sqrt(n)/sd-q*s)-1) / float64(grid)
			}
			return power >= .8
		})
		of := map[string]string{"sac": "SAC", "sac-context": "SAC with context"}[c.base] + ", " + c.title
		row := fmt.Sprintf("| %s | 0-%d | %.0f [%.0f, %.0f]", of, e.N-1, e.Mean, e.Low, e.High)
		demand.Words(t, page, row)
		_, cells, _ := strings.Cut(page, row)
		cells, _, _ = strings.Cut(cells, "\n")
		if want := fmt.Sprintf("| %.0f | %.0f | %.0f |", sd, narrow, none); !strings.HasSuffix(cells, want) {
			t.Errorf("%s: %q, want %q", of, cells, want)
		}
		late := slices.DeleteFunc(slices.Clone(rows), func(r figures.Row) bool { return r.T <= 1500 })
		for _, series := range []string{c.base, c.base + "-omega", "scripted", "nothing"} {
			p := paper.Part{Panel: "a", Series: series, Statistic: paper.End}
			cells := fmt.Sprintf("| %.0f | %.0f | ", effect(t, rows, p, "return")(.95).Mean, effect(t, rows, p, "return-valve-0")(.95).Mean)
			if strings.HasPrefix(series, "sac") {
				p.Statistic = paper.Slope // in 100 episodes
				cells += fmt.Sprintf("%.0f |", 10*effect(t, late, p, "return")(.95).Mean)
			}
			demand.Words(t, page, cells)
		}
	}
	demand.Words(t, strings.Join(strings.Fields(string(demand.Read(t, filepath.Join(medium, "README.md")))), " "),
		"rise by 200 to 470 in 1,000 episodes", "84 to 182 seeds, some 85 core hours")
}

// TestOmegaOnRobots: what README.md says of omega on Half-Cheetah, and that page, follow from the tables of ten seeds.
func TestOmegaOnRobots(t *testing.T) {
	readme := string(demand.Read(t, filepath.Join("..", "..", "README.md")))
	page := string(demand.Read(t, filepath.Join(gallery, "archive", "robots.md")))
	rows := robotRows(t, "fig02-age", "fig02-b.csv")
	const context = "sac-context"
	for words, p := range map[string]paper.Part{
		"not above plain SAC: %s":        {Panel: "b", Series: context + "-omega", Base: "sac"},
		"show no such gain: %s":          {Panel: "b", Series: context + "-age", Base: context},
		"young episodes may give it: %s": {Panel: "b", Series: context + "-geometric", Base: context},
	} {
		e := effect(t, rows, p, "return")(statistics.Level)
		demand.Words(t, readme, fmt.Sprintf(words, fmt.Sprintf("%.1f (%.1f to %.1f)", e.Mean, e.Low, e.High)))
		demand.Words(t, page, fmt.Sprintf("| 0-9 | %.1f [%.1f, %.1f] |", e.Mean, e.Low, e.High))
		if e.Low > 0 {
			t.Errorf("README.md says %q, the interval is above 0", words)
		}
	}
	above := 0
	for seed := range int64(10) {
		of := slices.DeleteFunc(slices.Clone(rows), func(r figures.Row) bool { return r.Seed != seed })
		if effect(t, of, paper.Part{Panel: "b", Series: context + "-omega", Base: "sac"}, "return")(statistics.Level).Mean > 0 {
			above++
		}
	}
	if above != 5 || !strings.Contains(readme, "five of ten seeds") {
		t.Errorf("of ten seeds %d earn more with context and omega than plain SAC", above)
	}
	best, top := "", math.Inf(-1)
	for _, folder := range []string{"fig02-age", "fig02-age-plain"} {
		all := robotRows(t, folder, "fig02-b.csv")
		for _, series := range []string{"", "-omega", "-age", "-geometric"} {
			if folder == "fig02-age" {
				series = "-context" + series
			}
			p := paper.Part{Panel: "b", Series: "sac" + series, Statistic: paper.Level}
			if e := effect(t, all, p, "return")(statistics.Level); e.Mean > top {
				best, top = p.Series, e.Mean
			}
		}
	}
	if best != "sac-geometric" {
		t.Errorf("%s earns most, README.md says plain SAC that replays young episodes", best)
	}
}
