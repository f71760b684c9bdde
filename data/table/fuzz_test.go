package table_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/table"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// fuzz reads a file and asks everything of its table. All errors must be sentences, all features finite.
func fuzz(t *testing.T, content []byte, o table.Options) {
	o = table.Limited(o, func(l *table.Limits) { l.Cells, l.Free, l.Ratio = 1<<16, 1<<20, 50 })
	tab, err := table.Read("x", bytes.NewReader(content), int64(len(content)), o)
	sentence := func(err error) {
		var e *table.Error
		if err != nil && (!errors.As(err, &e) || strings.ContainsAny(err.Error(), "\n\r\x00")) {
			t.Fatalf("%T, not a sentence: %q", err, err)
		}
	}
	if err != nil {
		sentence(err)
		return
	}
	schema := tab.Schema()
	if schema.Rows < 2 || schema.Rows != tab.Rows() || len(schema.Columns) == 0 {
		t.Fatalf("%d rows, %d columns", schema.Rows, len(schema.Columns))
	}
	for _, c := range schema.Columns[:min(len(schema.Columns), 20)] {
		for _, bin := range []table.Bin{{}, {Unit: "hour"}, {Unit: "week"}, {Unit: "quarter"}, {Rows: 2}} {
			times, err := tab.Times(c.Name, bin)
			if err != nil {
				sentence(err)
				continue
			}
			total := 0
			for i, n := range times.Counts {
				total += n
				if i > 0 && times.Values[i] <= times.Values[i-1] {
					t.Fatalf("times %v", times.Values)
				}
				_, err := times.At(times.Names[i])
				sentence(err)
			}
			if total != tab.Rows() || len(times.Names) != len(times.Values) || len(times.Of()) != tab.Rows() {
				t.Fatalf("%d of %d rows have times", total, tab.Rows())
			}
		}
		for _, kind := range []table.LabelKind{table.AnyLabel, table.Classes, table.Regression} {
			_, err := tab.Label(c.Name, kind)
			sentence(err)
		}
	}
	_, err = tab.Columns(nil, nil)
	demand.NoError(t, err)
	names, err := tab.Features()
	if err != nil {
		sentence(err)
		return
	}
	e, err := tab.Fit(names, []int{0, 1})
	demand.NoError(t, err)
	x, err := e.Encode(tab, nil)
	if err != nil {
		sentence(err)
	} else if len(x) != tab.Rows()*e.Dim() {
		t.Fatalf("%d features of %d rows", len(x), tab.Rows())
	}
	for i, v := range x {
		if !(math.Abs(float64(v)) <= 1e6) {
			t.Fatalf("feature %s is %g", e.Names()[i%e.Dim()], v)
		}
	}
}

// FuzzCSV reads any bytes as a file, also with raw quotes, comments, and lines to skip.
func FuzzCSV(f *testing.F) {
	for _, h := range hostileFiles(f) {
		if len(h.content) < 2000 && !strings.HasPrefix(h.content, "PAR1") {
			f.Add([]byte(h.content), h.options.NoQuotes, h.options.Comment, uint8(h.options.Skip))
		}
	}
	for _, seed := range []string{
		"day,n,city,y\n2024-01-01,1,Rome,true\n2024-01-02,,Paris,false\n",
		"a;b\n\"x\ny\";1,5\n\"\"\"\";2,5\n", "sep=|\na|b\n1|2\n3|4\n", "t,x\n02.01.2006 15:04,1\n13.01.2006,2\n",
		"t,x\n2 Jan 2006,1e99\n3 Jan 2006,-1e99\n", "t\n2006-W05\n2006-W52\n", "a\rb\rc\r", "caf\xe9,b\n1,2\n3,4\n",
		"title\n#\na,b\n1,\"2\n3,4\n", "a,b\r\r\n1,2,\r\r\n3,4,\n", "a,b\n1,\xe9\n2,é\n",
	} {
		f.Add([]byte(seed), false, byte(0), uint8(0))
		f.Add([]byte(seed), true, byte('#'), uint8(1))
		f.Add([]byte(utf16le(seed)), false, byte(0), uint8(0))
	}
	f.Fuzz(func(t *testing.T, content []byte, noQuotes bool, comment byte, skip uint8) {
		fuzz(t, content, table.Options{NoQuotes: noQuotes, Comment: comment, Skip: int(skip)})
	})
}

// FuzzParquet reads any bytes between the marks of a Parquet file.
func FuzzParquet(f *testing.F) {
	columns := []cells{{name: "a", values: []int64{1, 2, -3}}, {name: "b", values: []float32{2, 0, .5}},
		{name: "c", logical: schema.StringLogicalType{}, values: byteArrays[parquet.ByteArray]("x", "", "x"),
			missing: []bool{false, true, false}},
		{name: "d", values: []bool{true, false, true}}, {name: "e", values: byteArrays[parquet.ByteArray]("abc", "abd", "")},
		{name: "f", values: []float64{1, 2.5, 3}, missing: []bool{true, false, true}},
		{name: "g", logical: schema.DateLogicalType{}, values: []int32{3, 4, 5}},
		{name: "h", logical: schema.NewTimestampLogicalType(true, schema.TimeUnitMillis), values: []int64{3, 4, 5}},
		{name: "i", logical: schema.NewDecimalLogicalType(5, 2), values: byteArrays[parquet.ByteArray]("1", "2", "3")},
		{name: "j[]", values: []int32{1, 2, 3}}}
	for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy,
		compress.Codecs.Gzip, compress.Codecs.Zstd, compress.Codecs.Lz4Raw, compress.Codecs.Brotli} {
		for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
			f.Add([]byte(parquetOf(f, columns, parquet.WithCompression(codec), parquet.WithDataPageVersion(version),
				parquet.WithDictionaryFor("a", false), parquet.WithEncodingFor("a", parquet.Encodings.DeltaBinaryPacked),
				parquet.WithDictionaryFor("e", false), parquet.WithEncodingFor("e", parquet.Encodings.DeltaByteArray))))
		}
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		if len(content) < 12 {
			return
		}
		content = bytes.Clone(content) // the input itself must stay as it is
		copy(content, "PAR1")
		copy(content[len(content)-4:], "PAR1")
		fuzz(t, content, table.Options{})
	})
}
