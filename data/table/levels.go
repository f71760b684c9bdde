package table

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gomlx/gomlx/support/xslices"
)

// Limits of the levels of a category. A column with more is text, if its kind was not given.
const mostLevels, mostLevelBytes = 1 << 16, 16 << 20

// setLevel stores a category. A column with too many levels becomes text.
func (b *builder) setLevel(i int, text []byte) {
	code, ok := b.index[string(text)]
	if !ok {
		level := string(text)
		if b.bytes += len(level); !b.given && (len(b.Levels) == mostLevels || b.bytes > mostLevelBytes) {
			b.noteUnit()
			b.ignore()
			return
		}
		b.Levels = append(b.Levels, level)
		code = uint32(len(b.Levels))
		b.index[level] = code
	}
	b.code[i] = code
}

// ignore makes a category a text.
func (b *builder) ignore() {
	b.Kind, b.code, b.Levels, b.index = Text, nil, nil, nil
	if why := b.Note; why != "" {
		b.notes = append(b.notes, fmt.Sprintf("%s are read as codes, of which the column has too many for a category; "+
			"if they are amounts, give --type %s=number", why, b.Name))
	}
	b.Note = joined(", ", b.Note, "too many different texts for a category")
}

// finish sorts the levels and returns the column.
func (b *builder) finish() *column {
	if b.Kind == Category {
		b.settle()
		b.noteUnit()
		ofTime := slices.Contains(strings.Split(b.in.o.Time, "+"), b.Name) // days such as 01 to 31 are joined
		if n := len(b.Levels); n > 20 && n > (len(b.code)-b.Missing)/2 && !b.given && !ofTime {
			b.ignore()
		}
	}
	b.dates.known = nil
	return b.column
}

// withUnit is a number that has a unit before it, such as CHF or US$, or behind it, such as kg or %, or none.
var withUnit = regexp.MustCompile(`^(\pL{1,3}\.?[ \x{a0}]|EUR|USD|GBP|CHF|\p{Lu}{0,2}\p{Sc} ?)?[-+]?` +
	`\d[\d.,'\x{2019} \x{a0}\x{202f}]*([\pL°%\p{Sc}][\pL/²³]{0,4}\.?)?$`)

// noteUnit notes that the levels are numbers with a unit, or a few of them, if they are more than a few levels.
func (b *builder) noteUnit() {
	const mostUnits = 3 // seats such as 12A have more letters
	if b.given || len(b.Levels) <= 10 && b.signed == 0 {
		return
	}
	example, units, n, others := "", map[string]bool{}, 0, 0
	for _, level := range b.Levels {
		part := withUnit.FindStringSubmatch(level)
		if part == nil {
			others++
		} else if unit := strings.Trim(part[1]+part[2], " \u00a0"); unit != "" {
			example, units[unit], n = cmp.Or(example, level), true, n+1
		}
	}
	if 4*others > len(b.Levels) || 10*n < len(b.Levels) || len(units) > mostUnits {
		return
	}
	names := strings.Join(xslices.Map(slices.Sorted(maps.Keys(units)), quote), " and ")
	one := map[bool]string{true: "write all in one unit, and "}[len(units) > 1 || n+others < len(b.Levels)]
	b.notes = append(b.notes, fmt.Sprintf("%s and others are numbers with a unit, which are read as texts: %sleave out %s",
		quote(example), one, names))
}

// settle sorts the levels: their order does not depend on that of the rows. It makes missing those that mean it.
func (b *builder) settle() {
	counts := map[string]int{}
	b.recode(func(level string, n int) bool {
		counts[level] = n
		return true
	})
	b.recode(func(level string, n int) bool {
		keep := !b.in.isMissing([]byte(level)) || b.isLevel(level, counts)
		if !keep {
			b.texts[level], b.Missing = n, b.Missing+n
		}
		return keep
	})
}

// recode sorts the levels and drops those that are not to be kept; their rows have no value then. n: the rows of a
// level.
func (c *column) recode(keep func(level string, n int) bool) {
	counts, to := make([]int, len(c.Levels)+1), make([]uint32, len(c.Levels)+1)
	for _, code := range c.code {
		counts[code]++
	}
	codes := make(map[string]int, len(c.Levels))
	for i, level := range c.Levels {
		codes[level] = i + 1
	}
	c.Levels = nil
	for _, level := range slices.Sorted(maps.Keys(codes)) {
		if code := codes[level]; keep(level, counts[code]) {
			c.Levels = append(c.Levels, level)
			to[code] = uint32(len(c.Levels))
		}
	}
	for i, code := range c.code {
		c.code[i] = to[code]
	}
}

// isLevel says whether a text that usually means a missing value is a level of this column: None, if no other level has
// as many rows, and NA among codes of two letters, such as those of countries. counts: the rows of each level.
func (b *builder) isLevel(text string, counts map[string]int) bool {
	if b.in.named != nil {
		return false
	}
	others, pairs, largest := 0, 0, 0
	for level, n := range counts {
		if !b.in.isMissing([]byte(level)) {
			others, largest = others+1, max(largest, n)
			if len(level) == 2 && strings.Trim(level, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
				pairs++
			}
		}
	}
	why := ""
	switch {
	case text == "None" && others > 0 && counts[text] > largest:
		why = "the most frequent one"
	case text == "NA" && pairs >= 5 && 10*pairs >= 9*others:
		why = "as others are codes of two letters"
	default:
		return false
	}
	b.notes = append(b.notes, fmt.Sprintf("%s is a level, %s, in %s; if it means a missing value, give --missing %s",
		quote(text), why, plural(counts[text], "row"), text))
	return true
}
