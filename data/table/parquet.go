package table

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/gomlx/gomlx/support/xslices"
)

// parquetReader reads Parquet files, column by column in one goroutine: arrow-go panics on some damaged files, and a
// panic of another goroutine cannot be recovered.
type parquetReader struct {
	*input
	files []*parquetFile
	now   *part // that is read
	rows  int
}

// parquetFile is one of them.
type parquetFile struct {
	*part
	*file.Reader
	leaves []*leaf
}

// mostPage limits the size of a page, and batchValues are decoded at once.
const mostPage, batchValues = 1 << 30, 1 << 13

// readParquet reads Parquet files.
func (in *input) readParquet() (t *Data, err error) {
	name := "" // of the column that is read
	r := &parquetReader{input: in}
	defer func() {
		switch problem := recover().(type) {
		case nil:
		case error:
			err = problem
		default:
			err = fmt.Errorf("%v", problem)
		}
		if e, ok := errors.AsType[*Error](err); ok {
			e.Column = cmp.Or(e.Column, name)
		} else if err != nil {
			what := strings.TrimRight(cause(err), ".")
			err = &Error{Column: name, Problem: "the Parquet file is damaged, truncated, or has what is not read: " +
				strings.ToValidUTF8(what[:min(len(what), 160)], ""), Fix: "write it again", Err: err}
		}
		err = in.placed(err, r.now)
	}()
	for _, r.now = range in.parts {
		if err := r.open(r.now); err != nil {
			return nil, err
		}
	}
	if err := in.checkRows(int64(r.rows), len(r.files[0].leaves)); err != nil {
		return nil, err
	}
	var columns []*column
	for k, l := range r.files[0].leaves {
		name = l.name
		for _, f := range r.files {
			l.all, l.why = append(l.all, f.leaves[k]), cmp.Or(l.why, f.leaves[k].why)
		}
		c, err := r.column(l)
		if err != nil {
			return nil, err
		}
		columns = append(columns, c)
	}
	return in.table("Parquet", r.rows, nil).with(columns), nil
}

// open opens a file, and finds its columns that are read.
func (r *parquetReader) open(p *part) error {
	properties := parquet.NewReaderProperties(nil)
	properties.BufferedStreamEnabled = true // reads page by page
	properties.MaxCompressedPageSize = min(p.size, mostPage)
	properties.MaxUncompressedPageSize = min(r.limits.expanded(p.size), mostPage)
	open, err := file.NewParquetReader(io.NewSectionReader(p.r, 0, p.size), file.WithReadProps(properties))
	if err != nil {
		return err
	}
	f := &parquetFile{part: p, Reader: open}
	// A nested column is one, whatever it consists of.
	var leaves []*leaf
	for i, s := 0, f.MetaData().Schema; i < s.NumColumns(); i++ {
		root := s.ColumnRoot(i)
		if i == 0 || root != s.ColumnRoot(i-1) {
			name := cmp.Or(strings.Trim(root.Name(), blanks), fmt.Sprintf("c%d", len(leaves)+1)) // as in a CSV file
			l := &leaf{Column: s.Column(i), name: name, at: i, location: r.o.Location}
			l.interpret(root)
			leaves = append(leaves, l)
		}
	}
	names, want, err := r.wanted(p, xslices.Map(leaves, func(l *leaf) string { return l.name }), 0)
	if err != nil {
		return err
	}
	for _, folder := range p.folders {
		text := func(buf []byte, p *page, _ int) []byte { return append(buf, p.of.value...) }
		leaves = append(leaves, &leaf{kind: Category, asText: true, text: text, value: folder[1]})
	}
	f.leaves = xslices.Map(want, func(i int) *leaf {
		leaves[i].name = names[i]
		return leaves[i]
	})
	p.first = r.rows
	r.files = append(r.files, f)
	return r.check(f)
}

// check compares the number of rows with the file's size, before memory is taken for them.
func (r *parquetReader) check(f *parquetFile) error {
	rows, all := int64(0), f.MetaData()
	for g := range f.NumRowGroups() {
		group := all.RowGroup(g)
		if rows += group.NumRows(); group.NumColumns() != all.NumColumns() {
			return fmt.Errorf("row group %d has %s of %d", g, plural(group.NumColumns(), "column"), all.NumColumns())
		}
		for _, l := range f.leaves {
			if l.Column == nil {
				continue
			} else if c, err := group.ColumnChunk(l.at); err != nil {
				return err
			} else if l.TypeLength() > 0 && slices.Contains(c.Encodings(), parquet.Encodings.DeltaByteArray) {
				l.why = "bytes in encoding DELTA_BYTE_ARRAY" // which arrow-go lacks
			}
		}
	}
	// What a few bytes of run lengths can stand for is bounded, too.
	if need := rows * int64(len(f.leaves)) * 4; rows > 1<<31 || need > r.limits.expanded(f.size) {
		return &Error{Problem: fmt.Sprintf("the file states %d rows of %s, too many for its size", rows,
			plural(len(f.leaves), "column")), Fix: "leave columns out if you trust it"}
	}
	r.rows += int(rows)
	return nil
}

// page has some rows of a column, and the values of those that have one: in ints, floats or bytes, by the physical
// type. It is valid until the next one is read.
type page struct {
	of      *leaf
	levels  []int16 // 0: the row has no value; nil: all rows have one
	present int     // number of values
	ints    []int64 // also booleans, and INT96 in microseconds since 1970
	floats  []float64
	bytes   [][]byte
	scratch any // values as arrow-go gives them
}

// each calls use for every row of a column. Its value is number k of the page; -1: it has none.
func (r *parquetReader) each(l *leaf, use func(row int, p *page, k int) error) error {
	for i, f := range r.files {
		r.now = f.part
		if err := f.each(l.all[i], use); err != nil {
			return err
		}
	}
	return nil
}

func (f *parquetFile) each(l *leaf, use func(row int, p *page, k int) error) (err error) {
	p, row := page{of: l}, f.first
	if l.Column == nil { // a folder names it
		k := map[bool]int{true: -1}[l.value == ""]
		for i := 0; i < int(f.NumRows()) && err == nil; i++ {
			err = use(row+i, &p, k)
		}
		return err
	}
	if l.MaxDefinitionLevel() > 0 {
		p.levels = make([]int16, batchValues)
	}
	for g := range f.NumRowGroups() {
		read, err := f.RowGroup(g).GetColumnPageReader(l.at)
		if err != nil {
			return err
		}
		chunk := file.NewColumnReader(l.Column, pageReader{read}, nil, f.BufferPool())
		for end := row + int(f.RowGroup(g).NumRows()); row < end; {
			n, err := p.read(chunk, min(end-row, batchValues))
			if err != nil {
				return err
			}
			k := 0
			for i := range n {
				value := -1
				if p.levels == nil || p.levels[i] > 0 {
					value = min(k, p.present-1)
					k++
				}
				if err := use(row+i, &p, value); err != nil {
					return err
				}
			}
			if row += n; n == 0 || k != p.present {
				return fmt.Errorf("a page of row group %d has %d values of %d", g, p.present, k)
			}
		}
		_ = chunk.Close()
	}
	return nil
}

// read reads the next rows of a column, at most n, all of one page of the file. 0 rows: there are no more.
func (p *page) read(chunk file.ColumnChunkReader, n int) (rows int, err error) {
	switch c := chunk.(type) {
	case *file.BooleanColumnChunkReader:
		return values(p, n, &p.ints, c.ReadBatchInPage, func(v bool) int64 { return map[bool]int64{true: 1}[v] })
	case *file.Int32ColumnChunkReader:
		return values(p, n, &p.ints, c.ReadBatchInPage, func(v int32) int64 { return int64(v) })
	case *file.Int64ColumnChunkReader:
		return values(p, n, &p.ints, c.ReadBatchInPage, func(v int64) int64 { return v })
	case *file.Int96ColumnChunkReader: // nanoseconds of the day, Julian day
		return values(p, n, &p.ints, c.ReadBatchInPage, func(v parquet.Int96) int64 {
			day := min(int64(binary.LittleEndian.Uint32(v[8:]))-2440588, 1e7) // since 1970; far ones are refused below
			return day*microsPerDay + int64(binary.LittleEndian.Uint64(v[:]))/1000
		})
	case *file.Float32ColumnChunkReader:
		return values(p, n, &p.floats, c.ReadBatchInPage, func(v float32) float64 { return float64(v) })
	case *file.Float64ColumnChunkReader:
		return values(p, n, &p.floats, c.ReadBatchInPage, func(v float64) float64 { return v })
	case *file.ByteArrayColumnChunkReader:
		return values(p, n, &p.bytes, c.ReadBatchInPage, func(v parquet.ByteArray) []byte { return v })
	case *file.FixedLenByteArrayColumnChunkReader:
		return values(p, n, &p.bytes, c.ReadBatchInPage, func(v parquet.FixedLenByteArray) []byte { return v })
	}
	return 0, nil
}

// values reads values of a physical type into dst.
func values[T, V any](p *page, n int, dst *[]V, read func(int64, []T, []int16, []int16) (int64, int, error),
	convert func(T) V) (rows int, err error) {
	from, ok := p.scratch.([]T)
	if !ok {
		from, *dst = make([]T, batchValues), make([]V, batchValues)
		p.scratch = from
	}
	total, present, err := read(int64(n), from, p.levels, nil)
	to := *dst
	for i, v := range from[:present] {
		to[i] = convert(v)
	}
	p.present = present
	return int(total), err
}

// pageReader reads the pages of a column chunk, and checks what they state.
type pageReader struct{ file.PageReader }

// Next reads the next page that has values. It panics with what readParquet reports.
func (r pageReader) Next() bool {
	for r.PageReader.Next() {
		page := r.Page()
		_, dictionary := page.(*file.DictionaryPage)
		if dictionary && int(page.NumValues()) > len(page.Data()) {
			panic(&Error{Problem: "a dictionary has fewer bytes than values", Fix: "write the file again"})
		} else if dictionary || page.NumValues() > 0 {
			return true
		}
	}
	return false
}

// GetDictionaryPage would read a dictionary without a check. Next has read it where a file has one.
func (r pageReader) GetDictionaryPage() (*file.DictionaryPage, error) { return nil, nil }
