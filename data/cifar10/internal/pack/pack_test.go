package pack

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// images returns n images: gradients with a little noise, but every fifth is noise and every
// seventh has one colour, so that all contexts occur.
func images(n int, seed uint64) Images {
	rng := rand.New(rand.NewPCG(seed, 0))
	l := Images{}
	index := int32(0)
	for i := range n {
		picture := make([]byte, imageBytes)
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
		var lists []Images
		for i, n := range sizes {
			l := images(n, uint64(i))
			if n == 0 {
				l = Images{Pixels: []byte{}, Labels: []uint8{}, Index: []int32{}}
			}
			lists = append(lists, l)
		}
		packed := Encode(lists...)
		if !bytes.Equal(packed, Encode(lists...)) {
			t.Errorf("%v: encoding twice gives different bytes", sizes)
		}
		got, err := Decode(packed)
		if err != nil {
			t.Fatalf("%v: %v", sizes, err)
		}
		if !reflect.DeepEqual(got, lists) {
			t.Errorf("%v: decoding gives other images", sizes)
		}
	}
}

// Smooth images must become much smaller, otherwise the predictor does nothing.
func TestSize(t *testing.T) {
	l := Images{Pixels: make([]byte, 64*imageBytes), Labels: make([]uint8, 64), Index: make([]int32, 64)}
	for i := range l.Pixels {
		l.Pixels[i] = byte(i%side*3 + i/side%side*2)
	}
	head := len(Encode())
	if n := len(Encode(l)) - head; n > 64*imageBytes/50 {
		t.Errorf("64 smooth images need %d bytes", n)
	}
}

var byteRange = regexp.MustCompile(`byte (\d+)(?: and byte (\d+))?`)

// Every changed byte is detected, and the range of bytes in the error contains it.
func TestFlipped(t *testing.T) {
	packed := Encode(images(130, 1))
	rng := rand.New(rand.NewPCG(2, 0))
	body := prefixBytes + int(binary.LittleEndian.Uint32(packed[40:]))
	places := []int{0, 7, 8, 39, 40, 43, 44, 47, 48, body - 1, body, len(packed) - 1}
	for range 200 {
		places = append(places, rng.IntN(len(packed)))
	}
	for _, at := range places {
		bad := bytes.Clone(packed)
		bad[at] ^= 1 << rng.IntN(8)
		_, err := Decode(bad)
		if err == nil {
			t.Fatalf("byte %d was changed: no error", at)
		}
		m := byteRange.FindStringSubmatch(err.Error())
		if m == nil {
			t.Fatalf("byte %d: no position in %q", at, err)
		}
		from, _ := strconv.Atoi(m[1])
		to, _ := strconv.Atoi(m[2])
		inLength := at >= 40 && at < 44 // the length of the header, so its end is wrong too
		if m[2] != "" && !inLength && (at < from || at >= to) {
			t.Errorf("byte %d: %q", at, err)
		}
	}
}

// A truncated file is an error that says where the file ends.
func TestTruncated(t *testing.T) {
	packed := Encode(images(70, 1))
	lengths := []int{len(packed) - 1}
	for n := 0; n < len(packed); n += 1 + n/100 {
		lengths = append(lengths, n)
	}
	for _, n := range lengths {
		_, err := Decode(packed[:n:n])
		if err == nil {
			t.Fatalf("cut to %d bytes: no error", n)
		}
		if want := fmt.Sprintf("ends at byte %d", n); !strings.HasPrefix(err.Error(), want) {
			t.Fatalf("cut to %d bytes: %q", n, err)
		}
	}
	if _, err := Decode(append(bytes.Clone(packed), 0)); err == nil {
		t.Error("one byte more: no error")
	}
}

// A header with wrong content and a correct checksum is an error, never a panic.
func TestForgedHeader(t *testing.T) {
	packed := Encode(images(70, 1))
	end := prefixBytes + int(binary.LittleEndian.Uint32(packed[40:]))
	rng := rand.New(rand.NewPCG(3, 0))
	for range 150 {
		bad := bytes.Clone(packed)
		at := 8 + rng.IntN(end-8)
		if at >= 40 && at < prefixBytes {
			continue
		}
		bad[at] ^= byte(1 + rng.IntN(255))
		binary.LittleEndian.PutUint32(bad[44:], headerCRC(bad, bad[prefixBytes:end]))
		if _, err := Decode(bad); err == nil {
			t.Errorf("byte %d was forged: no error", at)
		}
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
		if _, err := newTable(freq); err != nil {
			t.Fatalf("trial %d: %v", trial, err)
		}
		for s := range counts {
			if (counts[s] > 0) != (freq[s] > 0) {
				t.Fatalf("trial %d: symbol %d occurs %d times and has frequency %d", trial, s, counts[s], freq[s])
			}
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	packed := Encode(images(640, 1))
	for b.Loop() {
		Decode(packed)
	}
	b.ReportMetric(float64(b.N)*640/b.Elapsed().Seconds(), "images/s")
}
