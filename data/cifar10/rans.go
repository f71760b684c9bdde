package cifar10

import "encoding/binary"

// The entropy coder is rANS (Duda 2013) with a 32-bit state and 16-bit words. Each context
// has one table of symbol frequencies, which sum to scale.
const (
	scaleBits = 12
	scale     = 1 << scaleBits
	lowest    = 1 << 16 // the state stays in [lowest, 2^32)
)

// table holds the frequencies of the 256 residuals in one context, their cumulative sums,
// and the symbol of each of the scale slots.
type table struct {
	freq, start [256]uint32
	symbol      [scale]uint8
}

// newTable returns the table of frequencies. Their sum is scale, or 0 for a context that does not occur.
func newTable(freq [256]uint32) *table {
	t := &table{freq: freq}
	sum := uint32(0)
	for s, f := range freq {
		t.start[s] = sum
		for range f {
			t.symbol[sum] = uint8(s)
			sum++
		}
	}
	return t
}

// decoder decodes symbols.
type decoder struct {
	state uint32
	in    []byte
}

func newDecoder(in []byte) *decoder {
	d := &decoder{in: in}
	d.state = uint32(d.word())<<16 | uint32(d.word())
	return d
}

func (d *decoder) word() uint16 {
	w := binary.LittleEndian.Uint16(d.in)
	d.in = d.in[2:]
	return w
}

func (d *decoder) next(t *table) uint8 {
	slot := d.state & (scale - 1)
	s := t.symbol[slot]
	d.state = t.freq[s]*(d.state>>scaleBits) + slot - t.start[s]
	if d.state < lowest {
		d.state = d.state<<16 | uint32(d.word())
	}
	return s
}
