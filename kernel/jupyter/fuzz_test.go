package jupyter

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
	"unicode/utf8"
)

// FuzzWire: no message panics, none is accepted without the signature of its own parts, and a signed one survives
// encoding and decoding. Frames are separated by lines.
func FuzzWire(f *testing.F) {
	f.Add([]byte("topic\n<IDS|MSG>\n\n{}\n{}\n{}\n{}\nbuffer"), `{"code": "x"}`)
	f.Add(bytes.Join(fixed(), []byte("\n")), `[]`)
	f.Add([]byte("<IDS|MSG>\n<IDS|MSG>\nff\n{\"msg_id\": 3}\nnull"), `null`)
	s, unsigned := session{id: "s", key: []byte("a secret key")}, session{}
	f.Fuzz(func(t *testing.T, data []byte, content string) {
		frames := bytes.Split(data, []byte("\n"))
		for _, s := range []session{s, unsigned} {
			m, err := s.decode(slices.Clone(frames))
			if err != nil {
				continue
			}
			rest := frames[len(routing(frames)):]
			if want := s.sign(rest[2:6]); !bytes.Equal(rest[1], want) {
				t.Fatalf("accepted the signature %q instead of %q", rest[1], want)
			}
			if !bytes.Equal(m.content, rest[5]) {
				t.Fatalf("decoded %q of %q", m.content, rest)
			}
			parseOutput(m)
			parseReply(m.content)
			_ = json.Unmarshal(m.content, &Info{})
			new(history).add(m)
		}
		if !json.Valid([]byte(content)) {
			return
		}
		h, parent := header{ID: string(data), Session: "a", Type: content}, header{ID: content}
		if !utf8.ValidString(h.ID + h.Type) {
			return // JSON cannot hold it
		}
		encoded, err := s.encode(h, &parent, json.RawMessage(content))
		if err != nil {
			t.Fatal(err)
		}
		m, err := s.decode(append([][]byte{data[:len(data)/2]}, encoded...))
		if bytes.Equal(data[:len(data)/2], delimiter) {
			return // no identity looks like this
		}
		if err != nil || m.header != h || m.parent != parent {
			t.Fatalf("%+v became %+v, %v", h, m, err)
		}
		part := len(content) % 4
		encoded[2+part] = append(encoded[2+part], ' ')
		if _, err := s.decode(encoded); err == nil {
			t.Fatal("accepted a message whose part was changed")
		}
	})
}
