package pack

import (
	"encoding/binary"
	"reflect"
	"strings"
	"testing"

	"tvps/ci/demand"
)

// farIndices is a header body whose indices do not fit into an int32.
func farIndices() []byte {
	const n = 200
	body := binary.AppendUvarint([]byte{1}, n)
	body = append(body, make([]byte, n)...)
	for range n {
		body = binary.AppendUvarint(body, 1<<24)
	}
	tables := Encode()[prefixBytes+1:]
	return append(append(body, tables...), make([]byte, (n+blockImages-1)/blockImages)...)
}

// TestFarIndices: indices that do not fit are an error instead of negative numbers.
func TestFarIndices(t *testing.T) {
	_, err := parseBody(farIndices())
	demand.Error(t, err, "invalid header")
}

// FuzzDecode reads bytes as a container, and as header body and blocks of one whose checksums are made right. Images
// that are accepted are the same after they were packed and decoded again; memory is bounded by the header.
func FuzzDecode(f *testing.F) {
	for _, lists := range [][]Images{nil, {images(1, 1)}, {images(2, 2), images(1, 3)}} {
		packed := Encode(lists...)
		end := prefixBytes + int(packed[40]) + int(packed[41])<<8 + int(packed[42])<<16
		f.Add(true, packed, []byte(nil))
		f.Add(false, packed[prefixBytes:end], packed[end:])
	}
	f.Add(false, farIndices(), []byte(nil))
	f.Fuzz(func(t *testing.T, whole bool, body, blocks []byte) {
		data := body
		if !whole {
			data = append(appendPrefix([32]byte{}, body), blocks...)
			h, err := parseBody(body)
			if err == nil {
				if len(h.pixels) > imageBytes*len(body) {
					t.Fatalf("%d bytes of pixels from a header of %d", len(h.pixels), len(body))
				}
				end := prefixBytes + len(body)
				for _, b := range h.blocks {
					end = b.to
				}
				if end == len(data) && h.decodeBlocks(data) == nil {
					data = append(appendPrefix(contentHash(h.lists), body), blocks...)
				}
			}
		}
		lists, err := Decode(data)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x00") {
				t.Fatalf("not a sentence: %q", err)
			}
			return
		}
		for _, l := range lists {
			if len(l.Pixels) != imageBytes*len(l.Labels) || len(l.Index) != len(l.Labels) {
				t.Fatalf("%d pixels and %d indices of %d images", len(l.Pixels), len(l.Index), len(l.Labels))
			}
			for i := range l.Index[:max(0, len(l.Index)-1)] {
				if l.Index[i+1] < l.Index[i] {
					t.Fatalf("index %d after %d", l.Index[i+1], l.Index[i])
				}
			}
		}
		again, err := Decode(Encode(lists...))
		if err != nil || !reflect.DeepEqual(again, lists) && len(lists) > 0 {
			t.Fatalf("%v: %d lists, then %d", err, len(lists), len(again))
		}
	})
}
