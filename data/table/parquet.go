package table

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"runtime"
	"sync/atomic"

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
	_ = group.Wait() // the errors are in failed
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	return in.finish("Parquet", int(meta.rows), columns), nil
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
