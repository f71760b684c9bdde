package tables

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"tvps/data/table"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/runs"

	"github.com/gomlx/gomlx/support/xslices"
)

// Finding says whether a table drifts. All commands answer by it: a question is answered with yes if the p-value of one
// of its tests is at most Level, corrected for all tests of the table.
type Finding struct {
	Sentence  string     `json:"sentence"`
	Questions []Question `json:"questions"`
	Columns   []string   `json:"columns,omitempty"` // that drift by themselves, the strongest first
	Strongest []int      `json:"-"`                 // all columns of the encoder, those that drift most by themselves first
	Chunks    int        `json:"chunks"`            // of neighbouring rows, which shuffles of the times move
	// Dependence is the autocorrelation time of the rows in time order, 1 if they are independent.
	Dependence float64 `json:"autocorrelation-rows"`
	// Slow are the columns that leave the tests few chunks, where y and the others would leave more.
	Slow []string `json:"slow-columns,omitempty"`
}

// fewChunks is the number of chunks below which tests find strong drift only. By a column whose autocorrelation time is
// slow of the rows, they have about so few.
const fewChunks, slow = 20, 1. / 160

// Question is one of the three: whether x, y, or y given x drifts.
type Question struct {
	Name  string         `json:"name"`
	P     float64        `json:"p"` // the smallest of its tests, corrected
	Drift bool           `json:"drift"`
	Tests []QuestionTest `json:"tests"`
}

// QuestionTest is one test of a question.
type QuestionTest struct {
	By   string  `json:"by"`
	P    float64 `json:"p"`    // corrected for all tests of the table
	View string  `json:"view"` // how the time is seen where it is strongest: "trend", "day of the week", ...
	// Also is such a view of which this one tells nothing, and by which there is drift as well, if there is one.
	Also string `json:"also,omitempty"`
}

// Names of what may drift. InBoth is that of tests over time and maps.
const (
	InX, InY, InRule, InBoth = "x", "y", "y given x", "x and y"
)

// Level of all decisions, after correction.
const Level = .05

// LeastPermutations is the least number of permutations: fewer tell too little of a p-value of Level.
const LeastPermutations = 99

// Find tests the rows for drift.
func (s *Sample) Find(ctx context.Context, fit crossfit.Config, seed int64) (*Finding, error) {
	d, err := crossfit.FindDrift(ctx, s.Data, fit, seed)
	if err != nil {
		return nil, err
	}
	f := &Finding{Chunks: d.Chunks, Dependence: d.Dependence}
	test := func(by string, t *crossfit.ColumnTest) QuestionTest {
		q := QuestionTest{by, t.Adjusted, t.View, t.Also}
		if t.AlsoP > Level {
			q.Also = ""
		}
		return q
	}
	f.Questions = []Question{{Name: InX, Tests: []QuestionTest{test("columns", d.Columns), test("pairs of columns", d.Score)}}}
	if d.Outcome != nil {
		f.Questions = append(f.Questions, Question{Name: InY, Tests: []QuestionTest{test("column", d.Outcome)}},
			Question{Name: InRule, Tests: []QuestionTest{test("residuals", d.Rule)}})
	}
	f.answer()
	names := xslices.Map(s.Encoder.Columns, func(c table.Encoded) string { return c.Name })
	f.name(d.Columns, names, s.Encoder.Of())
	f.nameSlow(d, names, s.Encoder.Of(), slow*float64(len(s.Data.Time)))
	f.Sentence = f.sentence(s.hidden)
	return f, nil
}

// name lists the columns that drift by themselves. names: of the columns; of: that of each feature.
func (f *Finding) name(t *crossfit.ColumnTest, names []string, of []int) {
	size, drifts := slices.Repeat([]float64{math.Inf(-1)}, len(names)), make([]bool, len(names))
	for feature, at := range of {
		drifts[at] = drifts[at] || t.Column[feature] <= Level
		size[at] = max(size[at], t.Size[feature])
	}
	f.Strongest = xslices.Iota(0, len(names))
	slices.SortStableFunc(f.Strongest, func(a, b int) int { return cmp.Compare(size[b], size[a]) })
	for _, at := range f.Strongest {
		if drifts[at] {
			f.Columns = append(f.Columns, names[at])
		}
	}
}

// nameSlow lists the columns that have at least so long an autocorrelation time, such as the month, which hardly
// changes from row to row, if they make the tests weak and y does not. names and of: as for name.
func (f *Finding) nameSlow(d *crossfit.Drift, names []string, of []int, least float64) {
	if f.Chunks >= fewChunks || d.OfY >= least {
		return
	}
	for feature, at := range of {
		if d.OfX[feature] >= least && !slices.Contains(f.Slow, names[at]) {
			f.Slow = append(f.Slow, names[at])
		}
	}
}

// answer answers the questions by their tests.
func (f *Finding) answer() {
	for i := range f.Questions {
		q := &f.Questions[i]
		q.P = slices.Min(xslices.Map(q.Tests, func(t QuestionTest) float64 { return t.P }))
		q.Drift = q.P <= Level
	}
}

// Drifting lists the questions answered with yes.
func (f *Finding) Drifting() (yes []string) {
	for _, q := range f.Questions {
		if q.Drift {
			yes = append(yes, q.Name)
		}
	}
	return yes
}

// Of is the question of a name.
func (f *Finding) Of(name string) Question {
	return f.Questions[slices.IndexFunc(f.Questions, func(q Question) bool { return q.Name == name })]
}

// sentence is the answer in plain words, without a full stop. hides: what hides drift of y given x.
func (f *Finding) sentence(hides []string) string {
	var yes, no []string
	least, hidden := 1., ""
	onlyTrends := !slices.ContainsFunc(f.Questions, func(q Question) bool { return q.Drift && !q.onlyTrend() })
	for _, q := range f.Questions {
		least = min(least, q.P)
		switch {
		case q.Drift:
			by := ""
			if !onlyTrends {
				by = q.by()
			}
			yes = append(yes, fmt.Sprintf("%s (p %s)%s", q.Name, PIs(q.P), by))
		case q.Name == InRule && len(hides) > 0:
			hidden = fmt.Sprintf("; whether %s drifts cannot be seen, as %s", q.Name, Joined(hides, "and"))
		default:
			no = append(no, q.Name)
		}
	}
	if len(yes) == 0 {
		text := fmt.Sprintf("No drift is found in %s (smallest p %s)", Joined(no, "or"), PIs(least))
		if f.Slow != nil {
			text += fmt.Sprintf("; %s may hide it", Few(f.Slow, 4))
		}
		return text + hidden
	}
	text := "The table drifts in " + Joined(yes, "and")
	if len(no) > 0 {
		text += "; no drift is found in " + Joined(no, "or")
	}
	return text + hidden
}

// views are how the strongest test of a question sees the time.
func (q Question) views() []string {
	var strongest QuestionTest
	for i, t := range q.Tests {
		if i == 0 || t.P < strongest.P {
			strongest = t
		}
	}
	if strongest.Also == "" {
		return []string{strongest.View}
	}
	return []string{strongest.View, strongest.Also}
}

// overTime are the views that are no phase, in words.
var overTime = map[string]string{"trend": "over time", "times": "from time to time"}

// Recurs tells whether a question's strongest test finds drift by phases alone, such as the day of the week.
func (q Question) Recurs() bool {
	return !slices.ContainsFunc(q.views(), func(view string) bool { return overTime[view] != "" })
}

// OnlyTimes tells whether a question's strongest test tells each time by itself, which does not say how drift goes on.
func (q Question) OnlyTimes() bool { return slices.Equal(q.views(), []string{"times"}) }

// onlyTrend tells whether a question's strongest test sees a trend alone, which goes without saying where all do.
func (q Question) onlyTrend() bool { return slices.Equal(q.views(), []string{"trend"}) }

// by says how a question's strongest test sees the time.
func (q Question) by() string {
	word := func(view string) string { return cmp.Or(overTime[view], "by "+view) }
	return " " + Joined(xslices.Map(q.views(), word), "and")
}

// Lines are the answers in detail, for a summary.
func (f *Finding) Lines() string {
	var b strings.Builder
	tests := 0
	for _, q := range f.Questions {
		var parts []string
		for _, t := range q.Tests {
			tests++
			part := "p " + PIs(t.P)
			if len(q.Tests) > 1 {
				part += " by " + t.By
			}
			if t.By == "columns" && len(f.Columns) > 0 {
				part += fmt.Sprintf(" (%s)", Few(f.Columns, 4))
			}
			parts = append(parts, part)
		}
		fmt.Fprintf(&b, "%s: %s\n", q.Name, strings.Join(parts, ", "))
	}
	fmt.Fprintf(&b, "Drift is called up to p = 0.05; p is corrected for %d tests, against shuffled times.\n", tests)
	return b.String()
}

// Unseen says that drift was found, but that the g of weights of a kind tells no time from another, so that they are
// flat.
func (f *Finding) Unseen(kind crossfit.Kind) []string {
	for _, q := range f.Questions {
		other := kind == crossfit.Conditional && q.Name != InRule || kind == crossfit.Covariate && q.Name != InX
		if q.Drift && !other {
			return []string{"drift is found, but the g of these weights tells no time from another on held-out rows: omega is 1 " +
				"for all; with few rows another --seed may find more"}
		}
	}
	return nil
}

// notes tell what limits the tests.
func (f *Finding) notes() []string {
	if f.Chunks >= fewChunks {
		return nil
	}
	if f.Dependence < 1.1 { // not the rows' dependence, but their number makes the tests weak
		return []string{fmt.Sprintf("the tests have few rows (%d that count), and find strong drift only", f.Chunks)}
	}
	note := fmt.Sprintf("rows depend on their neighbours (autocorrelation time %.3g rows), so that the tests have "+
		"%s and find strong drift only", f.Dependence, runs.Plural(f.Chunks, "independent stretch"))
	if f.Slow != nil {
		note += fmt.Sprintf(": the reason is %s; a column that tells no more than the date or the season is left out by --drop",
			Few(f.Slow, 4))
	}
	return []string{note}
}
