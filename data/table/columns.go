package table

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// leaf is a column of a Parquet file's schema, and what its values mean.
type leaf struct {
	*schema.Column
	name    string
	at      int    // in the row groups
	kind    Kind   // Category is any text
	why     string // kind Text: why it is ignored
	coded   bool   // a category whatever its texts look like
	text    func(buf []byte, p *page, k int) []byte
	number  func(p *page, k int) float64
	micros  func(v int64) (micro int64, ok bool)
	instant bool // a time with a zone
	day     bool // a date
}

// noValues is why a column of nulls is ignored.
const noValues = "no values"

// interpret finds what the values mean. root is the top of the column's tree.
func (l *leaf) interpret(root schema.Node) {
	ignore := func(why string) { l.kind, l.why = Text, why }
	switch {
	case root.Type() == schema.Group:
		ignore("nested (a list, map or struct)")
		return
	case root.RepetitionType() == parquet.Repetitions.Repeated:
		ignore("a list")
		return
	}
	bytesText := func(_ []byte, p *page, k int) []byte { return p.bytes[k] }
	switch t := l.LogicalType().(type) {
	case schema.NullLogicalType, schema.UnknownLogicalType:
		ignore(noValues)
	case schema.StringLogicalType, schema.EnumLogicalType, schema.JSONLogicalType:
		l.kind, l.text = Category, bytesText
	case schema.DecimalLogicalType:
		l.kind = Number
		scale := int(t.Scale())
		if scale < 0 || scale > 1000 {
			ignore(fmt.Sprintf("decimals of scale %d", scale))
		}
		l.text = func(b []byte, p *page, k int) []byte { return appendDecimal(b, p, k, scale) }
		var buf []byte
		l.number = func(p *page, k int) float64 {
			buf = l.text(buf[:0], p, k)
			v, _, _ := parseNumber(buf, '.')
			return v
		}
	case schema.Float16LogicalType:
		l.kind = Number
		l.number = func(p *page, k int) float64 { return float64(float16.FromLEBytes(p.bytes[k]).Float32()) }
		l.text = func(b []byte, p *page, k int) []byte { return strconv.AppendFloat(b, l.number(p, k), 'g', -1, 64) }
	case schema.DateLogicalType:
		l.kind, l.day = Time, true
		l.micros = func(v int64) (int64, bool) { return v * microsPerDay, v > -1e6 && v < 1e7 }
	case schema.TimestampLogicalType:
		l.kind, l.instant = Time, t.IsAdjustedToUTC()
		l.micros = inMicros(t.TimeUnit())
	case schema.TimeLogicalType:
		l.kind, l.coded = Category, true
		micros := inMicros(t.TimeUnit())
		l.text = func(b []byte, p *page, k int) []byte {
			v, _ := micros(p.ints[k])
			return time.UnixMicro(v).UTC().AppendFormat(b, "15:04:05.999999")
		}
	case schema.UUIDLogicalType:
		l.kind, l.coded = Category, true
		l.text = func(b []byte, p *page, k int) []byte {
			v := p.bytes[k]
			for i, part := range [][]byte{v[:4], v[4:6], v[6:8], v[8:10], v[10:]} {
				if i > 0 {
					b = append(b, '-')
				}
				b = hex.AppendEncode(b, part)
			}
			return b
		}
	case schema.NoLogicalType, schema.IntLogicalType:
		switch l.PhysicalType() {
		case parquet.Types.Boolean:
			l.kind = Boolean
			l.text = func(b []byte, p *page, k int) []byte { return strconv.AppendBool(b, p.ints[k] != 0) }
		case parquet.Types.Int32, parquet.Types.Int64:
			l.kind, l.text = Number, integerText
			l.number = func(p *page, k int) float64 { return float64(p.ints[k]) }
			if t, ok := t.(schema.IntLogicalType); ok && !t.IsSigned() {
				mask := uint64(math.MaxUint64)
				if l.PhysicalType() == parquet.Types.Int32 {
					mask = math.MaxUint32
				}
				l.number = func(p *page, k int) float64 { return float64(uint64(p.ints[k]) & mask) }
				l.text = func(b []byte, p *page, k int) []byte { return strconv.AppendUint(b, uint64(p.ints[k])&mask, 10) }
			}
		case parquet.Types.Int96:
			l.kind, l.instant = Time, true
			l.micros = inMicros(schema.TimeUnitMicros)
		case parquet.Types.Float:
			l.kind = Number
			l.number = func(p *page, k int) float64 { return shortest(p.floats[k]) }
			l.text = func(b []byte, p *page, k int) []byte { return strconv.AppendFloat(b, p.floats[k], 'g', -1, 32) }
		case parquet.Types.Double:
			l.kind = Number
			l.number = func(p *page, k int) float64 { return p.floats[k] }
			l.text = func(b []byte, p *page, k int) []byte {
				v := p.floats[k]
				if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
					return strconv.AppendInt(b, int64(v), 10)
				}
				return strconv.AppendFloat(b, v, 'g', -1, 64)
			}
		default: // old writers do not say that their bytes are text
			l.kind, l.text = Category, bytesText
		}
	default:
		ignore(strings.ToLower(fmt.Sprint("of type ", t)))
	}
}

func integerText(b []byte, p *page, k int) []byte { return strconv.AppendInt(b, p.ints[k], 10) }

// inMicros converts times of a unit to microseconds.
func inMicros(unit schema.TimeUnitType) func(v int64) (int64, bool) {
	return func(v int64) (int64, bool) {
		switch unit {
		case schema.TimeUnitMillis:
			return v * 1000, v <= math.MaxInt64/1000 && v >= math.MinInt64/1000
		case schema.TimeUnitNanos:
			return floorDiv(v, 1000), true
		}
		return v, true
	}
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
	digits := string(b[start:])
	if n := scale + 1 - len(digits); n > 0 {
		digits = strings.Repeat("0", n) + digits
	}
	b = append(b[:start], digits[:len(digits)-scale]...)
	return append(append(b, '.'), digits[len(digits)-scale:]...)
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

// column reads a column.
func (r *parquetReader) column(l *leaf) (*column, error) {
	switch want := r.o.Kinds[l.name]; {
	case want == Text:
		return r.ignored(l, ""), nil
	case l.kind == Text && want != "":
		return nil, &Error{Problem: "the column is " + l.why + ", which has no kind but text",
			Fix: "convert it, or drop the column"}
	case l.kind == Text:
		return r.ignored(l, l.why), nil
	case l.kind == Category, want != "" && want != l.kind, r.o.Layouts[l.name] != "" && l.kind != Time:
		return r.textColumn(l)
	}
	b := r.newBuilder(l.name, l.kind, r.rows)
	var loss, identifiers bool
	_, decimal := l.LogicalType().(schema.DecimalLogicalType)
	var buf []byte
	err := r.each(l, func(i int, p *page, k int) error {
		switch {
		case k < 0:
			b.setMissing(i)
		case l.kind == Boolean:
			b.values[i] = float64(p.ints[k])
		case l.kind == Time:
			micro, ok := l.micro(p.ints[k], r.o.Location)
			if !ok && b.problem == nil {
				b.problem = &Error{File: r.name, Row: i + 1, Column: l.name, Problem: "a time outside the years 1 to 9999",
					Fix: "mend it"}
			}
			b.values[i] = float64(micro)
		default:
			v := l.number(p, k)
			if r.isMissingNumber(v) {
				b.setMissing(i)
				return nil
			}
			if !(math.Abs(v) <= most) {
				text := strconv.FormatFloat(v, 'g', -1, 64)
				return &Error{Row: i + 1, Problem: fmt.Sprintf("%q is not a finite number", text),
					Fix: "write null if the value is missing" + mended([]byte(text))}
			}
			if p.floats == nil && (decimal || math.Abs(v) > 1<<53) {
				if buf = l.text(buf[:0], p, k); losesDigits(buf, v) {
					loss = true
					identifiers = identifiers || bytes.IndexByte(buf, '.') < 0
				}
			}
			b.values[i] = v + 0 // -0 is 0
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case b.problem != nil:
		c := r.ignored(l, fmt.Sprintf("row %d has %s", b.problem.Row, b.problem.Problem))
		c.problem = b.problem
		return c, nil
	case b.missing == r.rows:
		return r.ignored(l, noValues), nil
	case identifiers && r.o.Kinds[l.name] == "":
		// Numbers that repeat and whose last digits count, such as hashes.
		named := r.newBuilder(l.name, Category, r.rows)
		named.changed(identifiersNote)
		if c, err := r.fill(l, named); err != nil || c.kind == Category {
			return c, err
		}
		fallthrough
	case loss:
		b.changed(roundedNote)
	case l.kind == Time:
		b.note = map[bool]string{true: "date", false: "timestamp"}[l.day]
	}
	return b.finish(), nil
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

// micro is a time in microseconds. Times without a zone are of the given location.
func (l *leaf) micro(v int64, location *time.Location) (micro int64, ok bool) {
	micro, ok = l.micros(v)
	t := time.UnixMicro(micro).UTC()
	if !ok || !inRange(t.Year()) {
		return 0, false
	}
	if !l.instant && location != time.UTC {
		micro = inZone(t, location).UnixMicro()
	}
	return micro, true
}

// textColumn reads a column as CSV is read: texts, whose kind is inferred or given. Numbers and others become texts.
func (r *parquetReader) textColumn(l *leaf) (*column, error) {
	want := r.o.Kinds[l.name]
	switch {
	case l.coded && want == "":
		return r.fill(l, r.newBuilder(l.name, Category, r.rows))
	case l.kind == Boolean && want == Number:
		l.text = integerText
	case l.kind == Time:
		l.text = func(b []byte, p *page, k int) []byte {
			micro, ok := l.micro(p.ints[k], r.o.Location)
			if !ok {
				return append(b, "a time outside the years 1 to 9999"...)
			}
			return time.UnixMicro(micro).In(r.o.Location).AppendFormat(b, time.RFC3339Nano)
		}
	}
	g, err := r.newGuess(l.name)
	if err != nil {
		return nil, err
	}
	if l.kind != Category {
		g.decimal = '.'
	}
	var bad *Error
	err = r.texts(l, func(row int, text []byte, null bool) error {
		if null {
			g.missing++
			return nil
		}
		if bad = checkText(text); bad != nil {
			bad.Row = row + 1
			return bad
		}
		g.add(text, row+1, 0)
		return nil
	})
	if bad != nil && want == "" {
		return r.ignored(l, fmt.Sprintf("row %d has %s", bad.Row, bad.Problem)), nil
	}
	if err != nil {
		return nil, err
	}
	b, err := g.resolve(r.rows)
	if err != nil {
		return nil, err
	}
	if b.kind == Text {
		b.missing = g.missing
		return b.finish(), nil
	}
	return r.fill(l, b)
}

// texts calls use for every row of a column, with its trimmed text.
func (r *parquetReader) texts(l *leaf, use func(row int, text []byte, null bool) error) error {
	var buf []byte
	return r.each(l, func(row int, p *page, k int) error {
		if k < 0 {
			return use(row, nil, true)
		}
		buf = l.text(buf[:0], p, k)
		return use(row, trim(buf), false)
	})
}

// fill fills a column with texts.
func (r *parquetReader) fill(l *leaf, b *builder) (*column, error) {
	err := r.texts(l, func(row int, text []byte, null bool) error {
		if null {
			b.setMissing(row)
		} else if e := b.set(row, text); e != nil {
			e.Row = row + 1
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
