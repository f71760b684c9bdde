package table_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/data/table"

	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// cells are a column of a Parquet file: its name, what its values mean (nil: what their type says), and the values, of
// arrow-go's types. Where missing is true there is none.
type cells struct {
	name    string
	logical schema.LogicalType
	values  any
	missing []bool
}

var physical = map[reflect.Type]parquet.Type{
	reflect.TypeFor[[]bool](): parquet.Types.Boolean, reflect.TypeFor[[]int32](): parquet.Types.Int32,
	reflect.TypeFor[[]int64](): parquet.Types.Int64, reflect.TypeFor[[]parquet.Int96](): parquet.Types.Int96,
	reflect.TypeFor[[]float32](): parquet.Types.Float, reflect.TypeFor[[]float64](): parquet.Types.Double,
	reflect.TypeFor[[]parquet.ByteArray]():         parquet.Types.ByteArray,
	reflect.TypeFor[[]parquet.FixedLenByteArray](): parquet.Types.FixedLenByteArray,
}

// parquetOf writes a Parquet file. A column "a.b" is a field of the struct a, and "a[]" is a list.
func parquetOf(t testing.TB, columns []cells, properties ...parquet.WriterProperty) string {
	t.Helper()
	var fields schema.FieldList
	for _, c := range columns {
		repetition, length := parquet.Repetitions.Required, 0
		if c.missing != nil {
			repetition = parquet.Repetitions.Optional
		}
		name, list := strings.CutSuffix(c.name, "[]")
		if list {
			repetition = parquet.Repetitions.Repeated
		}
		if v, ok := c.values.([]parquet.FixedLenByteArray); ok {
			length = len(v[0])
		}
		group, field, nested := strings.Cut(name, ".")
		if nested {
			name = field
		}
		node, err := schema.NewPrimitiveNodeLogical(name, repetition, c.logical, physical[reflect.TypeOf(c.values)], length, -1)
		demand.NoError(t, err)
		if fields = append(fields, node); nested {
			fields[len(fields)-1] = schema.MustGroup(schema.NewGroupNode(group, parquet.Repetitions.Required,
				schema.FieldList{node}, -1))
		}
	}
	root := schema.MustGroup(schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1))
	var b bytes.Buffer
	w := file.NewParquetWriter(&b, root, file.WithWriterProps(parquet.NewWriterProperties(properties...)))
	group, err := w.AppendRowGroupChecked()
	demand.NoError(t, err)
	for _, c := range columns {
		column, err := group.NextColumn()
		demand.NoError(t, err)
		var levels, repetitions []int16
		if list := strings.HasSuffix(c.name, "[]"); list || c.missing != nil {
			levels, repetitions = make([]int16, reflect.ValueOf(c.values).Len()), make([]int16, reflect.ValueOf(c.values).Len())
			for i := range levels {
				if list || !c.missing[i] {
					levels[i] = 1
				}
			}
		}
		values := reflect.ValueOf(c.values)
		present := reflect.MakeSlice(values.Type(), 0, values.Len())
		for i := range values.Len() {
			if c.missing == nil || !c.missing[i] {
				present = reflect.Append(present, values.Index(i))
			}
		}
		written := reflect.ValueOf(column).MethodByName("WriteBatch").Call([]reflect.Value{present, reflect.ValueOf(levels),
			reflect.ValueOf(repetitions)})
		if err := written[1].Interface(); err != nil {
			t.Fatal(err)
		}
		demand.NoError(t, column.Close())
	}
	demand.NoError(t, w.Close())
	return b.String()
}

// byteArrays are texts as Parquet's BYTE_ARRAY, or as fixed bytes.
func byteArrays[T ~[]byte](texts ...string) []T {
	var out []T
	for _, text := range texts {
		out = append(out, T(text))
	}
	return out
}

// numbers is a Parquet file of two columns of numbers.
func numbers(t testing.TB, a []float64, b []int64) string {
	return parquetOf(t, []cells{{name: "a", values: a}, {name: "b", values: b}})
}

// TestParquetTypes: what each type of a Parquet file becomes, and what a note says.
func TestParquetTypes(t *testing.T) {
	const big = 1 << 60
	var huge parquet.FixedLenByteArray // -123.4567890123456789, in two's complement
	for _, v := range []byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xEE, 0xDD, 0xEF, 0x0B, 0x82, 0x16, 0x7E, 0xEB} {
		huge = append(huge, v)
	}
	half := func(v float32) parquet.FixedLenByteArray { return float16.New(v).ToLEBytes() }
	day := func(n int64) time.Time { return time.UnixMicro(n).UTC() }
	micros, nanos := schema.TimeUnitMicros, schema.TimeUnitNanos
	for _, test := range []struct {
		cells
		kind table.Kind
		note string
		want any
	}{
		{cells{"int32", nil, []int32{-1, 2, math.MaxInt32}, nil}, "number", "", []int64{-1, 2, math.MaxInt32}},
		{cells{"uint32", schema.NewIntLogicalType(32, false), []int32{-1, 2, 3}, nil}, "number", "",
			[]int64{math.MaxUint32, 2, 3}},
		{cells{"uint64", schema.NewIntLogicalType(64, false), []int64{-1 << 63, 1 << 62, 0}, nil}, "number", "",
			[]float64{1 << 63, 1 << 62, 0}},
		{cells{"float32", nil, []float32{.1, 1e10, -3}, nil}, "number", "", []float64{.1, 1e10, -3}},
		{cells{"float64", nil, []float64{.1, 9, -3}, []bool{false, true, false}}, "number", "",
			[]float64{.1, math.NaN(), -3}},
		{cells{"float16", schema.Float16LogicalType{}, []parquet.FixedLenByteArray{half(1.5), half(-2), half(0)}, nil},
			"number", "", []float64{1.5, -2, 0}},
		{cells{"decimal32", schema.NewDecimalLogicalType(9, 2), []int32{-1, 110, 99999}, nil}, "number", "",
			[]float64{-.01, 1.1, 999.99}},
		{cells{"decimal64", schema.NewDecimalLogicalType(18, 0), []int64{-1, 110, 99999}, nil}, "number", "",
			[]int64{-1, 110, 99999}},
		{cells{"decimal", schema.NewDecimalLogicalType(30, 16), []parquet.FixedLenByteArray{huge, huge, huge}, nil},
			"number", "rounded: more digits than a float64 has",
			[]float64{-123.4567890123456789, -123.4567890123456789, -123.4567890123456789}},
		{cells{"decimal of bytes", schema.NewDecimalLogicalType(5, 1), byteArrays[parquet.ByteArray]("\xFF", "\x01\x00", "\x05"),
			nil}, "number", "", []float64{-.1, 25.6, .5}},
		{cells{"hashes", nil, []int64{big + 1, big + 3, big + 1}, nil}, "number",
			"rounded: more digits than a float64 has", []float64{float64(big), float64(big), float64(big)}},
		{cells{"nanoseconds", nil, []int64{1700000000123457000, 1700000000123456000, 1700000000123458000}, nil}, "number",
			"", []float64{1700000000123457000, 1700000000123456000, 1700000000123458000}},
		{cells{"boolean", nil, []bool{true, false, true}, []bool{false, false, true}}, "boolean", "", []bool{true, false, false}},
		{cells{"date", schema.DateLogicalType{}, []int32{0, 1, -1}, nil}, "time", "date",
			[]time.Time{day(0), day(86400e6), day(-86400e6)}},
		{cells{"micros", schema.NewTimestampLogicalType(true, micros), []int64{0, 1, -1}, nil}, "time", "timestamp",
			[]time.Time{day(0), day(1), day(-1)}},
		{cells{"nanos", schema.NewTimestampLogicalType(false, nanos), []int64{0, 1999, -1}, nil}, "time", "timestamp",
			[]time.Time{day(0), day(1), day(-1)}},
		{cells{"int96", nil, []parquet.Int96{{0, 0, 0, 0, 0, 0, 0, 0, 0x8C, 0x3D, 0x25}, // Julian day 2440588
			{0, 0xE4, 0x0B, 0x54, 2, 0, 0, 0, 0x8D, 0x3D, 0x25}, {0, 0, 0, 0, 0, 0, 0, 0, 0x8B, 0x3D, 0x25}}, nil}, "time",
			"timestamp", []time.Time{day(0), day(86410e6), day(-86400e6)}},
		{cells{"far", schema.NewTimestampLogicalType(true, micros), []int64{0, 1 << 60, 1}, nil}, "text",
			"ignored: row 2 has a time outside the years 1 to 9999", nil},
		{cells{"clock", schema.NewTimeLogicalType(true, micros), []int64{3661e6, 0, 1500}, nil}, "category", "",
			[]string{"01:01:01", "00:00:00", "00:00:00.0015"}},
		{cells{"uuid", schema.UUIDLogicalType{}, byteArrays[parquet.FixedLenByteArray]("0123456789abcdef", "0123456789abcdef",
			"0123456789abcdeg"), nil}, "category", "", []string{"30313233-3435-3637-3839-616263646566",
			"30313233-3435-3637-3839-616263646566", "30313233-3435-3637-3839-616263646567"}},
		{cells{"text", schema.StringLogicalType{}, byteArrays[parquet.ByteArray]("b", " a ", "b"), nil}, "category", "",
			[]string{"b", "a", "b"}},
		{cells{"old text", nil, byteArrays[parquet.ByteArray]("b", "a", "b"), nil}, "category", "", []string{"b", "a", "b"}},
		{cells{"fixed text", nil, byteArrays[parquet.FixedLenByteArray]("de", "fr", "de"), nil}, "category", "",
			[]string{"de", "fr", "de"}},
		{cells{"text of dates", schema.StringLogicalType{}, byteArrays[parquet.ByteArray]("1970-01-01", "1970-01-02",
			"1970-01-01"), nil}, "time", "year first", []time.Time{day(0), day(86400e6), day(0)}},
		{cells{"bytes", nil, byteArrays[parquet.ByteArray]("b", "\xFF", "b"), nil}, "text",
			"ignored: row 2 has bytes that are not UTF-8 text", nil},
		{cells{"BSON", schema.BSONLogicalType{}, byteArrays[parquet.ByteArray]("b", "c", "b"), nil}, "text", "ignored: of type bson", nil},
		{cells{"null", schema.NullLogicalType{}, []int32{0, 0, 0}, []bool{true, true, true}}, "text", "no values", nil},
		{cells{"a list[]", nil, []int32{1, 2, 3}, nil}, "text", "ignored: a list", nil},
		{cells{"a.struct", nil, []int32{1, 2, 3}, nil}, "text", "ignored: nested (a list, map or struct)", nil},
	} {
		// Another column before it: its chunks are found by the schema's leaves.
		content := parquetOf(t, []cells{{name: "first[]", values: []int64{7, 8, 9}}, test.cells})
		tab := read(t, content, table.Options{})
		c := tab.Schema().Columns[1]
		name, _, _ := strings.Cut(strings.TrimSuffix(test.name, "[]"), ".")
		if c.Name != name || c.Kind != test.kind || c.Note != test.note {
			t.Errorf("%s is read as %s, a %s, note %q; want a %s, note %q", test.name, c.Name, c.Kind, c.Note, test.kind, test.note)
			continue
		}
		if test.want == nil {
			if test.note != "no values" { // what is ignored is printed, and neither a time nor a label
				if notes := strings.Join(tab.Notes(), "\n"); !strings.Contains(notes, "column "+name+": "+test.note) {
					t.Errorf("%s: the notes are %q", test.name, notes)
				}
				_, err := tab.Times(name, table.Bin{Unit: "week"})
				checkSentence(t, err, strings.TrimPrefix(strings.TrimPrefix(test.note, "ignored: "), "row 2 has "))
				_, err = tab.Label(name, table.AnyLabel)
				checkSentence(t, err, strings.TrimPrefix(strings.TrimPrefix(test.note, "ignored: "), "row 2 has "))
			}
			continue
		}
		columns, err := tab.Columns(nil, nil)
		demand.NoError(t, err)
		demand.Equal(t, fmt.Sprintf("%T %[1]v", columns[0].Values), fmt.Sprintf("%T %[1]v", test.want), "%s", test.name)
	}
}

// TestParquetEncodings: pages of all encodings, codecs and versions that arrow-go writes are read.
func TestParquetEncodings(t *testing.T) {
	const n = 5000
	rng := rand.New(rand.NewPCG(5, 6))
	ints, floats, times := make([]int64, n), make([]float64, n), make([]time.Time, n)
	whole, text, missing := make([]int32, n), make([]parquet.ByteArray, n), make([]bool, n)
	texts, bits, micros := make([]string, n), make([]bool, n), make([]int64, n)
	for i := range n {
		ints[i], whole[i], floats[i] = rng.Int64N(1<<50), int32(rng.Uint32()), float64(rng.IntN(300))/8
		texts[i] = []string{"one", "onetwo", "onetwothree", "four"}[rng.IntN(4)]
		text[i], bits[i], missing[i] = parquet.ByteArray(texts[i]), rng.IntN(3) == 0, rng.IntN(5) == 0
		micros[i] = int64(i) * 3600e6
		times[i] = time.UnixMicro(micros[i]).UTC()
	}
	columns := []cells{{name: "ints", values: ints}, {name: "whole", values: whole}, {name: "floats", values: floats},
		{name: "text", logical: schema.StringLogicalType{}, values: text, missing: missing}, {name: "bits", values: bits},
		{name: "time", logical: schema.NewTimestampLogicalType(true, schema.TimeUnitMicros), values: micros}}
	encoded := func(codec compress.Compression, encodings ...parquet.Encoding) []parquet.WriterProperty {
		out := []parquet.WriterProperty{parquet.WithCompression(codec), parquet.WithDataPageSize(500),
			parquet.WithDictionaryDefault(encodings == nil)}
		for i, e := range encodings {
			out = append(out, parquet.WithEncodingFor(columns[i].name, e))
		}
		return out
	}
	e, c := parquet.Encodings, compress.Codecs
	for name, properties := range map[string][]parquet.WriterProperty{
		"dictionary":          encoded(c.Uncompressed),
		"plain, snappy":       encoded(c.Snappy, e.Plain, e.Plain, e.Plain, e.Plain, e.Plain),
		"delta, gzip":         encoded(c.Gzip, e.DeltaBinaryPacked, e.DeltaBinaryPacked, e.Plain, e.DeltaByteArray),
		"delta, Brotli":       encoded(c.Brotli, e.DeltaBinaryPacked, e.Plain, e.Plain, e.DeltaLengthByteArray),
		"split, zstd":         encoded(c.Zstd, e.ByteStreamSplit, e.ByteStreamSplit, e.ByteStreamSplit),
		"dictionary, raw LZ4": encoded(c.Lz4Raw),
		"version 2":           append(encoded(c.Snappy), parquet.WithDataPageVersion(parquet.DataPageV2)),
	} {
		got, err := read(t, parquetOf(t, columns, properties...), table.Options{}).Columns(nil, nil)
		demand.NoError(t, err)
		wide := make([]int64, n)
		for i, v := range whole {
			wide[i] = int64(v)
		}
		for i, want := range []any{ints, wide, floats, nil, bits, times} {
			if want != nil && !reflect.DeepEqual(got[i].Values, want) {
				t.Errorf("%s: column %s differs", name, got[i].Name)
			}
		}
		if !slices.Equal(got[3].Missing, missing) {
			t.Errorf("%s: other texts are missing", name)
		}
		for i, text := range got[3].Values.([]string) {
			if !missing[i] && text != texts[i] {
				t.Fatalf("%s: text %d is %q, want %q", name, i, text, texts[i])
			}
		}
	}
}

// TestForeignParquet reads files of apache/parquet-testing and apache/arrow-testing that arrow-go cannot write.
func TestForeignParquet(t *testing.T) {
	// A compressed page of nulls, without a byte.
	tab, err := table.Open("testdata/datapage_v2_empty_datapage.snappy.parquet", table.Options{AnyRows: true})
	demand.NoError(t, err)
	demand.Equal(t, tab.Schema().Columns[0].Note, "no values", "the column")
	// Its pages are said not to be compressed, but are (ARROW-17100): 1 to 5 read as 85012, 131072 and so on.
	_, err = table.Open("testdata/v2-arrow-cpp-before-3-int8-wrong.parquet", table.Options{})
	checkSentence(t, err, "damaged")
}

// TestMissingNumbers: a number that is named as a text of missing values is missing, as in a CSV file; NaN always is. A
// kind that is given is that of the column.
func TestMissingNumbers(t *testing.T) {
	content := numbers(t, []float64{math.NaN(), math.Inf(1), -999, 4}, []int64{-999, 2, 3, 2})
	tab := read(t, content, table.Options{Missing: []string{"NaN", "inf", "-999"},
		Kinds: map[string]table.Kind{"b": table.Category}})
	if c := tab.Schema().Columns; c[0].Missing != 3 || c[1].Missing != 1 || !slices.Equal(c[1].Levels, []string{"2", "3"}) {
		t.Errorf("%+v, want 3 and 1 missing, and levels 2 and 3", c)
	}
	tab = read(t, numbers(t, []float64{math.NaN(), 2, 3, 4}, []int64{1, 2, 3, 4}), table.Options{})
	demand.Equal(t, tab.Schema().Columns[0].Missing, 1, "missing, as NaN is")
}

// TestDamagedParquet: a Parquet file with any byte changed, or cut off anywhere, is read or refused with a sentence.
func TestDamagedParquet(t *testing.T) {
	text := schema.StringLogicalType{}
	content := []byte(parquetOf(t, []cells{{name: "a", values: []float64{1, 2, 3}},
		{name: "b", logical: text, values: byteArrays[parquet.ByteArray]("x", "", "x"), missing: []bool{false, true, false}},
		{name: "c", values: []int32{2, 3, 4}}, {name: "d", values: []bool{true, false, true}},
		{name: "e", values: []float32{0, 1, 0}, missing: []bool{true, false, true}}},
		parquet.WithCompression(compress.Codecs.Snappy), parquet.WithDictionaryFor("c", false),
		parquet.WithEncodingFor("c", parquet.Encodings.DeltaBinaryPacked)))
	try := func(b []byte) {
		_, err := table.Read("x", bytes.NewReader(b), int64(len(b)), table.Options{})
		if err != nil {
			checkSentence(t, err, "")
		}
	}
	for i := range content {
		try(content[:i])
		for _, change := range []byte{0x01, 0x10, 0x80, 0xFF} {
			damaged := bytes.Clone(content)
			damaged[i] ^= change
			try(damaged)
		}
	}
}

// TestParquetWithoutName: a column without a name is one like the others, named by its place as in a CSV file.
func TestParquetWithoutName(t *testing.T) {
	got := read(t, parquetOf(t, []cells{{"v", nil, []float64{1, 2}, nil}, {"", nil, []float64{3, 4}, nil}}), table.Options{})
	if columns := got.Schema().Columns; len(columns) != 2 || columns[1].Name != "c2" || columns[1].Kind != table.Number {
		t.Errorf("columns %+v", columns)
	}
}
