package tables

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ShortName is the name of a time; that of a block of rows is where it begins.
func ShortName(time string) string {
	if _, from, ok := strings.Cut(time, " (from "); ok {
		return strings.TrimSuffix(from, ")")
	}
	return time
}

// Joined is "a", "a and b" or "a, b and c".
func Joined(list []string, and string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " " + and + " " + list[last]
}

// Few lists names, at most so many.
func Few(list []string, most int) string {
	if len(list) <= most {
		return Joined(list, "and")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}

// PIs is a probability as "= 0.012" or "< 0.001".
func PIs(p float64) string {
	if p < .0005 {
		return "< 0.001"
	}
	return fmt.Sprintf("= %.3f", p)
}

// Duration is a time of so many units for people: weeks, blocks, units of time.
func Duration(n float64, unit string) string {
	if n >= 1e3 {
		n = math.Round(n)
	} else {
		n, _ = strconv.ParseFloat(strconv.FormatFloat(n, 'g', 4, 64), 64)
	}
	if n == 1 {
		unit = strings.Replace(unit, "s", "", 1)
	}
	return fmt.Sprintf("%g %s", n, unit)
}
