package table

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// leaf is a column of a Parquet file's schema, and what its values mean.
type leaf struct {
	*schema.Column
	name     string
	at       int    // in the row groups
	why      string // it is ignored
	kind     Kind   // Category is any text
	asText   bool   // a number that is read as a text
	coded    bool   // a category whatever its texts look like
	unsigned uint64 // mask of integers without a sign; 0: they have one
	instant  bool   // a time with a zone
	day      bool   // a date
	unit     schema.TimeUnitType
	text     func(buf []byte, p *page, k int) []byte
	buf      []byte
}

// cell is the trimmed text of a value, until the next call.
func (l *leaf) cell(p *page, k int) []byte {
	l.buf = l.text(l.buf[:0], p, k)
	return trim(l.buf)
}

// noValues is why a column of nulls is ignored.
const noValues = "no values"

// interpret finds what the values mean. root is the top of the column's tree.
func (l *leaf) interpret(root schema.Node) {
	l.kind, l.text = Number, l.plain
	switch l.PhysicalType() {
	case parquet.Types.Boolean:
		l.kind = Boolean
	case parquet.Types.Int96:
		l.kind, l.instant, l.unit = Time, true, schema.TimeUnitMicros
	case parquet.Types.ByteArray, parquet.Types.FixedLenByteArray: // old writers do not say that their bytes are text
		l.kind = Category
	}
	switch t := l.LogicalType().(type) {
	case schema.NoLogicalType, schema.StringLogicalType, schema.EnumLogicalType, schema.JSONLogicalType:
	case schema.IntLogicalType:
		if !t.IsSigned() && l.PhysicalType() == parquet.Types.Int32 {
			l.unsigned = math.MaxUint32
		} else if !t.IsSigned() {
			l.unsigned = math.MaxUint64
		}
	case schema.DecimalLogicalType:
		if l.kind, l.asText = Number, true; t.Scale() > 1000 {
			l.why = fmt.Sprintf("decimals of scale %d", t.Scale())
		}
		l.text = func(b []byte, p *page, k int) []byte { return appendDecimal(b, p, k, int(t.Scale())) }
	case schema.Float16LogicalType:
		l.kind, l.asText = Number, true
		l.text = func(b []byte, p *page, k int) []byte {
			return strconv.AppendFloat(b, float64(float16.FromLEBytes(p.bytes[k]).Float32()), 'g', -1, 64)
		}
	case schema.DateLogicalType:
		l.kind, l.day = Time, true
	case schema.TimestampLogicalType:
		l.kind, l.instant, l.unit = Time, t.IsAdjustedToUTC(), t.TimeUnit()
	case schema.TimeLogicalType:
		l.kind, l.coded, l.unit = Category, true, t.TimeUnit()
		l.text = func(b []byte, p *page, k int) []byte { return l.time(p.ints[k]).AppendFormat(b, "15:04:05.999999") }
	case schema.UUIDLogicalType:
		l.coded = true
		l.text = func(b []byte, p *page, k int) []byte {
			digits := hex.EncodeToString(p.bytes[k])
			return append(b, strings.Join([]string{digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]}, "-")...)
		}
	case schema.NullLogicalType, schema.UnknownLogicalType:
		l.why = noValues
	default:
		l.why = strings.ToLower(fmt.Sprint("of type ", t))
	}
	if root.Type() == schema.Group {
		l.why = "nested (a list, map or struct)"
	} else if root.RepetitionType() == parquet.Repetitions.Repeated {
		l.why = "a list"
	}
}

// plain is the text of a value as its physical type has it.
func (l *leaf) plain(b []byte, p *page, k int) []byte {
	switch {
	case p.bytes != nil:
		return p.bytes[k]
	case p.floats != nil && !(p.floats[k] == math.Trunc(p.floats[k]) && math.Abs(p.floats[k]) < 1<<53):
		return strconv.AppendFloat(b, p.floats[k], 'g', -1, map[bool]int{true: 32, false: 64}[l.isFloat32()])
	case p.floats != nil:
		return strconv.AppendInt(b, int64(p.floats[k]), 10)
	case l.kind == Boolean && p.ints[k] == 0:
		return append(b, "false"...)
	case l.kind == Boolean:
		return append(b, "true"...)
	case l.unsigned != 0:
		return strconv.AppendUint(b, uint64(p.ints[k])&l.unsigned, 10)
	}
	return strconv.AppendInt(b, p.ints[k], 10)
}

func (l *leaf) isFloat32() bool { return l.PhysicalType() == parquet.Types.Float }

// number is a value that is a machine's number.
func (l *leaf) number(p *page, k int) float64 {
	switch {
	case p.floats != nil && l.isFloat32():
		return shortest(p.floats[k])
	case p.floats != nil:
		return p.floats[k]
	case l.unsigned != 0:
		return float64(uint64(p.ints[k]) & l.unsigned)
	}
	return float64(p.ints[k])
}

// time is the time of a value, in UTC.
func (l *leaf) time(v int64) time.Time {
	t := time.UnixMicro(v)
	switch {
	case l.day:
		t = time.Unix(v*86400, 0)
	case l.unit == schema.TimeUnitMillis:
		t = time.UnixMilli(v)
	case l.unit == schema.TimeUnitNanos:
		t = time.Unix(0, v)
	}
	return t.UTC()
}

// outside is what inRange refuses.
const outside = "a time outside the years 1 to 9999"

// micro is a time in microseconds. Times without a zone are of the given location.
func (l *leaf) micro(v int64, location *time.Location) (micro int64, ok bool) {
	t := l.time(v)
	if !l.instant && location != time.UTC {
		t = inZone(t, location)
	}
	return t.UnixMicro(), inRange(t.Year())
}

// appendDecimal writes a decimal: integers, or bytes in two's complement, the highest first.
func appendDecimal(b []byte, p *page, k, scale int) []byte {
	start := len(b)
	if p.bytes == nil {
		b = strconv.AppendInt(b, p.ints[k], 10)
	} else {
		var v big.Int
		v.SetBytes(p.bytes[k])
		if bits := uint(8 * len(p.bytes[k])); bits > 0 && v.Bit(int(bits-1)) == 1 {
			v.Sub(&v, new(big.Int).Lsh(big.NewInt(1), bits))
		}
		b = v.Append(b, 10)
	}
	if scale == 0 {
		return b
	}
	if b[start] == '-' {
		start++
	}
	if n := scale + 1 - len(b[start:]); n > 0 {
		b = slices.Insert(b, start, slices.Repeat([]byte{'0'}, n)...)
	}
	return slices.Insert(b, len(b)-scale, '.')
}

// losesDigits says whether float64 v has other digits than the decimal number that it stands for.
func losesDigits(text []byte, v float64) bool {
	s := string(text)
	if len(s) < 16 {
		return false
	}
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return strconv.FormatFloat(v, 'f', -1, 64) != s && strconv.FormatFloat(v, 'f', 0, 64) != s
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

// ignored is a column whose values are not read, and why.
func (r *parquetReader) ignored(l *leaf, why string) *column {
	c := &column{name: l.name, kind: Text, missing: r.rows, note: why}
	if why != "" && why != noValues {
		c.changed("ignored: " + why)
		c.problem = &Error{File: r.name, Column: l.name, Problem: "the column is ignored: " + why,
			Fix: "convert it, or name another column"}
	}
	return c
}

// Why a column is read in another way: the meaning of a value is unknown, and it is ignored; or its numbers are not all
// finite and exact, and it is read as texts, by which this is judged.
var errUnreadable, errInexact = errors.New("unreadable"), errors.New("inexact")

// column reads a column.
func (r *parquetReader) column(l *leaf) (c *column, err error) {
	want := r.o.Kinds[l.name]
	if l.kind == Boolean && want == Number {
		l.kind = Number // 0 and 1
	}
	switch {
	case want == Text:
		return r.ignored(l, ""), nil
	case l.why != "" && want != "":
		return nil, &Error{Problem: "the column is " + l.why + ", which has no kind but text",
			Fix: "convert it, or drop the column"}
	case l.why != "":
		return r.ignored(l, l.why), nil
	case l.coded && want == "":
		c, err = r.fill(l, r.newBuilder(l.name, Category, r.rows))
	case l.kind == Category, l.asText, want != "" && want != l.kind, r.o.Layouts[l.name] != "" && l.kind != Time:
		c, err = r.textColumn(l)
	default:
		if c, err = r.values(l); err == errInexact {
			c, err = r.textColumn(l)
		}
	}
	var e *Error
	if errors.As(err, &e) && e.Err == errUnreadable && want == "" {
		return r.ignored(l, fmt.Sprintf("row %d has %s", e.Row, e.Problem)), nil
	}
	if err == nil && c.missing == r.rows {
		c = r.ignored(l, noValues)
	}
	return c, err
}

// values reads a column of numbers, booleans or times.
func (r *parquetReader) values(l *leaf) (*column, error) {
	b := r.newBuilder(l.name, l.kind, r.rows)
	if l.kind == Time {
		b.note = map[bool]string{true: "date", false: "timestamp"}[l.day]
	}
	err := r.each(l, func(i int, p *page, k int) error {
		switch {
		case k < 0:
			b.setMissing(i)
		case l.kind == Boolean:
			b.values[i] = float64(p.ints[k])
		case l.kind == Time:
			micro, ok := l.micro(p.ints[k], r.o.Location)
			if !ok {
				return &Error{Row: i + 1, Problem: outside, Fix: "mend it", Err: errUnreadable}
			}
			b.values[i] = float64(micro)
		default:
			v := l.number(p, k)
			switch {
			case r.isMissingNumber(v):
				b.setMissing(i)
				return nil
			case !(math.Abs(v) <= most), p.floats == nil && math.Abs(v) > 1<<53 && losesDigits(l.cell(p, k), v):
				return errInexact
			}
			b.values[i] = v + 0 // -0 is 0
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b.finish(), nil
}

// textColumn reads a column as CSV is read: texts, whose kind is inferred or given. Numbers and others become texts.
func (r *parquetReader) textColumn(l *leaf) (*column, error) {
	if l.kind == Time {
		l.text = func(b []byte, p *page, k int) []byte {
			micro, ok := l.micro(p.ints[k], r.o.Location)
			if !ok {
				return append(b, outside...)
			}
			return time.UnixMicro(micro).In(r.o.Location).AppendFormat(b, time.RFC3339Nano)
		}
	}
	g, err := r.newGuess(l.name)
	if err != nil {
		return nil, err
	}
	if g.exact = l.kind != Category; g.exact {
		g.decimal = '.'
	}
	if err := r.each(l, func(i int, p *page, k int) error {
		if k < 0 {
			g.missing++
			return nil
		}
		text := l.cell(p, k)
		if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
			return &Error{Row: i + 1, Problem: "bytes that are not UTF-8 text", Fix: "convert the column to text, or drop it",
				Err: errUnreadable}
		}
		g.add(text, i+1, 0)
		return nil
	}); err != nil {
		return nil, err
	}
	b, err := g.resolve(r.rows)
	if err != nil {
		return nil, err
	}
	return r.fill(l, b)
}

// fill fills a column with texts.
func (r *parquetReader) fill(l *leaf, b *builder) (*column, error) {
	err := r.each(l, func(i int, p *page, k int) error {
		if k < 0 {
			b.setMissing(i)
		} else if e := b.set(i, l.cell(p, k)); e != nil {
			e.Row = i + 1
			return e
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b.finish(), nil
}

// isMissingNumber says whether a number is written as a text that means a missing value, such as NaN or -999.
func (in *input) isMissingNumber(v float64) bool {
	return in.nan && v != v || in.inf && math.IsInf(v, 0) || slices.Contains(in.missingNumbers, v)
}
