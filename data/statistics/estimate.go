// Package statistics has the estimates, intervals and tests by which runs and tables are judged, each with its formula
// and its source. Tests simulate how often the intervals hold the truth (TestCoverage).
package statistics

import (
	"fmt"
	"math"
	"strings"
)

// Level is the confidence level of every interval.
const Level = 0.95

// Estimate is a mean over seeds, or over the blocks of a table, with its interval.
type Estimate struct {
	Mean      float64
	Low, High float64 // both equal Mean when N < 2: one seed has no spread
	N         int     // number of seeds or blocks
	Exact     bool    `json:",omitempty"` // from a closed form: Mean is the number, whatever N is
}

// Decimals is the usual number of decimals, or more where an interval that excludes 0 would seem to touch it.
func (e Estimate) Decimals(usual int) int {
	if e.N < 2 || e.Low*e.High <= 0 {
		return usual
	}
	decimals, nearest := usual, min(math.Abs(e.Low), math.Abs(e.High))
	for decimals < usual+3 && nearest < math.Pow10(-decimals)/2 {
		decimals++
	}
	return decimals
}

// Bounds are the ends of the interval, to the usual number of decimals or more.
func (e Estimate) Bounds(usual int) string {
	decimals := e.Decimals(usual)
	return fmt.Sprintf("[%s, %s]", Signed(decimals, e.Low), Signed(decimals, e.High))
}

// Text is the mean with its interval, to the usual number of decimals or more.
func (e Estimate) Text(usual int) string {
	return Signed(e.Decimals(usual), e.Mean) + " " + e.Bounds(usual)
}

// String is Text to three decimals, with the number of seeds.
func (e Estimate) String() string {
	switch {
	case e.Exact:
		return fmt.Sprintf("%g by its closed form", e.Mean)
	case e.N == 0:
		return "not measured"
	case e.N == 1:
		return Signed(3, e.Mean) + " (one seed, so no interval)"
	}
	return fmt.Sprintf("%s, n = %d", e.Text(3), e.N)
}

// Signed formats a number with its sign to so many decimals, never as minus zero.
func Signed(decimals int, v float64) string {
	text := fmt.Sprintf("%+.*f", decimals, v)
	if strings.Trim(text, "-0.") == "" {
		return "+" + text[1:]
	}
	return text
}

// Intervals are the intervals of an estimate at all confidence levels between 0 and 1. The higher the level, the wider
// they are.
type Intervals func(level float64) Estimate

// Clip keeps the ends of the interval between low and high.
func (i Intervals) Clip(low, high float64) Intervals {
	return func(level float64) Estimate {
		e := i(level)
		e.Low, e.High = max(low, e.Low), min(high, e.High)
		return e
	}
}

// PValue is 1 - the highest level at which decides is true of the interval: the p-value of the hypothesis that it
// rejects. decides must be false for wider intervals once it is false. It is 1 if decides is true at no level.
func (i Intervals) PValue(decides func(e Estimate) bool) float64 {
	const least = 1e-12
	if decides(i(1 - least)) {
		return least
	}
	return math.Exp(bisect(0, math.Log(least), func(p float64) bool { return decides(i(1 - math.Exp(p))) }))
}

// bisect returns the border of the values near in for which inside is true.
func bisect(in, out float64, inside func(float64) bool) float64 {
	for range 60 {
		if middle := (in + out) / 2; inside(middle) {
			in = middle
		} else {
			out = middle
		}
	}
	return in
}
