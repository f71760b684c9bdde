package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"
)

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
	b := r.newBuilder(l.name, native, int(r.meta.rows))
	if native == Time {
		b.note = "timestamp"
		if l.means == meansDate {
			b.note = "date"
		}
	}
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
				b.values[row+i] = float64(p.ints[k])
			case Time:
				micro, ok := l.micro(p, k, r.o.Location)
				if !ok {
					return &Error{Row: row + i + 1, Problem: "a time outside the years 1 to 9999", Fix: "mend it"}
				}
				b.values[row+i] = float64(micro)
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
				b.values[row+i] = v + 0 // -0 is 0
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
	texts := func(use func(row int, text []byte, null bool, k int, p *page) error) error {
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
				if err := use(row+i, text, false, k, p); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := texts(func(row int, text []byte, null bool, _ int, _ *page) error {
		if null {
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
	err = texts(func(row int, text []byte, null bool, k int, p *page) error {
		if null {
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
		b.set(row, text)
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
