package table

import (
	"bytes"
	"fmt"
	"math/bits"
	"strconv"
)

// shortDates are the dates of a column that may begin with the year, as 23/01/31, read in each way.
type shortDates struct {
	values   [2]uint32            // bits of the first numbers, and of the last ones
	before   [shortFirst + 1]int  // the date of the row before, by each layout
	up, down [shortFirst + 1]bool // dates rise, or fall, from a row to the next one
}

// add adds the date at the beginning of a text: two digits, one or two, and two.
func (s *shortDates) add(text []byte) {
	number := func(digits []byte) int {
		n, _ := strconv.Atoi(string(digits)) // no error: a layout reads them
		return n
	}
	slash := bytes.LastIndexByte(text[:6], '/')
	first, middle, last := number(text[:2]), number(text[3:slash]), number(text[slash+1:slash+3])
	known := s.values[0] > 0
	s.values[0], s.values[1] = s.values[0]|1<<first, s.values[1]|1<<last
	dates := [...]int{
		dayFirst:   10000*last + 100*middle + first,
		monthFirst: 10000*last + 100*first + middle,
		shortFirst: 10000*first + 100*middle + last,
	}
	for way, date := range dates {
		s.up[way] = s.up[way] || known && date > s.before[way]
		s.down[way] = s.down[way] || known && date < s.before[way]
		s.before[way] = date
	}
}

// tell takes one of the layouts that read all dates, if one has the year first: that in which the rows are in the order
// of time, or else that with nearly all days of the month and far fewer years. It returns a note; none if it cannot
// tell.
func (s *shortDates) tell(d *dates, name, text string) (note string) {
	if d.possible&(1<<shortFirst) == 0 || !d.ambiguous() {
		return ""
	}
	const manyDays = 20 // more than dates of months, quarters and years have
	why, sorted := "the rows are then in order", uint8(0)
	for way := range s.up {
		if d.possible>>way&1 != 0 && !(s.up[way] && s.down[way]) {
			sorted |= 1 << way
		}
	}
	first, last := bits.OnesCount32(s.values[0]), bits.OnesCount32(s.values[1])
	switch {
	case bits.OnesCount8(sorted) == 1:
		d.possible = sorted
	case d.possible != 1<<dayFirst|1<<shortFirst || max(first, last) < max(manyDays, 3*min(first, last)):
		return ""
	default:
		why, d.possible = "days have more values than years", 1<<shortFirst
		if first > last {
			d.possible = 1 << dayFirst
		}
	}
	return fmt.Sprintf("%s is read with the %s, as %s; if it is not so give --layout %s=FORMAT, with %%y for the year",
		quote(text), d, why, name)
}
