package cifar10

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"reflect"
	"testing"
)

// pack is the inverse of unpack. The same lists give the same bytes.
func pack(lists ...Set) []byte {
	var all []byte
	for _, l := range lists {
		all = append(all, l.Pixels...)
	}
	var blocks [][]coded
	var counts [contexts][256]int
	for len(all) > 0 {
		n := min(len(all), blockImages*Pixels)
		symbols := residuals(all[:n])
		for _, s := range symbols {
			counts[s.context][s.symbol]++
		}
		blocks = append(blocks, symbols)
		all = all[n:]
	}
	body := appendLists(nil, lists)
	tables := make([]*table, contexts)
	for c := range counts {
		freq := normalise(counts[c])
		for _, f := range freq {
			body = binary.AppendUvarint(body, uint64(f))
		}
		tables[c] = newTable(freq)
	}
	var data []byte
	for _, symbols := range blocks {
		block := encodeSymbols(symbols, tables)
		body = binary.AppendUvarint(body, uint64(len(block)))
		data = append(data, block...)
	}
	sum := contentHash(lists)
	out := append([]byte(magic), sum[:]...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(body)))
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	out = binary.LittleEndian.AppendUint32(out, crc32.Update(crc32.Checksum(out, castagnoli), castagnoli, body))
	return append(append(out, body...), data...)
}

func appendLists(body []byte, lists []Set) []byte {
	body = binary.AppendUvarint(body, uint64(len(lists)))
	for _, l := range lists {
		body = binary.AppendUvarint(body, uint64(len(l.Labels)))
		body = append(body, l.Labels...)
		last := int32(0)
		for _, index := range l.Index {
			body = binary.AppendUvarint(body, uint64(index-last))
			last = index
		}
	}
	return body
}

func contentHash(lists []Set) (sum [32]byte) {
	h := sha256.New()
	for _, l := range lists {
		binary.Write(h, binary.LittleEndian, l.Index)
		h.Write(l.Labels)
		h.Write(l.Pixels)
	}
	h.Sum(sum[:0])
	return sum
}

// residuals returns the residual and the context of every pixel, in decoding order.
func residuals(images []byte) []coded {
	out := make([]coded, 0, len(images))
	var values [3][area]uint8
	for ; len(images) > 0; images = images[Pixels:] {
		split(images, &values)
		for c := range values {
			var p plane
			p.start()
			for y := range side {
				p.startRow(y)
				for x := range side {
					at := (y+1)*stride + x + 1
					guess, level := p.predict(at)
					v := values[c][y*side+x]
					out = append(out, coded{uint8(c*levels) + level, v - guess})
					p.set(at, v, v-guess)
				}
				p.endRow(y)
			}
		}
	}
	return out
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

// split writes the planes G, R-G+128 and B-G+128 (modulo 256) of an image's R, G, B.
func split(image []byte, planes *[3][area]uint8) {
	for i := range area {
		r, g, b := image[i], image[area+i], image[2*area+i]
		planes[0][i], planes[1][i], planes[2][i] = g, r-g+128, b-g+128
	}
}

// someImages returns n images: gradients with a little noise, but every fifth is noise and every
// seventh has one colour, so that all contexts occur.
func someImages(n int, seed uint64) Set {
	rng := rand.New(rand.NewPCG(seed, 0))
	l := Set{}
	index := int32(0)
	for i := range n {
		picture := make([]byte, Pixels)
		for j := range picture {
			switch {
			case i%5 == 0:
				picture[j] = byte(rng.Uint32())
			case i%7 == 0:
				picture[j] = 255
			default:
				picture[j] = byte(j%side*8 + j/side + rng.IntN(4))
			}
		}
		index += int32(rng.IntN(300))
		l.Pixels = append(l.Pixels, picture...)
		l.Labels = append(l.Labels, uint8(rng.IntN(10)))
		l.Index = append(l.Index, index)
	}
	return l
}

func TestRoundTrip(t *testing.T) {
	for _, sizes := range [][]int{{1}, {64, 65}, {130, 3}, {0, 70}} {
		var lists []Set
		for i, n := range sizes {
			l := someImages(n, uint64(i))
			if n == 0 {
				l = Set{Pixels: []byte{}, Labels: []uint8{}, Index: []int32{}}
			}
			lists = append(lists, l)
		}
		packed := pack(lists...)
		if !bytes.Equal(packed, pack(lists...)) {
			t.Errorf("%v: encoding twice gives different bytes", sizes)
		}
		if !reflect.DeepEqual(unpack(packed), lists) {
			t.Errorf("%v: decoding gives other images", sizes)
		}
	}
}

// Smooth images must become much smaller, otherwise the predictor does nothing.
func TestSize(t *testing.T) {
	l := Set{Pixels: make([]byte, 64*Pixels), Labels: make([]uint8, 64), Index: make([]int32, 64)}
	for i := range l.Pixels {
		l.Pixels[i] = byte(i%side*3 + i/side%side*2)
	}
	head := len(pack())
	if n := len(pack(l)) - head; n > 64*Pixels/50 {
		t.Errorf("64 smooth images need %d bytes", n)
	}
}

func TestNormalise(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 0))
	for trial := range 200 {
		var counts [256]int
		for s := range 1 + rng.IntN(256) {
			counts[s] = rng.IntN(1 << rng.IntN(20))
		}
		counts[0]++
		freq := normalise(counts)
		sum := uint32(0)
		for s := range counts {
			sum += freq[s]
			if (counts[s] > 0) != (freq[s] > 0) {
				t.Fatalf("trial %d: symbol %d occurs %d times and has frequency %d", trial, s, counts[s], freq[s])
			}
		}
		if sum != scale {
			t.Fatalf("trial %d: the frequencies sum to %d", trial, sum)
		}
	}
}
