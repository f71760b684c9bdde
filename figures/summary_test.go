package figures

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/statistics"
)

func TestRelativePairsBySeedAndStep(t *testing.T) {
	ours, err := Means(sampleRows(), "a", "accuracy", "ours", "")
	if err != nil || len(ours) != 2 {
		t.Fatalf("%v, %v", ours, err)
	}
	demand.Near(t, "mean of ours at 2", ours[1].Mean, (.9+.3+.4)/3)
	rows := sampleRows()
	rows[0], rows[len(rows)-1] = rows[len(rows)-1], rows[0] // the order must not matter
	points, err := Means(rows, "a", "accuracy", "ours", "everything")
	if err != nil || len(points) != 2 {
		t.Fatalf("%d points, %v", len(points), err)
	}
	demand.Near(t, "mean at 1", points[0].Mean, 0.2)
	demand.Near(t, "high at 1", points[0].High, 0.2+4.302653*0.1/math.Sqrt(3)) // .1 .2 .3: s = .1
	demand.Near(t, "mean at 2", points[1].Mean, -0.1)
	for i, want := range []float64{.3, -.4, -.2} {
		demand.Near(t, "seed value at 2", points[1].Seeds[i].Value, want)
	}
}

func TestMissingPairsAreLeftOut(t *testing.T) {
	var rows []Row
	for _, r := range sampleRows() {
		if !(r.Series == "everything" && r.Seed == 1 && r.T == 2) && !(r.Seed == 2 && r.T == 1) {
			rows = append(rows, r)
		}
	}
	points, err := Means(rows, "a", "accuracy", "ours", "everything")
	demand.NoError(t, err)
	if points[0].N != 2 || points[1].N != 2 {
		t.Fatalf("n = %d and %d, want 2 and 2", points[0].N, points[1].N)
	}
	demand.Near(t, "mean at 1", points[0].Mean, 0.15) // seeds 0 and 1
	demand.Near(t, "mean at 2", points[1].Mean, 0.05) // seeds 0 and 2
}

// By hand: the seeds' mean differences are .2, -.1, .05, so mean .05 and s = .15. Were
// steps the unit, n would be 6 and the interval much narrower.
func TestTableTakesTheSeedAsUnit(t *testing.T) {
	s, err := Table(sampleRows(), "a", "accuracy", "everything")
	demand.NoError(t, err)
	if len(s.Rows) != 3 ||
		s.Rows[0].Series != "everything" || s.Rows[1].Series != "recent" || s.Rows[2].Series != "ours" {
		t.Fatalf("rows in the wrong order: %+v", s.Rows)
	}
	ours := s.Rows[2]
	demand.Near(t, "mean", ours.Mean.Mean, 0.6) // (.75+.5+.55)/3
	demand.Near(t, "difference", ours.Difference.Mean, 0.05)
	demand.Near(t, "low", ours.Difference.Low, 0.05-4.302653*0.15/math.Sqrt(3))
	demand.Near(t, "high", ours.Difference.High, 0.05+4.302653*0.15/math.Sqrt(3))
	demand.Near(t, "share of steps above", ours.ShareAbove, 0.5) // step 1: +.2, step 2: -.1
	if ours.Difference.N != 3 || ours.Steps != 2 {
		t.Errorf("n %d, steps %d", ours.Difference.N, ours.Steps)
	}
	if d := s.Rows[0].Difference; d.Mean != 0 || d.Low != 0 || d.High != 0 {
		t.Errorf("base minus itself is %+v", d)
	}
}

func TestPrintTable(t *testing.T) {
	s, err := Table(sampleRows(), "a", "accuracy", "everything")
	demand.NoError(t, err)
	var out bytes.Buffer
	demand.NoError(t, PrintTable(&out, s))
	want := strings.Join([]string{
		"Panel a, accuracy",
		"  series      mean   minus Everything  95% interval      n  steps above",
		"  Everything  0.550                                      3  ",
		"  Recent      0.500  -0.050            [-0.423, +0.323]  3  50% of 2",
		"  Ours        0.600  +0.050            [-0.323, +0.423]  3  50% of 2",
		""}, "\n")
	demand.Equal(t, out.String(), want, "the printed table")
	line := Summary{Base: "everything"}.line(SummaryRow{Series: "ours", Difference: statistics.Estimate{N: 1}})
	demand.Equal(t, line[3], "none (one seed)", "the interval of one seed")
}

func TestSummaryErrorsNameTheTrouble(t *testing.T) {
	twice := append(sampleRows(), Row{"a", "ours", 1, 2, "accuracy", 0})
	nan := append(sampleRows(), Row{"a", "ours", 9, 2, "accuracy", math.NaN()})
	apart := []Row{{"a", "ours", 1, 1, "accuracy", 0}, {"a", "everything", 2, 2, "accuracy", 0}}
	for _, c := range []struct {
		rows   []Row
		series string
		want   []string
	}{
		{twice, "ours", []string{"panel a", "ours", "seed 1", "t 2", "two values"}},
		{nan, "ours", []string{"panel a", "ours", "seed 9", "t 2", "NaN"}},
		{sampleRows(), "exact", []string{"panel a", "exact"}},
		{apart, "ours", []string{"panel a", "in common"}},
		{nil, "ours", []string{"panel a", "accuracy"}},
	} {
		_, err := Means(c.rows, "a", "accuracy", c.series, "everything")
		demand.Error(t, err, c.want...)
	}
}
