package crossfit

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// View is how g sees the time: g is a function of the row and of the view's code.
type View struct {
	Name string // "trend", "times", "day of the week", "trend and day of the week", ...
	// Waves is the number of sines and cosines of 1, 2, ... half periods over the times, with the time itself before
	// them; 0: no trend.
	Waves int `json:",omitempty"`
	Steps int `json:",omitempty"` // the time of a trend is rounded to a multiple of 1/Steps of its range; 0: not
	// Times are told apart, each by itself; nil: not.
	Times []float64 `json:",omitempty"`
	Cycle *Cycle    `json:",omitempty"` // nil: no phase
}

// Cycle is a phase that recurs.
type Cycle struct {
	Name   string
	Length float64 // in units of time
	Floor  float64 // the phase is that of the last multiple of it, so that g sees few phases; 0: of the time itself
	Days   float64 // in a unit of time, for the day of the month; 0: the phase is that of Length
	Waves  int     // pairs of sine and cosine
	Plain  bool    // a period of plain numbers, not of the calendar
	clock  *clock
}

// clock tells what the clocks of a zone show at an elapsed time in units of so many seconds.
type clock struct {
	zone    *time.Location
	seconds float64
}

// Unit is what the times of a table count since 1970: "hour", "day", "week", "month", "quarter" or "year". "" is for
// others.
type Unit string

const (
	daysOfYear, daysOfMonth = 365.2425, 365.2425 / 12
	yearly, monthly         = "day of the year", "month of the year" // the latter if the times are of at most 12 parts
)

// cycles are those of the calendar.
var cycles = map[Unit][]Cycle{
	"hour": {
		{Name: "hour of the day", Length: 24, Floor: 1, Waves: 4},
		{Name: "day of the week", Length: 7 * 24, Floor: 24, Waves: 3},
		{Name: "day of the month", Length: daysOfMonth * 24, Floor: 24, Days: 1. / 24, Waves: 3},
		{Name: yearly, Length: daysOfYear * 24, Floor: 24, Waves: 4},
	},
	"day": {
		{Name: "hour of the day", Length: 1, Floor: 1. / 24, Waves: 4},
		{Name: "day of the week", Length: 7, Floor: 1, Waves: 3},
		{Name: "day of the month", Length: daysOfMonth, Floor: 1, Days: 1, Waves: 3},
		{Name: yearly, Length: daysOfYear, Floor: 1, Waves: 4},
	},
	"week":    {{Name: "week of the year", Length: daysOfYear / 7, Waves: 4}},
	"month":   {{Name: monthly, Length: 12, Waves: 4}},
	"quarter": {{Name: "quarter of the year", Length: 4, Waves: 2}},
}

// Phase is the place of a time in the cycle, from 0 to 1.
func (c Cycle) Phase(t float64) float64 {
	if c.clock != nil {
		_, ahead := time.Unix(int64(math.Round(t*c.clock.seconds)), 0).In(c.clock.zone).Zone()
		t += float64(ahead) / c.clock.seconds
	}
	if c.Days > 0 {
		return float64(time.Unix(int64(math.Floor(t*c.Days+1e-6))*86400, 0).UTC().Day()-1) / 31
	}
	if c.Floor > 0 {
		t = math.Floor(t/c.Floor+1e-6) * c.Floor
	}
	return t/c.Length - math.Floor(t/c.Length)
}

// part is the place of a time in the cycle, rounded to one of so many.
func (c Cycle) part(t float64, parts int) int {
	return int(math.Round(c.Phase(t)*float64(parts))) % parts
}

// Alike tells whether two times have the same phase, except for a small part of the cycle.
func (c Cycle) Alike(a, b float64) bool { return c.part(a, mostPhases) == c.part(b, mostPhases) }

// leastCycles is the least number of cycles in the times, and mostPhases the number of phases that are told apart when
// it is asked whether they recur.
const leastCycles, mostPhases = 4, 24

// Cycles lists the cycles of the calendar of which the times, ascending, have leastCycles, and several phases that
// recur. zone: of Table. Times that are as far apart as a cycle is long, except for a tenth that may be out of place,
// do not show it, and those that are weeks apart show no day of the month, as bins of weeks do not: a slower change
// would look like one (an alias).
func Cycles(unit Unit, zone *time.Location, times []float64) (out []Cycle) {
	span := (times[len(times)-1] - times[0]) * (1 + 1/float64(len(times)-1))
	for _, c := range cycles[unit] {
		if zone != nil {
			c.clock = &clock{zone, map[Unit]float64{"hour": 3600, "day": 86400}[unit]}
		}
		otherWeekday := func(t float64) bool { return math.Abs(math.Remainder((t-times[0])*c.Days, 7)) >= 1 }
		if c.Days > 0 && !slices.ContainsFunc(times, otherWeekday) {
			continue
		}
		var last [mostPhases]float64 // cycle in which a phase was last, counted from 1
		phases, seen := 0, 0         // seen: each phase once a cycle
		var gaps []float64           // between neighbouring times of different phases
		for i, t := range times {
			if i > 0 && c.part(t, mostPhases) != c.part(times[i-1], mostPhases) {
				gaps = append(gaps, t-times[i-1])
			}
			phase, cycle := c.part(t, mostPhases), 1+math.Floor((t-times[0])/c.Length)
			if last[phase] == 0 {
				phases++
			}
			if last[phase] != cycle {
				seen++
			}
			last[phase] = cycle
		}
		slices.Sort(gaps)
		near := len(gaps) > 0 && gaps[len(gaps)/10] < .9*c.Length
		if span >= leastCycles*c.Length*.99 && near && 2*phases <= seen {
			if c.Waves = min(c.Waves, phases/2); c.Name == yearly && phases <= 12 {
				c.Name = monthly
			}
			out = append(out, c)
		}
	}
	return out
}

// mostEven bounds the evenly spaced times in which a period is looked for, and mostPeriod its steps.
const mostEven, mostPeriod = 1024, 64

// periods are the cycles that plain numbers may have: 2, 3, ... steps of evenly spaced times, of which some may be
// missing. There are none for units of the calendar.
func periods(unit Unit, times []float64) (out []Cycle) {
	if len(times) < 2*leastCycles || cycles[unit] != nil {
		return nil
	}
	step := math.Inf(1)
	for i := range times[1:] {
		step = min(step, times[i+1]-times[i])
	}
	span := (times[len(times)-1] - times[0]) / step
	for _, t := range times {
		if at := (t - times[0]) / step; math.Abs(at-math.Round(at)) > 1e-6 || span > mostEven {
			return nil
		}
	}
	for steps := 2; steps <= min(mostPeriod, (int(span+.5)+1)/leastCycles); steps++ {
		length := float64(steps) * step
		out = append(out, Cycle{Name: fmt.Sprintf("a period of %.6g", length), Length: length,
			Waves: min(4, steps/2), Plain: true})
	}
	return out
}

// Bounds of views: times that are told apart, rows of one on average, and steps of a trend by itself and with a phase.
const mostTimes, rowsPerTime, mostSteps, mostStepsWithPhase = 128, 20, 256, 64

// views are the candidates of one part. times: those that differ, ascending, of n rows.
func views(times []float64, n int, cycles []Cycle) []View {
	out := []View{{Name: "slow trend", Waves: 2}, {Name: "trend", Waves: 8}}
	if s := len(times); s > 2 && s <= mostTimes && n >= rowsPerTime*s {
		out = append(out, View{Name: "times", Times: times})
	}
	if len(times) > mostSteps {
		out[0].Steps, out[1].Steps = mostSteps, mostSteps
	}
	for _, c := range cycles {
		out = append(out, View{Name: c.Name, Cycle: &c})
	}
	return out
}

// with is a trend with a phase as well.
func (v View) with(c View, times int) View {
	v.Name, v.Cycle = v.Name+" and "+c.Name, c.Cycle
	if times > mostStepsWithPhase {
		v.Steps = mostStepsWithPhase
	}
	return v
}

// width is the length of a code.
func (v View) width() int {
	return len(v.code(0, func(float64) float64 { return 0 }))
}

// code of a time. unit scales times to 0 to 1. Later times have the trend of the last one, and their own phase.
func (v View) code(t float64, unit func(t float64) float64) []float32 {
	out := make([]float32, len(v.Times))
	waves := func(phase float64, n int) {
		for k := 1; k <= n; k++ {
			sin, cos := math.Sincos(phase * float64(k))
			out = append(out, float32(sin), float32(cos))
		}
	}
	if v.Times != nil {
		at, _ := slices.BinarySearch(v.Times, t)
		if at == len(v.Times) || at > 0 && t-v.Times[at-1] < v.Times[at]-t {
			at-- // the nearest
		}
		out[at] = 1
	}
	if v.Waves > 0 {
		u := min(unit(t), 1)
		if v.Steps > 0 {
			u = math.Round(u*float64(v.Steps)) / float64(v.Steps)
		}
		out = append(out, float32(2*u-1))
		waves(math.Pi*u, v.Waves)
	}
	if v.Cycle != nil {
		waves(2*math.Pi*v.Cycle.Phase(t), v.Cycle.Waves)
	}
	return out
}
