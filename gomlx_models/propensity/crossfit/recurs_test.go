package crossfit

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/data/random"

	"github.com/gomlx/gomlx/support/xslices"
	"gonum.org/v1/gonum/stat"
)

// recurring draws rows of two values at each of so many times; the mean of the first one is that of its time. exact is
// the log ratio of the densities at the last time and at a row's own.
func recurring(seed int64, times, rows int, unit Unit, mean func(t int) float64) (d Table, exact []float64) {
	rng := random.New(seed, "recurring")
	d = Table{Dim: 2, Unit: unit}
	for t := range times {
		for range rows {
			x := mean(t) + rng.NormFloat64()
			d.X, d.Time = append(d.X, float32(x), float32(rng.NormFloat64())), append(d.Time, float64(t))
			exact = append(exact, logNormal(x-mean(times-1))-logNormal(x-mean(t)))
			d.Order = append(d.Order, float64(len(d.Order)))
		}
	}
	return d, exact
}

// TestRecurs: drift that recurs is found, and g sees it: the stream of the paper's Figure 5, weekends, and eight
// periods of 40 times.
func TestRecurs(t *testing.T) {
	demand.Slow(t)
	for _, c := range []struct {
		name        string
		times, rows int
		unit        Unit
		mean        func(t int) float64
		view        string
		rank        float64 // least rank correlation with the exact log ratio
	}{
		{"Figure 5", 100, 100, "", func(t int) float64 { return .5 + 2*math.Sin(2*math.Pi*float64(t)/5) }, "a period of 5", .9},
		{"weekends", 182, 40, "day", func(t int) float64 { return map[bool]float64{true: 1}[t%7 >= 5] }, "day of the week", .9},
		{"strong harmonic", 96, 25, "", func(t int) float64 {
			return .4*math.Sin(2*math.Pi*float64(t)/8) + math.Sin(4*math.Pi*float64(t)/8)
		}, "a period of 8", .9},
		{"periods", 40, 25, "", func(t int) float64 { return 1.5 * math.Sin(2*math.Pi*float64(t)/5) }, "a period of 5", .9},
	} {
		d, exact := recurring(1, c.times, c.rows, c.unit, c.mean)
		cfg := DefaultConfig()
		cfg.Candidates, cfg.Ensemble = cfg.Candidates[:1], 1
		found, err := FindDrift(t.Context(), d, cfg, 1)
		demand.NoError(t, err)
		if found.Columns.P > .01 || found.Columns.View != c.view || found.Columns.Column[1] < .01 {
			t.Errorf("%s: %+v, autocorrelation time %.2f, %d chunks", c.name, found.Columns, found.Dependence, found.Chunks)
		}
		o := fitOwn(t, d, cfg, 1)
		w := weigh(t, o, float64(c.times-1), WeightOptions{Kind: Covariate})
		rank := stat.Correlation(ranked(w.LogOmega), ranked(exact), nil)
		t.Logf("%s: rank correlation %.3f by %s", c.name, rank, o.Covariate.View.Name)
		if rank < c.rank || !strings.Contains(o.Covariate.View.Name, c.view) {
			t.Errorf("%s: rank correlation %.3f by %s", c.name, rank, o.Covariate.View.Name)
		}
	}
}

// TestCalendar: cycles of the calendar are found whether rows share times or have one each, and are none where phases
// do not recur, or are an alias.
func TestCalendar(t *testing.T) {
	const year = 365.2425
	month := func(i int) float64 {
		return float64(time.Date(2015, time.Month(1+i), 1, 0, 0, 0, 0, time.UTC).Unix() / 86400)
	}
	own := random.New(1, "own times")
	half := func(in bool) float64 { return map[bool]float64{true: 1}[in] }
	for _, c := range []struct {
		name     string
		n        int
		at       func(i int) float64 // days since 1970
		mean     func(at float64) float64
		cycles   string
		strength string
		also     string
	}{
		{"days of five years", 5 * 365 * 4, func(i int) float64 { return 18993 + float64(i/4) },
			func(at float64) float64 { return half(math.Mod(at, year) < year/2) },
			"day of the week, day of the month, day of the year", "day of the year", ""},
		{"weeks of six years", 6 * 52 * 20, func(i int) float64 { return 16440 + 7*float64(i/20) },
			func(at float64) float64 { return half(math.Mod(at, year) < year/2) },
			"day of the year", "day of the year", ""},
		{"months of six years", 72 * 40, func(i int) float64 { return month(i / 40) },
			func(at float64) float64 { return half(math.Mod(at, year) < year/4) },
			"month of the year", "month of the year", ""},
		{"months of two years", 24 * 40, func(i int) float64 { return month(i / 40) },
			func(at float64) float64 { return (at - month(0)) / 365 }, "", "trend", ""},
		{"events of four weeks", 6000, func(i int) float64 { return 19000 + 28*(float64(i)+own.Float64())/6000 },
			func(at float64) float64 { return half(math.Mod(at, 1) > .5) },
			"hour of the day, day of the week", "hour of the day", ""},
		{"a row a day in four years", 1461, func(i int) float64 { return 18993 + float64(i) },
			func(at float64) float64 { return 4 * math.Sin(2*math.Pi*at/year) },
			"day of the week, day of the month, day of the year", "any", ""}, // a trend has waves of four periods, too
		{"days of three weeks", 21 * 100, func(i int) float64 { return 19000 + float64(i/100) },
			func(float64) float64 { return 0 }, "", "", ""},
		{"days of a year, a jump and weekends", 364 * 20, func(i int) float64 { return 19000 + float64(i/20) },
			func(at float64) float64 { return half(math.Mod(at, 7) < 2) + .5*half(at > 19200) },
			"day of the week, day of the month", "day of the week", "trend"},
		{"four years, seasons and weekends", 1461 * 5, func(i int) float64 { return 18993 + float64(i/5) },
			func(at float64) float64 { return half(math.Mod(at, 7) < 2) + .6*half(math.Mod(at, year) < year/2) },
			"day of the week, day of the month, day of the year", "day of the week", "day of the year"},
	} {
		rng := random.New(1, c.name)
		d := Table{Dim: 1, Unit: "day"}
		for i := range c.n {
			at := c.at(i)
			x := c.mean(at) + rng.NormFloat64()
			d.X, d.Time, d.Order = append(d.X, float32(x)), append(d.Time, at), append(d.Order, float64(i))
		}
		var names []string
		for _, cycle := range Cycles(d.Unit, nil, slices.Compact(slices.Clone(d.Time))) {
			names = append(names, cycle.Name)
		}
		if got := strings.Join(names, ", "); got != c.cycles {
			t.Errorf("%s: cycles %s, want %s", c.name, got, c.cycles)
		}
		found, err := FindDrift(t.Context(), d, DefaultConfig(), 1)
		demand.NoError(t, err)
		drifts, view := found.Columns.P < .01, found.Columns.View
		if drifts != (c.strength != "") || drifts && c.strength != "any" && view != c.strength {
			t.Errorf("%s: p %v by %s, %d chunks", c.name, found.Columns.P, view, found.Chunks)
		}
		if also := found.Columns.AlsoP < .01; also != (c.also != "") || also && found.Columns.Also != c.also {
			t.Errorf("%s: p %v by %s, besides %s", c.name, found.Columns.AlsoP, found.Columns.Also, view)
		}
	}
}

// TestZone: phases are those of the zone's calendar, for exact times and for hours, also where clocks change; days of
// the calendar have no hours.
func TestZone(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	demand.NoError(t, err)
	names := func(list []Cycle) string {
		return strings.Join(xslices.Map(list, func(c Cycle) string { return c.Name }), ", ")
	}
	for unit, seconds := range map[Unit]float64{"hour": 3600, "day": 86400} {
		var hours, days []float64
		for h := range 5 * 366 * 24 {
			at := time.Date(2020, 1, 1, 0, 0, 0, 0, berlin).Add(time.Duration(h) * time.Hour)
			hours = append(hours, float64(at.Unix())/seconds)
			if at.Hour() == 0 {
				days = append(days, hours[h])
			}
		}
		list := Cycles(unit, berlin, hours)
		const ofDays = "day of the week, day of the month, day of the year"
		demand.Equal(t, names(list), "hour of the day, "+ofDays, "cycles of hours in %ss", unit)
		demand.Equal(t, names(Cycles(unit, berlin, days)), ofDays, "cycles of days in %ss", unit)
		demand.Equal(t, names(Cycles(unit, nil, days)), ofDays, "cycles of days in %ss, in UTC", unit)
		for _, at := range hours {
			local := time.Unix(int64(math.Round(at*seconds)), 0).In(berlin)
			weekday := (int(local.Weekday()) + 3) % 7 // 1970-01-01 was a Thursday
			for i, want := range []float64{float64(local.Hour()) / 24, float64(weekday) / 7, float64(local.Day()-1) / 31} {
				if got := list[i].Phase(at); math.Abs(math.Remainder(got-want, 1)) > 1e-6 {
					t.Fatalf("%s of %s in %ss: phase %v, want %v", list[i].Name, local, unit, got, want)
				}
			}
		}
	}
}

// TestLevels: entities with levels of their own are no drift of y given x.
func TestLevels(t *testing.T) {
	const tables = 60
	called := 0
	for seed := range int64(tables) {
		rng := random.New(seed, "levels")
		d := Table{Dim: 1}
		level := make([]float64, 20)
		for e := range level {
			level[e] = 2 * rng.NormFloat64()
		}
		for i := range 60 * len(level) {
			x, e := rng.NormFloat64(), i%len(level)
			d.X, d.Time, d.Group = append(d.X, float32(x)), append(d.Time, float64(i/len(level))), append(d.Group, int32(e))
			d.Target = append(d.Target, x+level[e]+.5*rng.NormFloat64())
		}
		rows := sortRows(d, xslices.Iota(0, 1))
		_, rows.x = shapeOf(d)
		k := newTester(d, rows, nil, periods("", rows.times), 99, seed)
		if k.test(t.Context(), k.rule(d, k.numbers(d, rows)), 0).P <= .05 {
			called++
		}
	}
	t.Logf("P <= .05 in %d of %d", called, tables)
	if called > 8 { // of 60 at probability .05 more come in 0.3% of cases
		t.Errorf("P <= .05 in %d of %d tables without drift", called, tables)
	}
}

// TestTrendEnds: after the last time a trend is that of the last time, so weights without a phase are the same.
func TestTrendEnds(t *testing.T) {
	d, _ := recurring(1, 40, 20, "day", func(t int) float64 { return float64(t) / 20 })
	o := fitOwn(t, d, tiny(), 1)
	for _, v := range views([]float64{0, 10, 39}, len(d.Time), nil) {
		if !slices.Equal(v.code(52.5, o.unit), v.code(39, o.unit)) || slices.Equal(v.code(0, o.unit), v.code(39, o.unit)) {
			t.Errorf("%s: the end is not that of the last time, or the beginning is", v.Name)
		}
	}
	if o.Covariate.View.Cycle != nil {
		t.Fatalf("a trend is seen as %s", o.Covariate.View.Name)
	}
	last := weigh(t, o, 39, WeightOptions{Kind: Covariate})
	if later := weigh(t, o, 52.5, WeightOptions{Kind: Covariate}); !slices.Equal(later.Weight, last.Weight) {
		t.Error("weights for a time after the end are not those of the last time")
	}
	if earlier := weigh(t, o, 0, WeightOptions{Kind: Covariate}); slices.Equal(earlier.Weight, last.Weight) {
		t.Error("weights for the first time are those of the last")
	}
}

// TestPhase: after the last time the phase is that of T. By a phase alone weights are those of the same day a week
// before; where g sees a trend as well, it is that of the last time.
func TestPhase(t *testing.T) {
	d, _ := recurring(1, 42, 20, "day", func(t int) float64 { return map[bool]float64{true: 2}[t%7 >= 5] })
	o := fitOwn(t, d, tiny(), 1)
	phase := o.Covariate.View
	if phase.Name != "day of the week" {
		t.Fatalf("a week is seen as %s", phase.Name)
	}
	last := weigh(t, o, 41, WeightOptions{Kind: Covariate})
	for T := 42.; T < 49; T++ {
		later := weigh(t, o, T, WeightOptions{Kind: Covariate})
		if same := weigh(t, o, T-7, WeightOptions{Kind: Covariate}); !slices.Equal(later.LogOmega, same.LogOmega) {
			t.Errorf("the weights for day %v are not those for the same day a week before", T)
		}
		if T < 48 && slices.Equal(later.LogOmega, last.LogOmega) {
			t.Errorf("the weights for day %v are those for the last day, %v", T, o.Last)
		}
	}
	both := View{Name: "trend", Waves: 8}.with(phase, 42)
	trend := 1 + 2*both.Waves
	want := slices.Concat(both.code(41, o.unit)[:trend], both.code(37, o.unit)[trend:])
	if got := both.code(44, o.unit); !slices.Equal(got, want) {
		t.Errorf("the code of a trend and a phase after the last time is %v, want %v", got, want)
	}
}

func ranked(v []float64) []float64 {
	out, _ := ranks(v)
	return out
}

// panel draws 100 weeks of 20 entities, each a stationary series of autocorrelation .9, plus a mean.
func panel(seed int64, mean func(week int) float64) Table {
	rng := random.New(seed, "panel")
	d := Table{Dim: 1}
	state := make([]float64, 20)
	for week := range 100 {
		for e := range state {
			if state[e] = .9*state[e] + math.Sqrt(1-.81)*rng.NormFloat64(); week == 0 {
				state[e] = rng.NormFloat64()
			}
			d.X, d.Time = append(d.X, float32(state[e]+mean(week))), append(d.Time, float64(week))
			d.Group = append(d.Group, int32(e))
		}
	}
	return d
}

// TestPanel: entities that depend on their own past are no drift, and with their groups a mean that moves by half a
// standard deviation, or by one, is found in most of what is possible: a test of the means before and after a sudden
// move by half of one, which knows the time and the autocorrelation, finds 87%; generalised least squares that knows
// the shape finds 50% of steady ones by half of one, and 97% by one.
func TestPanel(t *testing.T) {
	none := func(int) float64 { return 0 }
	tables := 20
	if demand.Nightly {
		tables = 200
	}
	for _, c := range []struct {
		name        string
		grouped     bool
		mean        func(week int) float64
		least, most float64 // shares that are found; of 20 tables with two standard errors
	}{
		{"rows, no drift", false, none, 0, .05},
		{"no drift", true, none, 0, .05},
		{"half a standard deviation in week 50", true, func(week int) float64 { return .5 * float64(week/50) }, .45, 1},
		{"half of one, steadily", true, func(week int) float64 { return .5 * float64(week) / 99 }, .2, 1},
		{"one, steadily", true, func(week int) float64 { return float64(week) / 99 }, .8, 1},
	} {
		called := 0
		for seed := range int64(tables) {
			d := panel(seed, c.mean)
			if !c.grouped {
				d.Group = nil
			}
			found, err := FindDrift(t.Context(), d, DefaultConfig(), seed)
			demand.NoError(t, err)
			if min(found.Columns.Adjusted, found.Score.Adjusted) <= .05 {
				called++
			}
		}
		t.Logf("%s: drift called in %d of %d", c.name, called, tables)
		n, chance := float64(tables), func(share float64) float64 { return 2 * math.Sqrt(share*(1-share)*float64(tables)) }
		if demand.Nightly {
			chance = func(float64) float64 { return 0 }
		}
		if float64(called) < c.least*n-chance(c.least) || float64(called) > c.most*n+chance(c.most) {
			t.Errorf("%s: drift called in %d of %d", c.name, called, tables)
		}
	}
}

// TestRareLevel: a level that no row of most times has tells nothing about how the means of times depend.
func TestRareLevel(t *testing.T) {
	d, rng := Table{Dim: 1, Unit: "quarter"}, random.New(1, "rare level")
	for at := range 98 {
		for i := range 300 + rng.IntN(40) {
			x := float32(0)
			if at > 70 && at%4 == 0 && i%30 == 0 {
				x = 1
			}
			d.X, d.Time, d.Order = append(d.X, x), append(d.Time, float64(at)), append(d.Order, float64(len(d.Order)))
		}
	}
	found, err := FindDrift(t.Context(), d, DefaultConfig(), 1)
	demand.NoError(t, err)
	if found.Dependence > 1.5 {
		t.Errorf("autocorrelation time %.2f, %d chunks", found.Dependence, found.Chunks)
	}
}
