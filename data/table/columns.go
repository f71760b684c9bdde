package table

import (
	"bytes"
	"cmp"
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
	name      string
	at        int    // in the row groups
	why       string // it is ignored
	kind      Kind
	asText    bool  // it is read as a text is
	coded     bool  // a category whatever its texts look like
	mask      int64 // of integers
	bits      int   // of floats
	instant   bool  // a time with a zone
	location  *time.Location
	perSecond int64 // unit of a time; 0: days
	text      func(buf []byte, p *page, k int) []byte
	buf       []byte
	all       []*leaf // the same column of each file
	value     string  // of all rows, if a folder names it
}

// cell is the trimmed text of a value, until the next call.
func (l *leaf) cell(p *page, k int) []byte {
	l.buf = l.text(l.buf[:0], p, k)
	return bytes.Trim(l.buf, blanks)
}

// noValues is why a column of nulls is ignored.
const noValues = "no values"

// interpret finds what the values mean. root is the top of the column's tree.
func (l *leaf) interpret(root schema.Node) {
	l.kind, l.text, l.mask, l.bits, l.perSecond = Number, l.plain, -1, 64, 1e6
	perSecond := map[schema.TimeUnitType]int64{schema.TimeUnitMillis: 1e3, schema.TimeUnitMicros: 1e6, schema.TimeUnitNanos: 1e9}
	switch l.PhysicalType() {
	case parquet.Types.Boolean:
		l.kind = Boolean
	case parquet.Types.Float:
		l.bits = 32
	case parquet.Types.Int96:
		l.kind, l.instant = Time, true
	case parquet.Types.ByteArray, parquet.Types.FixedLenByteArray: // old writers do not say that their bytes are text
		l.kind, l.asText = Category, true
	}
	switch t := l.LogicalType().(type) {
	case schema.NoLogicalType, schema.StringLogicalType, schema.EnumLogicalType, schema.JSONLogicalType,
		schema.NullLogicalType, schema.UnknownLogicalType:
	case schema.IntLogicalType:
		if l.asText = !t.IsSigned() && t.BitWidth() == 64; l.asText {
			l.text = func(b []byte, p *page, k int) []byte { return strconv.AppendUint(b, uint64(p.ints[k]), 10) }
		} else if !t.IsSigned() {
			l.mask = math.MaxUint32
		}
	case schema.DecimalLogicalType:
		if l.kind, l.asText = Number, true; t.Scale() > 1000 {
			l.why = fmt.Sprintf("decimals of scale %d", t.Scale())
		}
		l.text = func(b []byte, p *page, k int) []byte { return appendDecimal(b, p, k, int(t.Scale())) }
	case schema.Float16LogicalType:
		l.kind = Number
		l.text = func(b []byte, p *page, k int) []byte {
			return strconv.AppendFloat(b, float64(float16.FromLEBytes(p.bytes[k]).Float32()), 'g', -1, 64)
		}
	case schema.DateLogicalType:
		l.kind, l.perSecond = Time, 0
	case schema.TimestampLogicalType:
		l.kind, l.instant, l.perSecond = Time, t.IsAdjustedToUTC(), perSecond[t.TimeUnit()]
	case schema.TimeLogicalType:
		l.asText, l.coded, l.perSecond = true, true, perSecond[t.TimeUnit()]
		l.text = func(b []byte, p *page, k int) []byte { return l.time(p.ints[k]).AppendFormat(b, "15:04:05.999999") }
	case schema.UUIDLogicalType:
		l.coded = true
		l.text = func(b []byte, p *page, k int) []byte {
			v := p.bytes[k]
			return fmt.Appendf(b, "%x-%x-%x-%x-%x", v[:4], v[4:6], v[6:8], v[8:10], v[10:])
		}
	default:
		l.why = strings.ToLower(fmt.Sprint("of type ", t))
	}
	if l.kind == Time {
		l.text = func(b []byte, p *page, k int) []byte {
			t, layout := l.time(p.ints[k]), "2006-01-02T15:04:05.999999"
			if l.instant {
				t, layout = t.In(l.location), layout+"Z07:00"
			} else if l.perSecond == 0 {
				layout = time.DateOnly
			}
			return t.AppendFormat(b, layout)
		}
	}
	if root.Type() == schema.Group {
		l.why = "nested (a list, map or struct)"
	} else if root.RepetitionType() == parquet.Repetitions.Repeated {
		l.why = "a list"
	}
}

// alike says whether the same column of another file is read in the same way.
func (l *leaf) alike(o *leaf) bool {
	return l.kind == o.kind && l.asText == o.asText && l.coded == o.coded && l.instant == o.instant
}

// plain is the text of a value as its physical type has it.
func (l *leaf) plain(b []byte, p *page, k int) []byte {
	switch {
	case p.bytes != nil:
		return p.bytes[k]
	case p.floats != nil:
		format := byte('f')
		if math.Abs(p.floats[k]) > most {
			format = 'g'
		}
		return strconv.AppendFloat(b, p.floats[k], format, -1, l.bits)
	case l.kind == Boolean:
		return strconv.AppendBool(b, p.ints[k] != 0)
	}
	return strconv.AppendInt(b, p.ints[k]&l.mask, 10)
}

// number is a value that is a machine's number.
func (l *leaf) number(p *page, k int) float64 {
	switch {
	case p.floats == nil:
		return float64(p.ints[k] & l.mask)
	case l.bits == 32:
		return shortest(p.floats[k])
	}
	return p.floats[k]
}

// time is the time of a value, in UTC.
func (l *leaf) time(v int64) time.Time {
	if l.perSecond == 0 {
		return time.Unix(v*86400, 0).UTC()
	}
	return time.Unix(v/l.perSecond, v%l.perSecond*(1e9/l.perSecond)).UTC()
}

// moment is a time. ok says that its year can be meant.
func (l *leaf) moment(v int64) (m moment, ok bool) {
	t := l.time(v)
	if m.micro = t.UnixMicro(); !l.instant && l.location != time.UTC {
		if m = inZone(t, l.location); l.perSecond == 0 {
			m = m.begin()
		}
	}
	return m, inRange(time.UnixMicro(m.micro).UTC().Year())
}

// appendDecimal writes a decimal: integers, or bytes in two's complement, the highest first.
func appendDecimal(b []byte, p *page, k, scale int) []byte {
	v, unit := new(big.Int), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	if p.bytes == nil {
		v.SetInt64(p.ints[k])
	} else {
		v.SetBytes(p.bytes[k])
		if bits := uint(8 * len(p.bytes[k])); bits > 0 && v.Bit(int(bits-1)) == 1 {
			v.Sub(v, new(big.Int).Lsh(big.NewInt(1), bits))
		}
	}
	return append(b, new(big.Rat).SetFrac(v, unit).FloatString(scale)...)
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
	if v == math.Trunc(v) && math.Abs(v) < 1<<24 {
		return v
	}
	var buf [32]byte
	v, _ = strconv.ParseFloat(string(strconv.AppendFloat(buf[:0], v, 'g', -1, 32)), 64)
	return v
}

// ignored is a column whose values are not read, and why.
func (r *parquetReader) ignored(l *leaf, why string) *column {
	c := &column{ColumnSchema: ColumnSchema{Name: l.name, Kind: Text, Missing: r.rows, Note: why}}
	if why != "" && why != noValues {
		c.changed("ignored: " + why)
		c.problem = &Error{File: r.name, Column: l.name, Problem: "the column is ignored: " + why,
			Fix: "convert it, or name another column"}
	}
	return c
}

// Why a column is read in another way: the meaning of a value is unknown, and it is ignored; or its numbers are not all
// finite, and it is read as texts, by which this is judged.
var errUnreadable, errInfinite = errors.New("unreadable"), errors.New("infinite")

// column reads a column.
func (r *parquetReader) column(l *leaf) (c *column, err error) {
	want := r.o.Kinds[l.name]
	switch {
	case want == Text:
		return r.ignored(l, ""), nil
	case l.why != "":
		return r.ignored(l, l.why), nil
	case l.asText, slices.ContainsFunc(l.all, func(o *leaf) bool { return !l.alike(o) }), want != "" && want != l.kind,
		r.o.Layouts[l.name] != "" && l.kind != Time:
		err = errInfinite
	default:
		c, err = r.values(l)
	}
	if err == errInfinite {
		c, err = r.texts(l)
	}
	if err == nil && c.Missing == r.rows {
		err, l.why = errUnreadable, noValues
	}
	if err == errUnreadable {
		return r.ignored(l, l.why), nil
	}
	return c, err
}

// values reads a column of numbers, booleans or times.
func (r *parquetReader) values(l *leaf) (*column, error) {
	b := &column{ColumnSchema: ColumnSchema{Name: l.name, Kind: l.kind}, given: r.o.Kinds[l.name] != "",
		values: make([]float64, r.rows)}
	if l.kind == Time {
		b.Note = map[bool]string{true: "date", false: "timestamp"}[l.perSecond == 0]
		b.instant = l.instant
	}
	return b, r.each(l, func(i int, p *page, k int) error {
		if k < 0 {
			b.setMissing(i)
			return nil
		} else if l.kind == Time {
			m, ok := p.of.moment(p.ints[k])
			if !ok {
				l.why = fmt.Sprintf("row %d has a time outside the years 1 to 9999", i+1)
				return errUnreadable
			}
			micro, known := m.chosen(r.o.ClockChange)
			if b.values[i] = float64(micro); !known {
				l.why = fmt.Sprintf("%s in row %d %s: %s", p.of.time(p.ints[k]).Format(time.DateTime), i+1, m.change, clockFix)
				return errUnreadable
			}
			return nil
		}
		switch v := p.of.number(p, k); {
		case l.kind == Number && r.o.Missing != nil && r.isMissing(p.of.cell(p, k)):
			b.setMissing(i)
		case !(math.Abs(v) <= most):
			return errInfinite
		default:
			b.values[i] = v + 0 // -0 is 0
			if p.floats == nil && math.Abs(v) > 1<<53 && b.Note == "" && losesDigits(p.of.cell(p, k), v) {
				b.changed(roundedNote)
			}
		}
		return nil
	})
}

// texts reads a column as CSV is read: texts, whose kind is inferred or given. Numbers and others become texts.
func (r *parquetReader) texts(l *leaf) (*column, error) {
	b, err := r.newBuilder(l.name)
	if err != nil {
		return nil, err
	}
	if b.exact = l.kind != Category; b.exact {
		b.decimal = '.'
	}
	if l.coded {
		b.Kind = cmp.Or(b.Kind, Category)
	}
	err = r.each(l, func(i int, p *page, k int) error {
		if k < 0 {
			return nil
		}
		text := p.of.cell(p, k)
		if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
			l.why = fmt.Sprintf("row %d has bytes that are not UTF-8 text", i+1)
			return errUnreadable
		}
		b.add(text, i+1, 0)
		return nil
	})
	if err == nil {
		err = b.resolve(r.rows)
	}
	if err != nil {
		return nil, err
	}
	if err := r.each(l, func(i int, p *page, k int) error {
		if k < 0 {
			b.setMissing(i)
		} else if e := b.set(i, p.of.cell(p, k)); e != nil {
			e.Row = i + 1
			return e
		}
		return nil
	}); err != nil {
		return nil, err
	}
	return b.finish(), nil
}
