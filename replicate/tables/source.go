package tables

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"tvps/data/artifact"
	"tvps/data/table"
	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/runs"

	"github.com/gomlx/gomlx/support/xslices"
)

// Source says which table is meant, and which of its columns are time and label.
type Source struct {
	File  string // CSV (also .gz, .zst) or Parquet: a file, a folder of files, or a pattern as part-*.csv
	Time  string // column of the time; empty: the order of the rows, which Bin then cuts into blocks
	Label string // column of the outcome; empty: none
	// LabelKind says whether the label is a class or a number; empty: found.
	LabelKind table.LabelKind
	// OnlyFeatures says that rows without a label take part, since only their features are needed.
	OnlyFeatures bool
	Unseen       string // column of booleans: rows with true are not learned from; empty: all are
	// Group is the column of the entity of each row, such as a shop; empty: there are none. It is a feature only if
	// Read.Kinds names it.
	Group string
	Bin   table.Bin
	Read  table.Options
}

// Stream is a table whose rows have times. It does not change.
type Stream struct {
	Source   Source
	Table    *table.Data
	Times    *table.Times
	Label    *table.Label // nil without a label
	Read     int          // number of rows of the table, also of those that Table leaves out
	Early    bool         // Label is that of the rows up to T, and that of all rows would have other classes
	Group    []int32      // entity of every row; nil without Source.Group
	Features []string     // the columns that a model learns from
	order    []float64    // of every row, for rows of equal time
	mixed    bool         // the rows of each time are sorted by the label, and order mixes them
	// Late is the last time of all, if none of its rows has a label; LateTimes is the number of times at the end that have
	// no labels, or fewer than before. partly is a note on the latter.
	Late      string
	LateTimes int
	partly    string
}

// check returns an error for columns that contradict each other.
func (s Source) check() error {
	if s.Label != "" && s.Label == s.Time {
		return &table.Error{File: s.File, Column: s.Label, Problem: "the column is named as the time and as the label",
			Fix: "name another one with --label or --time"}
	}
	if s.Group != "" && (s.Group == s.Time || s.Group == s.Label) {
		return &table.Error{File: s.File, Column: s.Group, Problem: "the column is the time or the label, and named as the group",
			Fix: "name another one with --group"}
	}
	for _, name := range []string{s.Time, s.Label, s.Group} {
		if name != "" && slices.Contains(s.Read.Drop, name) {
			return &table.Error{File: s.File, Column: name, Fix: "take it out of --drop",
				Problem: "the column is the time, the label or the group, and is to be left out"}
		}
	}
	return nil
}

// SHA256 identifies the content of the table's files. That of several depends on their names, too.
func (s Source) SHA256() (string, error) {
	files, err := table.Files(s.File)
	if err == nil && len(files) == 1 && files[0] == s.File {
		return artifact.SHA256(s.File)
	}
	all := sha256.New()
	for _, name := range files {
		hash, err := artifact.SHA256(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(all, "%s %q\n", hash, name)
	}
	return hex.EncodeToString(all.Sum(nil)), err
}

// Open reads the table. Its errors are *table.Error where the user can mend the file or the request.
func Open(source Source) (*Stream, error) {
	if err := source.check(); err != nil {
		return nil, err
	}
	read, leftOut := source.Read, []string{source.Time, source.Label, source.Unseen}
	if read.Time = source.Time; source.Group != "" && read.Kinds[source.Group] == "" {
		read.Kinds, leftOut = maps.Clone(read.Kinds), append(leftOut, source.Group)
		if read.Kinds == nil {
			read.Kinds = map[string]table.Kind{}
		}
		read.Kinds[source.Group] = table.Category // of any texts, and so many
	}
	t, err := table.Open(source.File, read)
	if err != nil {
		return nil, err
	}
	label := source.Label
	if source.OnlyFeatures && len(t.Missing(label)) > 0 {
		label = ""
	}
	whole := t
	t = t.Usable(source.Time, label)
	s := &Stream{Source: source, Table: t, Read: whole.Rows()}
	if s.Times, err = t.Times(source.Time, source.Bin); err != nil {
		return nil, err
	}
	if s.Features, err = t.Features(leftOut...); err != nil {
		return nil, err
	}
	if s.Group, err = t.Groups(source.Group); err != nil {
		return nil, err
	}
	if label != "" {
		if len(whole.Missing(label)) > 0 {
			s.unlabelled(whole)
		}
		if s.Label, err = t.Label(source.Label, source.LabelKind); err != nil {
			return s, err
		}
	}
	s.order, err = s.ordered()
	return s, err
}

// unlabelled finds the times of all rows of the table that was read: labels of the last times are often not known yet.
func (s *Stream) unlabelled(read *table.Data) {
	bin, name := s.Source.Bin, s.Source.Time
	if bin.Unit == "" { // blocks of other rows are not the same blocks
		bin = table.Bin{}
	}
	read = read.Usable(name, "")
	all, problem := read.Times(name, bin)
	labelled, other := s.Table.Times(name, bin)
	if problem != nil || other != nil { // there is no column of times, or a row without a label has none
		return
	}
	last := len(all.Names) - 1
	for last > 0 && all.Names[last] != labelled.Names[len(labelled.Names)-1] {
		s.Late, last = all.Names[len(all.Names)-1], last-1
	}
	missing := make([]int, len(all.Names))
	for _, row := range read.Missing(s.Source.Label) {
		missing[all.Index[row]]++
	}
	times, share := partlyLate(all.Counts[:last+1], missing[:last+1])
	if times > 0 {
		from := last + 1 - times
		before := from - 1
		for missing[before] == all.Counts[before] {
			before--
		}
		s.partly = fmt.Sprintf("%.0f%% of the rows from %s on have no label, clearly more than before: if these still come, "+
			"y may seem to drift; leave these rows out, in weights and backtest by --at %s", 100*share, all.Names[from], all.Names[before])
	}
	if bin.Unit != "" || s.Source.Bin == bin {
		s.LateTimes = len(all.Names) - 1 - last + times
	}
}

// partlyLate is the number of last times of which clearly fewer rows have a label than of each earlier stretch of as
// many times, and their share without one; 0 for none. If it happened before, as at weekends, it is no delay. Clearly
// means ten rows, twice the odds and 3.3 standard errors, which chance exceeds in less than one table of a thousand.
// The last 1, 2, 4, ... times are tried, up to a quarter of all, and the clearest counts. rows: of each time; missing:
// those without a label.
func partlyLate(rows, missing []int) (times int, share float64) {
	strongest := 3.3
	for k := 1; 4*k <= len(rows); k *= 2 {
		n, m, most, of := 0., 0., 0., 0. // of the last times, and of the earlier stretch with the largest share
		for to := len(rows); to >= k; to -= k {
			a, b := 0., 0.
			for at := to - k; at < to; at++ {
				a, b = a+float64(rows[at]), b+float64(missing[at])
			}
			switch {
			case n == 0:
				n, m = a, b
			case 2*a >= n && b*of >= most*a: // that of a few rows says nothing
				most, of = b, a
			}
		}
		late, before, pooled := m/n, most/of, (m+most)/(n+of)
		z := (late - before) / math.Sqrt(pooled*(1-pooled)*(1/n+1/of))
		if m >= 10 && late*(1-before) >= 2*before*(1-late) && z > strongest {
			strongest, times, share = z, k, late
		}
	}
	return times, share
}

// ordered puts the rows of one bin in order, for held-out rows that are contiguous in time: as they are in a file in
// time order, otherwise by their exact time. If the file has the rows of each time sorted by the label, neighbours are
// alike for no other reason: then they are mixed at random, and only those of one label keep their order.
func (s *Stream) ordered() ([]float64, error) {
	inFile := xslices.Iota(0.0, s.Table.Rows())
	if s.Source.Time == "" || s.Label == nil && s.Times.Sorted {
		return inFile, nil
	}
	exact := s.Times
	if s.Source.Bin != (table.Bin{}) {
		var err error
		if exact, err = s.Table.Times(s.Source.Time, table.Bin{}); err != nil {
			return nil, err
		}
	}
	if s.Label != nil {
		order := mixed(exact.Index, crossfit.Table{Label: s.Label.Class, Target: s.Label.Target}.Y)
		if s.mixed = order != nil; s.mixed {
			return order, nil
		}
	}
	if s.Times.Sorted {
		return inFile, nil
	}
	return exact.Of(), nil
}

// at is the place of T in Times: text as the table has its times, or empty for the last time. The first time is an
// error, since it has no past.
func (s *Stream) at(text string) (int, error) {
	at := len(s.Times.Values) - 1
	if text != "" {
		var err error
		var e *table.Error
		if at, err = s.Times.At(text); errors.As(err, &e) && s.Late != "" {
			e.Fix = "rows without a label do not count; --kind covariate needs none"
		}
		if err != nil {
			return 0, err
		}
	}
	if at == 0 {
		fix := "name a later time with --at"
		if text == "" {
			fix = "choose a finer --bin"
		}
		return 0, &table.Error{File: s.Source.File, Column: s.Source.Time, Fix: fix,
			Problem: fmt.Sprintf("%s is the first time, which has no past", s.Times.Names[0])}
	}
	return at, nil
}

// labelUpTo reads the label of the first times alone, if it is another one than that of all: labels that come later are
// not known.
func (s *Stream) labelUpTo(times int) error {
	if s.Label == nil || times == len(s.Times.Values) {
		return nil
	}
	l, err := s.Table.LabelOf(s.Source.Label, s.Source.LabelKind, s.Times.Rows(0, times))
	if err == nil && !slices.Equal(l.Names, s.Label.Names) {
		s.Label, s.Early = l, true
	}
	return err
}

// Sort puts rows in order of time, those of one bin by their exact time or their place in the file.
func (s *Stream) Sort(rows []int) {
	slices.SortStableFunc(rows, func(a, b int) int {
		return cmp.Or(cmp.Compare(s.Times.Index[a], s.Times.Index[b]), cmp.Compare(s.order[a], s.order[b]))
	})
}

// unseen tells of each row whether it is not to be learned from; nil: all are.
func (s *Stream) unseen() ([]bool, error) {
	name := s.Source.Unseen
	if name == "" {
		return nil, nil
	}
	columns, err := s.Table.Columns([]string{name}, nil)
	if err != nil {
		return nil, err
	}
	marks, ok := columns[0].Values.([]bool)
	if !ok || columns[0].Missing != nil {
		return nil, &table.Error{File: s.Source.File, Column: name, Problem: "the column does not say true or false in each row",
			Fix: "name another one with --unseen"}
	}
	return marks, nil
}

// Data encodes rows as g sees them, with an encoder that is fitted on these rows alone.
func (s *Stream) Data(rows []int) (crossfit.Table, *table.Encoder, error) {
	encoder, err := s.Table.Fit(s.Features, rows)
	if err != nil {
		return crossfit.Table{}, nil, err
	}
	d, err := s.Encoded(encoder, rows)
	return d, encoder, err
}

// Encoded encodes rows as g sees them.
func (s *Stream) Encoded(encoder *table.Encoder, rows []int) (d crossfit.Table, err error) {
	if d.X, err = encoder.Encode(s.Table, rows); err != nil {
		return d, err
	}
	d.Unit, d.Zone = s.Unit(), s.Zone()
	d.Dim, d.Time, d.Order = encoder.Dim(), loop.Pick(s.Times.Of(), rows), loop.Pick(s.order, rows)
	d.Group = loop.Pick(s.Group, rows)
	if s.Label != nil {
		d.Classes, d.Target, d.Label = s.Label.Classes(), loop.Pick(s.Label.Target, rows), loop.Pick(s.Label.Class, rows)
	}
	return d, nil
}

// TimeUnit names the unit of half-lives.
func (s *Stream) TimeUnit() string {
	switch unit := s.Unit(); {
	case unit != "":
		return string(unit) + "s"
	case s.Source.Bin != table.Bin{}:
		return "blocks"
	}
	return "units of time"
}

// Unit is what Times counts since 1970; "" for blocks and plain numbers.
func (s *Stream) Unit() crossfit.Unit {
	if bin := s.Source.Bin; bin.Unit != "" || bin.Rows > 0 || bin.Blocks > 0 {
		return crossfit.Unit(bin.Unit)
	}
	for _, c := range s.Table.Schema().Columns {
		if c.Name == s.Source.Time && c.Kind == table.Time {
			return "day"
		}
	}
	return ""
}

// Zone is that of the calendar if Times are hours or exact, which counts elapsed time; nil: Times have it already.
func (s *Stream) Zone() *time.Location {
	if unit := s.Source.Bin.Unit; unit == "" || unit == "hour" {
		return s.Source.Read.Location
	}
	return nil
}

// String names the columns that a model learns from by their kinds, what the label is read as, and those columns that
// a model does not see.
func (s *Stream) String() string {
	var parts, ignored []string
	for _, kind := range table.Kinds {
		n := 0
		for _, c := range s.Table.Schema().Columns {
			switch {
			case c.Kind == kind && slices.Contains(s.Features, c.Name):
				n++
			case c.Kind == kind && c.Name != s.Source.Time && c.Name != s.Source.Label && c.Name != s.Source.Group:
				ignored = append(ignored, fmt.Sprintf("%s (%s)", c.Name, c.Unused()))
			}
		}
		if n > 0 {
			parts = append(parts, runs.Plural(n, string(kind)))
		}
	}
	text := fmt.Sprintf("%s: %s", runs.Plural(len(s.Features), "feature"), strings.Join(parts, ", "))
	if s.Label != nil && s.Label.Names == nil {
		text += fmt.Sprintf("; %s: a number", s.Label.Column)
	} else if s.Label != nil {
		text += fmt.Sprintf("; %s: %d classes", s.Label.Column, s.Label.Classes())
	}
	if s.Group != nil {
		text += fmt.Sprintf("; groups by %s: %d", s.Source.Group, slices.Max(s.Group)+1)
	}
	if len(ignored) > 0 {
		text += "; not used: " + strings.Join(ignored, ", ")
	}
	return text
}
