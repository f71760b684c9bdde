package table

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"tvps/data/artifact"

	"github.com/gomlx/gomlx/support/xslices"
)

// Open reads a table of one or several files, as Files lists them. All errors are of type *Error, except those of the
// system that have nothing to do with the file's content; a file that does not exist is an *Error that wraps
// fs.ErrNotExist.
func Open(path string, o Options) (*Data, error) {
	parts, err := open(path)
	defer func() {
		for _, p := range parts {
			_ = p.r.(*os.File).Close()
		}
	}()
	if err != nil {
		return nil, err
	}
	return read(path, parts, o)
}

// Read reads a table of size bytes from r, as Open does. The name is for errors.
func Read(name string, r io.ReaderAt, size int64, o Options) (*Data, error) {
	return read(name, []*part{{name: name, r: r, size: size}}, o)
}

func read(name string, parts []*part, o Options) (*Data, error) {
	if err := o.check(); err != nil {
		return nil, &Error{File: name, Problem: err.Error()}
	}
	in := &input{name: name, parts: parts, o: o}
	t, err := in.read()
	if err == nil && t.byName[o.Time] == nil && strings.Contains(o.Time, "+") {
		t, err = t.join(o)
	}
	if err != nil {
		return nil, in.placed(err, &part{name: name})
	}
	for _, text := range in.named {
		found := func(c *column) bool { return c.texts[text] > 0 }
		if text != "" && !slices.ContainsFunc(t.columns, found) {
			t.notes = append(t.notes, quote(text)+", which is to mean a missing value, is none of the table: texts are compared as "+
				"they are written, so 5 is not 5.0")
		}
	}
	return t, nil
}

// input is what is read, and how.
type input struct {
	name    string // as it was given
	parts   []*part
	names   []string // of the columns of the first part
	o       Options
	found   bool // the decimal comma was, in the table
	dots    bool // a point may stand between thousands: the delimiter is ;, and no number has a point that cannot
	limits  *limits
	missing []string
	named   []string // those of the options, except numbers that are not finite; nil: none, and missing are the default
	notes   []string
	words   map[string]tally // texts of all columns that are no values, and in how many rows
}

// prepare sets what the options leave out, and refuses kinds that there are not.
func (in *input) prepare() error {
	for name, kind := range in.o.Kinds {
		if !slices.Contains(Kinds, kind) {
			return &Error{Column: name, Problem: fmt.Sprintf("kind %s is not one of %s", quote(string(kind)), Kinds)}
		}
	}
	if in.o.Location == nil {
		in.o.Location = time.UTC
	}
	if in.limits = in.o.limits; in.limits == nil {
		in.limits = &limits{Columns: 10_000, Cells: 1 << 31, Free: 256 << 20, Ratio: 200}
	}
	odd := nans // missing whatever else is
	for _, text := range in.o.Missing {
		text = strings.TrimSpace(text)
		if strings.EqualFold(text, "inf") {
			odd = slices.Concat(odd, infinities)
		} else if !slices.Contains(nans, text) {
			in.missing = append(in.missing, text)
		}
	}
	if in.named = in.missing; in.named == nil {
		in.missing = defaultMissing
	}
	in.missing = slices.Concat(in.missing, odd)
	return nil
}

// nans and infinities are how numbers that are not finite are written.
var (
	nans       = strings.Fields("nan NaN NAN -nan -NaN")
	infinities = strings.Fields("inf Inf INF +inf +Inf +INF -inf -Inf -INF infinity Infinity +infinity +Infinity -infinity -Infinity")
)

// begin forgets what was read.
func (in *input) begin() {
	in.names, in.notes, in.words = nil, nil, map[string]tally{}
	for _, p := range in.parts {
		p.first = math.MaxInt // later than any row that is read
	}
}

// magics are the first bytes of files that are not tables.
var magics = []struct{ bytes, what, fix string }{
	{"PK\x03\x04", "is a zip archive or a spreadsheet", "unpack it, or export the sheet as CSV"},
	{"ARROW1", "is an Arrow file", "write it as Parquet"},
	{"FEA1", "is a Feather file", "write it as Parquet"},
	{"PARE", "is an encrypted Parquet file", "write it without encryption"},
	{"\x89HDF", "is an HDF5 file", "write it as Parquet"},
	{"SQLite format", "is an SQLite database", "export the table as CSV"},
	{"BZh", "is compressed with bzip2", "unpack it, or use gzip or zstd"},
	{"\xFD7zXZ\x00", "is compressed with xz", "unpack it, or use gzip or zstd"},
	{"{\"", "is JSON", "write it as CSV or Parquet"},
	{"[{", "is JSON", "write it as CSV or Parquet"},
	{"[\n", "is JSON", "write it as CSV or Parquet"},
	{"version https://", "is a pointer of Git LFS, not the table", "fetch it with git lfs pull"},
	{"\xFF\xFE\x00\x00", "is UTF-32", "write it as UTF-8"},
}

// read finds the format and reads the table.
func (in *input) read() (*Data, error) {
	if err := in.prepare(); err != nil {
		return nil, err
	}
	in.begin()
	format := "" // of the first part
	for _, p := range in.parts {
		head := make([]byte, min(p.size, 16))
		_, _ = p.r.ReadAt(head, 0) // an error is one when it is read again
		starts := func(magic string) bool { return strings.HasPrefix(string(head), magic) }
		for _, m := range magics {
			if starts(m.bytes) {
				return nil, &Error{File: p.name, Problem: "the file " + m.what, Fix: m.fix}
			}
		}
		this := "CSV"
		switch {
		case starts("PAR1"):
			this = "Parquet"
		case starts("\x1F\x8B"):
			p.compression = "gzip"
		case starts("\x28\xB5\x2F\xFD"):
			p.compression = "zstd"
		}
		if format = cmp.Or(format, this); this != format {
			return nil, &Error{File: p.name, Problem: fmt.Sprintf("is %s, but %s is %s", this, in.parts[0].name, format),
				Fix: "give files of one format"}
		}
	}
	if format == "Parquet" {
		return in.readParquet()
	}
	return in.csv()
}

// cause is the text of an error from elsewhere, on one line.
func cause(err error) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(artifact.WithoutPath(err).Error(), "?")), " ")
}

// isMissing says whether a trimmed text means a missing value.
func (in *input) isMissing(text []byte) bool {
	return len(text) == 0 || slices.ContainsFunc(in.missing, func(m string) bool { return m == string(text) })
}

// wanted lists the columns of a part that are read, after all of their names: those that its folders name are last. It
// makes names unique, and refuses too many, other columns than the first part has, and options about columns that the
// table does not have.
func (in *input) wanted(p *part, names []string, line int) (all []string, want []int, err error) {
	for _, f := range p.folders {
		names = append(names, f[0])
	}
	if len(names) > in.limits.Columns {
		return nil, nil, &Error{Line: line, Problem: fmt.Sprintf("the table has %d columns; at most %d are read", len(names),
			in.limits.Columns), Fix: "leave some out"}
	}
	at := make(map[string]int, len(names))
	var renamed []string
	for i, name := range names {
		for n := 1; at[names[i]] > 0; n++ {
			names[i] = fmt.Sprintf("%s.%d", name, n)
		}
		if names[i] != name {
			renamed = append(renamed, printable(name)+" to "+printable(names[i]))
		}
		at[names[i]] = i + 1
	}
	if renamed != nil {
		in.note(p, "columns of the same name are renamed: "+strings.Join(shown(renamed, "more"), ", "))
	}
	if err := in.same(p, names); err != nil {
		return nil, nil, err
	}
	// The last of two or four columns of a time may be a time of day.
	if parts := strings.Split(in.o.Time, "+"); len(parts)%2 == 0 && at[in.o.Time] == 0 && at[parts[len(parts)-1]] > 0 {
		clock := parts[len(parts)-1]
		in.o.Kinds = maps.Clone(in.o.Kinds)
		if in.o.Kinds == nil {
			in.o.Kinds = map[string]Kind{}
		}
		in.o.Kinds[clock] = Category // until it is joined with the date
	}
	for _, name := range slices.Concat(in.o.Drop, slices.Sorted(maps.Keys(in.o.Kinds)),
		slices.Sorted(maps.Keys(in.o.Layouts))) {
		if _, is := at[name]; !is {
			return nil, nil, &Error{Problem: fmt.Sprintf("there is no column %s; %s", quote(name), list(names))}
		}
	}
	want = slices.DeleteFunc(xslices.Iota(0, len(names)), func(i int) bool { return slices.Contains(in.o.Drop, names[i]) })
	if len(want) == 0 {
		return nil, nil, &Error{Problem: "no column is left to read", Fix: "drop fewer columns"}
	}
	return names, want, nil
}

// table is the table that was read, without columns.
func (in *input) table(format string, rows int, lines []int32) Data {
	notes := in.notes
	if n := len(in.parts); n > 1 {
		format = fmt.Sprintf("%s, %d files", format, n)
		notes = append([]string{fmt.Sprintf("%d files are read in the order of their names, from %s to %s", n, in.parts[0].name,
			in.parts[n-1].name)}, shown(notes, "more notes on files")...)
	}
	return Data{file: in.name, format: format, rows: rows, parts: in.parts, lines: lines, notes: notes, location: in.o.Location}
}

// with is the table with other columns.
func (t Data) with(columns []*column) *Data {
	t.columns, t.byName = columns, make(map[string]*column, len(columns))
	for _, c := range columns {
		t.byName[c.Name] = c
	}
	return &t
}

// checkRows refuses a table that is too small or too large.
func (in *input) checkRows(rows int64, columns int) error {
	switch {
	case rows < 2 && !in.o.AnyRows:
		return &Error{Problem: "the table has " + plural(int(rows), "row"), Fix: "a table needs at least two"}
	case rows > in.limits.Cells/int64(max(columns, 1)) || rows > 1<<31-2:
		return &Error{Problem: fmt.Sprintf("the table has more than %d rows of %s", rows-1, plural(columns, "column")),
			Fix: "leave columns or rows out"}
	}
	return nil
}
