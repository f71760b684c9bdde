package backtest

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"tvps/replicate/tables"
	"tvps/replicate/usage"
)

// gap is how late labels come: by blocks that have rows, or by a time as table.Times has them, in bins of the calendar
// or days.
type gap struct {
	blocks int
	time   float64
	unit   string // of time
}

// shortest and longest are the days that units of time can have, months how many months some have. A gap that is too
// short would let models learn from labels that are not known yet.
var (
	shortest = map[string]float64{"hour": 1. / 24, "day": 1, "week": 7, "month": 28, "quarter": 90, "year": 365}
	longest  = map[string]float64{"hour": 1. / 24, "day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}
	months   = map[string]float64{"month": 1, "quarter": 3, "year": 12}
)

// parseGap parses "2", "2 blocks", or "10 days". A duration rounds up to whole bins. Errors are those of usage.
func parseGap(text string, s *tables.Stream) (g gap, err error) {
	if text == "" {
		return g, nil
	}
	number, unit, _ := strings.Cut(strings.TrimSpace(text), " ")
	n, failed := strconv.ParseFloat(number, 64)
	unit = strings.TrimSuffix(strings.TrimSpace(unit), "s")
	length, isTime := longest[unit]
	switch {
	case failed != nil || !(n >= 0 && n <= 1e6) || !isTime && (unit != "" && unit != "block" || n != math.Trunc(n)):
		return g, usage.Errorf("the gap %q is neither blocks, as 2, nor a duration, as \"10 days\"", text)
	case !isTime || n == 0:
		g.blocks = int(n)
		return g, nil
	case months[unit] > 0 && months[s.Source.Bin.Unit] > 0:
		g.time = math.Ceil(n * months[unit] / months[s.Source.Bin.Unit])
	case s.Source.Bin.Unit != "":
		g.time = math.Ceil(n * length / shortest[s.Source.Bin.Unit])
	case s.TimeUnit() != "days":
		return g, usage.Errorf("the gap %q is a duration, but the times of this table are not dates, or --bin makes blocks of "+
			"rows; give a number of blocks", text)
	default:
		g.time = n * length
	}
	g.unit = s.TimeUnit()
	return g, nil
}

// String is its identity in the store.
func (g gap) String() string {
	if g.time > 0 {
		return fmt.Sprintf("up to %g %s", g.time, g.unit)
	}
	return fmt.Sprintf("{%d 0}", g.blocks)
}

// known is the number of the first blocks whose labels are known when block step is predicted. A day or bin that is
// just the gap older is not known, as its labels come in the course of the test block. times: of all blocks, exact to a
// microsecond where they are days.
func (g gap) known(times []float64, step int) int {
	const microsecond = 1. / 86400e6
	known := max(0, step-g.blocks)
	for known > 0 && g.time > 0 && times[step]-times[known-1] < g.time+microsecond {
		known--
	}
	return known
}
