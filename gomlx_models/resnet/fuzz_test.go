package resnet

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"strings"
	"testing"
)

// FuzzCheckpoint reads bytes as a safetensors file, and as the header of one whose checksum is made right. A checkpoint
// that is accepted is the same after it was written and read again, and its arrays fill the file.
func FuzzCheckpoint(f *testing.F) {
	c := small()
	var file bytes.Buffer
	if err := c.encode(&file); err != nil {
		f.Fatal(err)
	}
	length := binary.LittleEndian.Uint64(file.Bytes())
	head, body := file.Bytes()[8:8+length], file.Bytes()[8+length:]
	f.Add(true, file.Bytes(), []byte(nil))
	f.Add(false, head, body)
	for _, head := range []string{
		"{}", `{"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}`, `{"__metadata__":{"a":"b"}}`,
		`{"a":{"dtype":"F32","shape":[0,9],"data_offsets":[0,0]},"b":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}`,
		`{"a":{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0]}}`,
	} {
		f.Add(false, []byte(head), body[:8])
	}
	f.Fuzz(func(t *testing.T, whole bool, head, body []byte) {
		data := head
		if !whole {
			c, err := decodeHeader(head, int64(len(body)))
			if err != nil {
				sentence(t, err)
				return
			}
			for _, p := range c.Params {
				values := make([]float32, p.Size())
				for i := range values {
					values[i] = float32(int8(body[4*i]))
				}
				c.Values = append(c.Values, values)
			}
			var buf bytes.Buffer
			if err := c.encode(&buf); err != nil {
				t.Fatal(err)
			}
			data = buf.Bytes()
		}
		c, err := decode(data)
		if err != nil {
			if !whole {
				t.Fatalf("%q was written and is refused: %v", data, err)
			}
			sentence(t, err)
			return
		}
		size := 0
		for i, p := range c.Params {
			size += 4 * len(c.Values[i])
			if p.Size() != len(c.Values[i]) {
				t.Fatalf("%d values of shape %v", len(c.Values[i]), p.Dims)
			}
		}
		if size > len(data) {
			t.Fatalf("%d bytes of values from %d", size, len(data))
		}
		var buf bytes.Buffer
		if err := c.encode(&buf); err != nil {
			t.Fatal(err)
		}
		again, err := decode(buf.Bytes())
		if err != nil || !reflect.DeepEqual(again, c) {
			t.Fatalf("%+v, read again %+v, %v", c, again, err)
		}
	})
}

// sentence fails the test if an error is not one line.
func sentence(t *testing.T, err error) {
	t.Helper()
	if text := err.Error(); text == "" || strings.ContainsAny(text, "\n\x00") {
		t.Fatalf("not a sentence: %q", text)
	}
}
