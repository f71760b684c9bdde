package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// Physical types of Parquet.
const (
	typeBoolean = iota
	typeInt32
	typeInt64
	typeInt96
	typeFloat
	typeDouble
	typeBytes
	typeFixed
)

// Meanings of a Parquet column, of its logical and converted types.
const (
	meansPlain = iota // as the physical type says
	meansText
	meansDate
	meansTime      // of day
	meansTimestamp // in micros per unit, below
	meansUnsigned
	meansDecimal
	meansNull
	meansOther
)

// leaf is a column of a Parquet file's schema.
type leaf struct {
	name     string
	physical int64
	length   int64 // of typeFixed
	optional bool
	means    int
	nanos    int64  // meansTimestamp: nanoseconds per unit
	utc      bool   // meansTimestamp: not a local time
	refused  string // why it cannot be read; "" if it can
	leaves   int    // 1, or the number of leaves of a group, which is refused
}

// chunk is a column of a row group.
type chunk struct {
	physical, codec          int64
	values, compressed       int64
	dataOffset, dictOffset   int64
	elsewhere, encryptedMeta bool
}

type rowGroup struct {
	rows   int64
	chunks []chunk
}

// metadata is the footer of a Parquet file.
type metadata struct {
	rows      int64
	leaves    []leaf
	groups    []rowGroup
	encrypted bool
}

// torn is the error of a Parquet file that is damaged.
func torn(what string, args ...any) *Error {
	return &Error{Problem: "the Parquet file is damaged or truncated: " + fmt.Sprintf(what, args...),
		Fix: "write it again"}
}

// mostFooter is the largest footer that is read.
const mostFooter = 256 << 20

// readParquet reads a Parquet file.
func (in *input) readParquet() (*Table, error) {
	meta, err := in.parquetFooter()
	if err != nil {
		return nil, err
	}
	names := make([]string, len(meta.leaves))
	for i, l := range meta.leaves {
		names[i] = l.name
	}
	if err := in.checkNames(names, 0); err != nil {
		return nil, err
	}
	want, err := in.wanted(names)
	if err != nil {
		return nil, err
	}
	r := &parquetReader{input: in, meta: meta}
	r.left.Store(2 * in.limits.expanded(in.size)) // texts are read twice
	var leaves, first []int                       // of wanted columns: in the schema, and in a row group
	at := 0
	for i, l := range meta.leaves {
		if want[i] && l.refused != "" && in.o.Kinds[l.name] != Text {
			return nil, &Error{Column: l.name, Problem: l.refused, Fix: "convert it, or drop the column"}
		}
		if want[i] {
			leaves, first = append(leaves, i), append(first, at)
		}
		at += l.leaves
	}
	if err := in.checkRows(meta.rows, len(leaves)); err != nil {
		return nil, err
	}
	if err := meta.check(in.size, at); err != nil {
		return nil, err
	}
	// What a few bytes of run lengths can stand for is bounded, too.
	if need := meta.rows * int64(len(leaves)) * 4; need > max(in.limits.Free, in.size*in.limits.Ratio) {
		return nil, &Error{Problem: fmt.Sprintf("the file states %d rows of %s, too many for its size", meta.rows,
			plural(len(leaves), "column")), Fix: "leave columns out if you trust it, or raise the limit"}
	}
	columns := make([]*column, len(leaves))
	failed := make([]error, len(leaves))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	var worst atomic.Int64 // the first column that failed: those after it need not be read
	worst.Store(math.MaxInt64)
	for k := range leaves {
		group.Go(func() error {
			if int64(k) > worst.Load() {
				return nil
			}
			if columns[k], failed[k] = r.column(&meta.leaves[leaves[k]], first[k]); failed[k] != nil {
				for now := worst.Load(); int64(k) < now && !worst.CompareAndSwap(now, int64(k)); now = worst.Load() {
				}
			}
			return nil
		})
	}
	group.Wait()
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	return in.finish("Parquet", int(meta.rows), columns)
}

// parquetFooter reads and checks the metadata.
func (in *input) parquetFooter() (*metadata, error) {
	if in.size < 12 {
		return nil, torn("it has %d bytes", in.size)
	}
	var tail [8]byte
	if _, err := in.r.ReadAt(tail[:], in.size-8); err != nil && err != io.EOF {
		return nil, &Error{Problem: "cannot be read: " + cause(err), Err: err}
	}
	switch magic := string(tail[4:]); {
	case magic == "PARE":
		return nil, &Error{Problem: "the file is an encrypted Parquet file", Fix: "write it without encryption"}
	case magic != "PAR1":
		return nil, torn("it does not end with PAR1")
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > in.size-12 || n > mostFooter {
		return nil, torn("its footer would have %s", bytesText(n))
	}
	footer := make([]byte, n)
	if _, err := in.r.ReadAt(footer, in.size-8-n); err != nil && err != io.EOF {
		return nil, &Error{Problem: "cannot be read: " + cause(err), Err: err}
	}
	return parseFooter(footer, in.limits.Columns)
}

// element is an element of Parquet's schema, which is a tree in depth-first order.
type element struct {
	leaf
	children   int64
	repetition int64
	typed      bool
	converted  int64
}

// parseFooter parses the metadata.
func parseFooter(footer []byte, mostColumns int) (*metadata, error) {
	t := &thrift{b: footer}
	meta := &metadata{}
	var elements []element
	tooMany := false
	t.fields(thriftStruct, func(id int, typ byte) {
		switch id {
		case 2:
			t.list(typ, func(typ byte) {
				if len(elements) > 4*mostColumns {
					tooMany, t.bad = true, true
					return
				}
				elements = append(elements, t.element(typ))
			})
		case 3:
			meta.rows = t.int(typ)
		case 4:
			t.list(typ, func(typ byte) { meta.groups = append(meta.groups, t.rowGroup(typ)) })
		case 8:
			meta.encrypted = true
			t.skip(typ, 0)
		default:
			t.skip(typ, 0)
		}
	})
	switch {
	case tooMany:
		return nil, &Error{Problem: fmt.Sprintf("the table has more than %d columns", 4*mostColumns),
			Fix: "leave some out"}
	case t.bad:
		return nil, torn("its footer cannot be read")
	case meta.encrypted:
		return nil, &Error{Problem: "the file is an encrypted Parquet file", Fix: "write it without encryption"}
	case len(elements) == 0 || elements[0].children < 0 || elements[0].children != int64(topLevel(elements)):
		return nil, torn("its schema cannot be read")
	case elements[0].children == 0:
		return nil, &Error{Problem: "the table has no columns"}
	}
	for i := 1; i < len(elements); {
		e := elements[i]
		size, leaves := subtree(elements[i:])
		e.leaf.leaves = leaves
		switch {
		case e.children > 0:
			e.refused = "the column is nested (a list, map or struct)"
		case e.repetition == 2:
			e.refused = "the column is a list"
		default:
			e.interpret()
		}
		e.optional = e.repetition == 1
		meta.leaves = append(meta.leaves, e.leaf)
		i += size
	}
	return meta, nil
}

// topLevel is the number of elements below the root; -1 if the schema is not a tree.
func topLevel(elements []element) int {
	n := 0
	for i := 1; i < len(elements); n++ {
		size, _ := subtree(elements[i:])
		if size == 0 {
			return -1
		}
		i += size
	}
	return n
}

// subtree is the number of elements and leaves of the tree that the first element begins; 0 if it is not complete.
func subtree(elements []element) (size, leaves int) {
	for open := int64(1); open > 0; size++ {
		if size == len(elements) || elements[size].children < 0 || elements[size].children > int64(len(elements)) {
			return 0, 0
		}
		children := elements[size].children
		if open += children - 1; children == 0 {
			leaves++
		}
	}
	return size, leaves
}

// element reads a SchemaElement.
func (t *thrift) element(typ byte) element {
	e := element{converted: -1}
	e.physical = -1
	t.fields(typ, func(id int, typ byte) {
		switch id {
		case 1:
			e.physical = t.int(typ)
		case 2:
			e.length = t.int(typ)
		case 3:
			e.repetition = t.int(typ)
		case 4:
			e.name = string(trim(t.bytes(typ)))
		case 5:
			e.children = t.int(typ)
		case 6:
			e.converted = t.int(typ)
		case 10:
			t.fields(typ, func(id int, typ byte) { e.logical(t, id, typ) })
		default:
			t.skip(typ, 0)
		}
	})
	return e
}

// logical reads the member of a LogicalType.
func (e *element) logical(t *thrift, id int, typ byte) {
	e.typed = true
	switch id {
	case 1, 4:
		e.means = meansText
	case 5:
		e.means = meansDecimal
	case 6:
		e.means = meansDate
	case 7:
		e.means = meansTime
	case 8:
		e.means = meansTimestamp
		t.fields(typ, func(id int, typ byte) {
			switch id {
			case 1:
				e.utc = t.int(typ) == 1
			case 2:
				t.fields(typ, func(unit int, typ byte) {
					e.nanos = map[int]int64{1: 1e6, 2: 1e3, 3: 1}[unit]
					t.skip(typ, 0)
				})
			default:
				t.skip(typ, 0)
			}
		})
		return
	case 10:
		signed := true
		t.fields(typ, func(id int, typ byte) {
			if id == 2 {
				signed = t.int(typ) == 1
			} else {
				t.skip(typ, 0)
			}
		})
		if !signed {
			e.means = meansUnsigned
		}
		return
	case 11:
		e.means = meansNull
	default:
		e.means = meansOther
	}
	t.skip(typ, 0)
}

// interpret combines the types of a leaf, and says why it cannot be read.
func (e *element) interpret() {
	if !e.typed {
		switch c := e.converted; {
		case c == 0 || c == 4:
			e.means = meansText
		case c == 5:
			e.means = meansDecimal
		case c == 6:
			e.means = meansDate
		case c == 7 || c == 8:
			e.means = meansTime
		case c == 9:
			e.means, e.nanos, e.utc = meansTimestamp, 1e6, true
		case c == 10:
			e.means, e.nanos, e.utc = meansTimestamp, 1e3, true
		case c >= 11 && c <= 14:
			e.means = meansUnsigned
		case c >= 19:
			e.means = meansOther
		}
	}
	integer := e.physical == typeInt32 || e.physical == typeInt64
	switch {
	case e.physical < typeBoolean || e.physical > typeFixed:
		e.refused = fmt.Sprintf("the column has an unknown type (%d)", e.physical)
	case e.means == meansDecimal:
		e.refused = "the column is a decimal"
	case e.means == meansDate && e.physical != typeInt32, e.means == meansTimestamp && (!integer || e.nanos == 0),
		e.means == meansUnsigned && !integer:
		e.refused = "the column's types contradict each other"
	case e.physical == typeFixed && (e.length < 1 || e.length > 1<<20):
		e.refused = fmt.Sprintf("the column has values of %d bytes", e.length)
	}
}

// rowGroup reads a RowGroup.
func (t *thrift) rowGroup(typ byte) (g rowGroup) {
	t.fields(typ, func(id int, typ byte) {
		switch id {
		case 1:
			t.list(typ, func(typ byte) { g.chunks = append(g.chunks, t.chunk(typ)) })
		case 3:
			g.rows = t.int(typ)
		default:
			t.skip(typ, 0)
		}
	})
	return g
}

// chunk reads a ColumnChunk.
func (t *thrift) chunk(typ byte) (c chunk) {
	t.fields(typ, func(id int, typ byte) {
		switch id {
		case 1:
			c.elsewhere = len(t.bytes(typ)) > 0
		case 3:
			t.fields(typ, func(id int, typ byte) {
				switch id {
				case 1:
					c.physical = t.int(typ)
				case 4:
					c.codec = t.int(typ)
				case 5:
					c.values = t.int(typ)
				case 7:
					c.compressed = t.int(typ)
				case 9:
					c.dataOffset = t.int(typ)
				case 11:
					c.dictOffset = t.int(typ)
				default:
					t.skip(typ, 0)
				}
			})
		case 8:
			c.encryptedMeta = true
			t.skip(typ, 0)
		default:
			t.skip(typ, 0)
		}
	})
	return c
}

// check compares the row groups with the schema and the file's size.
func (m *metadata) check(size int64, leaves int) error {
	rows := int64(0)
	for i, g := range m.groups {
		if len(g.chunks) != leaves {
			return torn("row group %d has %s of %d", i, plural(len(g.chunks), "column"), leaves)
		}
		if g.rows < 0 || g.rows > m.rows-rows {
			return torn("its row groups have other numbers of rows than the table")
		}
		rows += g.rows
		for _, c := range g.chunks {
			start := c.start()
			switch {
			case c.elsewhere:
				return &Error{Problem: "the Parquet file refers to other files", Fix: "write it as one file"}
			case c.encryptedMeta:
				return &Error{Problem: "the file is an encrypted Parquet file", Fix: "write it without encryption"}
			case start < 0 || c.compressed < 0 || start > size || c.compressed > size-start:
				return torn("row group %d has data outside the file", i)
			}
		}
	}
	if rows != m.rows {
		return torn("its row groups have other numbers of rows than the table")
	}
	return nil
}

// start is where a chunk begins in the file.
func (c chunk) start() int64 {
	if c.dictOffset > 0 && c.dictOffset < c.dataOffset {
		return c.dictOffset
	}
	return c.dataOffset
}

// parquetReader reads the columns of a file.
type parquetReader struct {
	*input
	meta *metadata
	left atomic.Int64 // bytes that pages may still expand to
}

// column reads a column. at is its place in the row groups.
func (r *parquetReader) column(l *leaf, at int) (c *column, err error) {
	// The decoder checks what it reads. This is for what it overlooks.
	defer func() {
		if problem := recover(); problem != nil {
			if bounds, ok := problem.(runtime.Error); ok {
				c, err = nil, torn("%s", cause(bounds))
				return
			}
			panic(problem)
		}
		var e *Error
		if errors.As(err, &e) && e.Column == "" {
			e.Column = l.name
		}
	}()
	want := r.o.Kinds[l.name]
	ignored := func(why string) (*column, error) {
		return &column{name: l.name, kind: Text, missing: int(r.meta.rows), note: why}, nil
	}
	if want == Text {
		return ignored("")
	}
	for i := range r.meta.groups {
		if r.meta.groups[i].chunks[at].physical != l.physical {
			return nil, torn("row group %d has another type", i)
		}
	}
	native := l.native()
	switch {
	case l.means == meansNull:
		return ignored("no values")
	case native == Text:
		if want != "" {
			return nil, &Error{Problem: "the column has bytes or times of day, which have no kind but text",
				Fix: "convert it, or drop the column"}
		}
		return ignored("bytes or times of day")
	}
	layout := r.o.Layouts[l.name] != ""
	if native == Category || layout && native != Time || want != "" && want != native {
		return r.textColumn(l, at)
	}
	b := newBuilder(l.name, native, int(r.meta.rows), false)
	if native == Time {
		b.note = "timestamp"
		if l.means == meansDate {
			b.note = "date"
		}
	}
	exact := true
	nanMissing := r.isMissing([]byte("NaN")) || r.isMissing([]byte("nan"))
	err = r.each(l, at, func(row int, p *page) error {
		next := 0
		for i := range p.rows {
			if p.defined != nil && p.defined[i] == 0 {
				b.setMissing(row + i)
				continue
			}
			k := p.at(next)
			next++
			switch native {
			case Boolean:
				b.bit[row+i] = uint8(p.ints[k])
			case Time:
				micro, ok := l.micro(p, k, r.o.Location)
				if !ok {
					return &Error{Row: row + i + 1, Problem: "a time outside the years 1 to 9999", Fix: "mend it"}
				}
				b.micro[row+i] = micro
			default:
				v := l.float(p, k)
				if math.IsNaN(v) && nanMissing {
					b.setMissing(row + i)
					continue
				}
				if !(math.Abs(v) <= most) {
					return &Error{Row: row + i + 1, Problem: fmt.Sprintf("%q is not a finite number",
						strconv.FormatFloat(v, 'g', -1, 64)),
						Fix: "write null if the value is missing, or name it as a text of missing values"}
				}
				v += 0 // -0 is 0
				exact = exact && float64(float32(v)) == v
				b.f64[row+i] = v
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if b.missing == int(r.meta.rows) {
		return ignored("no values")
	}
	if native == Number && exact {
		b.f32 = make([]float32, len(b.f64))
		for i, v := range b.f64 {
			b.f32[i] = float32(v)
		}
		b.f64 = nil
	}
	return b.finish(), nil
}

// native is the kind of a column as the file says. Category is any text.
func (l *leaf) native() Kind {
	switch {
	case l.means == meansDate || l.means == meansTimestamp || l.physical == typeInt96:
		return Time
	case l.means == meansTime || l.means == meansOther || l.physical == typeFixed:
		return Text
	case l.physical == typeBoolean:
		return Boolean
	case l.physical == typeBytes:
		return Category
	}
	return Number
}

// float is a number of a page.
func (l *leaf) float(p *page, k int) float64 {
	switch {
	case l.physical == typeFloat:
		return shortest(p.floats[k])
	case l.physical == typeDouble:
		return p.floats[k]
	case l.means == meansUnsigned && l.physical == typeInt32:
		return float64(uint32(p.ints[k]))
	case l.means == meansUnsigned:
		return float64(uint64(p.ints[k]))
	}
	return float64(p.ints[k])
}

// shortest is the number whose digits are the fewest that mean the float32 v: what a CSV file of it would have, .1 and
// not .10000000149.
func shortest(v float64) float64 {
	if v == math.Trunc(v) && math.Abs(v) < 1<<24 || v != v || math.IsInf(v, 0) {
		return v
	}
	var buf [32]byte
	v, _, _ = parseNumber(strconv.AppendFloat(buf[:0], v, 'g', -1, 32), '.')
	return v
}

// micro is a time of a page in microseconds. Times without a zone are of the given location.
func (l *leaf) micro(p *page, k int, location *time.Location) (micro int64, ok bool) {
	utc := l.utc
	switch {
	case l.physical == typeInt96: // nanoseconds of the day, Julian day
		b := p.bytes[k]
		const unix = 2440588
		micro = (int64(binary.LittleEndian.Uint32(b[8:]))-unix)*microsPerDay + int64(binary.LittleEndian.Uint64(b))/1000
		utc = true
	case l.means == meansDate:
		if v := p.ints[k]; v > -1e6 && v < 1e7 {
			micro = v * microsPerDay
		} else {
			return 0, false
		}
	case l.nanos == 1:
		micro = floorDiv(p.ints[k], 1000)
	default:
		v, per := p.ints[k], l.nanos/1000
		if v > math.MaxInt64/per || v < math.MinInt64/per {
			return 0, false
		}
		micro = v * per
	}
	t := time.UnixMicro(micro).UTC()
	if !inRange(t.Year()) {
		return 0, false
	}
	if !utc && location != time.UTC {
		t = time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), location)
		micro = t.UnixMicro()
	}
	return micro, true
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// textColumn reads a column as CSV is read: texts, whose kind is inferred or given. Numbers and others become texts.
func (r *parquetReader) textColumn(l *leaf, at int) (*column, error) {
	g := r.newGuess(l.name)
	g.decimal = '.'
	if l.native() == Category && r.o.Decimal != 0 {
		g.decimal = r.o.Decimal
	}
	if err := r.setLayout(g); err != nil {
		return nil, err
	}
	asNumber := r.o.Kinds[l.name] == Number
	var buf []byte
	texts := func(use func(row int, text []byte, missing bool, k int, p *page) error) error {
		return r.each(l, at, func(row int, p *page) error {
			next := 0
			for i := range p.rows {
				if p.defined != nil && p.defined[i] == 0 {
					if err := use(row+i, nil, true, -1, p); err != nil {
						return err
					}
					continue
				}
				k := p.at(next)
				next++
				var text []byte
				if l.physical == typeBytes {
					text = trim(p.bytes[k])
				} else {
					buf = l.text(buf[:0], p, k, asNumber, r.o.Location)
					text = buf
				}
				if err := use(row+i, text, r.isMissing(text), k, p); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := texts(func(row int, text []byte, missing bool, _ int, _ *page) error {
		if missing {
			g.missing++
			return nil
		}
		if err := checkText(text); err != nil {
			err.Row = row + 1
			return err
		}
		g.add(text, row+1, 0)
		return nil
	})
	if err != nil {
		return nil, err
	}
	b, err := r.resolveOne(g, int(r.meta.rows))
	if err != nil {
		return nil, err
	}
	if b.kind == Text {
		b.missing = g.missing
		return b.finish(), nil
	}
	var of *page // whose dictionary codes has
	var codes []uint32
	err = texts(func(row int, text []byte, missing bool, k int, p *page) error {
		if missing {
			b.setMissing(row)
			return nil
		}
		if b.kind != Category || !p.dictionary {
			if !b.set(row, text) {
				return changed()
			}
			return nil
		}
		if of == nil || len(codes) != len(p.bytes) || of.id != p.id {
			of, codes = p, make([]uint32, len(p.bytes))
		}
		if k < len(codes) && codes[k] != 0 {
			b.code[row] = codes[k]
			return nil
		}
		b.setLevel(row, text)
		if b.kind == Category && k < len(codes) {
			codes[k] = b.code[row]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b.finish(), nil
}

// text is a value of a page as CSV has it.
func (l *leaf) text(buf []byte, p *page, k int, asNumber bool, location *time.Location) []byte {
	switch l.native() {
	case Boolean:
		if asNumber {
			return strconv.AppendInt(buf, p.ints[k], 10)
		}
		return strconv.AppendBool(buf, p.ints[k] != 0)
	case Time:
		micro, ok := l.micro(p, k, location)
		if !ok {
			return append(buf, "a time outside the years 1 to 9999"...)
		}
		return time.UnixMicro(micro).In(location).AppendFormat(buf, time.RFC3339Nano)
	}
	switch v := l.float(p, k); {
	case l.physical == typeFloat:
		return strconv.AppendFloat(buf, v, 'g', -1, 32)
	case l.physical == typeDouble:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return strconv.AppendInt(buf, int64(v), 10)
		}
		return strconv.AppendFloat(buf, v, 'g', -1, 64)
	case l.means == meansUnsigned:
		return strconv.AppendUint(buf, uint64(v), 10)
	}
	return strconv.AppendInt(buf, p.ints[k], 10)
}
