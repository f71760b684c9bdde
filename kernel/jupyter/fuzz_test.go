package jupyter

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
)

// FuzzWire: no message panics, and none is accepted without the signature of its own parts. Frames are separated by
// lines.
func FuzzWire(f *testing.F) {
	f.Add([]byte("topic\n<IDS|MSG>\n\n{}\n{}\n{}\n{}\nbuffer"))
	f.Add(bytes.Join(fixed(), []byte("\n")))
	f.Add([]byte("<IDS|MSG>\n<IDS|MSG>\nff\n{\"msg_id\": 3}\nnull"))
	s, unsigned := session{id: "s", key: []byte("a secret key")}, session{}
	f.Fuzz(func(t *testing.T, data []byte) {
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
			_ = json.Unmarshal(m.content, new(Reply))
		}
	})
}
