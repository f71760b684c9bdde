package pack

import "fmt"

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

// newTable returns the table of the frequencies. Their sum must be scale, or 0 for a context
// that does not occur.
func newTable(freq [256]uint32) (*table, error) {
	t := &table{freq: freq}
	sum := uint32(0)
	for s, f := range freq {
		if f > scale-sum {
			return nil, fmt.Errorf("frequencies sum to more than %d", scale)
		}
		t.start[s] = sum
		for range f {
			t.symbol[sum] = uint8(s)
			sum++
		}
	}
	if sum != scale && sum != 0 {
		return nil, fmt.Errorf("frequencies sum to %d instead of %d", sum, scale)
	}
	return t, nil
}

// normalise scales counts to frequencies that sum to scale, at least 1 for every
// symbol that occurs. The most frequent symbols absorb the rounding.
func normalise(counts [256]int) (freq [256]uint32) {
	total := 0
	for _, n := range counts {
		total += n
	}
	if total == 0 {
		return freq
	}
	rest := scale
	for s, n := range counts {
		if n > 0 {
			freq[s] = uint32(max(1, n*scale/total))
			rest -= int(freq[s])
		}
	}
	for rest != 0 {
		top := 0
		for s := range freq {
			if freq[s] > freq[top] {
				top = s
			}
		}
		step := rest
		if rest < 0 { // too many were rounded up: take an eighth of the largest each time
			step = max(rest, -int(freq[top]/8)-1)
		}
		freq[top] = uint32(int(freq[top]) + step)
		rest -= step
	}
	return freq
}

// coded is one residual with its context.
type coded struct {
	context uint8
	symbol  uint8
}

// encodeSymbols encodes the symbols in reverse order, so that they decode in order.
func encodeSymbols(symbols []coded, tables []*table) []byte {
	var words []uint16
	state := uint64(lowest)
	for i := len(symbols) - 1; i >= 0; i-- {
		t, s := tables[symbols[i].context], symbols[i].symbol
		freq := uint64(t.freq[s])
		if state >= freq<<(32-scaleBits) {
			words = append(words, uint16(state))
			state >>= 16
		}
		state = state/freq<<scaleBits + state%freq + uint64(t.start[s])
	}
	words = append(words, uint16(state), uint16(state>>16))
	out := make([]byte, 0, 2*len(words))
	for i := len(words) - 1; i >= 0; i-- {
		out = append(out, byte(words[i]), byte(words[i]>>8))
	}
	return out
}

// decoder decodes symbols. If the stream ends early, truncated is set.
type decoder struct {
	state     uint32
	in        []byte
	at        int
	truncated bool
}

func newDecoder(in []byte) *decoder {
	d := &decoder{in: in}
	d.state = uint32(d.word())<<16 | uint32(d.word())
	return d
}

func (d *decoder) word() uint16 {
	if d.at+2 > len(d.in) {
		d.truncated = true
		return 0
	}
	w := uint16(d.in[d.at]) | uint16(d.in[d.at+1])<<8
	d.at += 2
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

// done says whether the decoder is at the end of the stream, in the encoder's first state.
func (d *decoder) done() bool { return !d.truncated && d.at == len(d.in) && d.state == lowest }
