package table

import "fmt"

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
