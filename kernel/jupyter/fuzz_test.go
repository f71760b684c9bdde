package jupyter

import (
	"bytes"
	"encoding/json"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
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
			if !bytes.Equal(m.content, rest[5]) || len(m.buffers) != len(rest)-6 {
				t.Fatalf("decoded %q and %d buffers of %q", m.content, len(m.buffers), rest)
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

// FuzzConnection: no connection file panics, and an accepted one names five different ports and stays the same when
// it is written and read again.
func FuzzConnection(f *testing.F) {
	good, err := newConnection("tvps", newSession())
	if err != nil {
		f.Fatal(err)
	}
	text, err := json.Marshal(good)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add(bytes.Replace(text, []byte(`"tcp"`), []byte(`"ipc"`), 1))
	f.Add(bytes.Replace(text, []byte(loopback), []byte(`*`), 1))
	f.Add(bytes.Replace(text, []byte(strconv.Itoa(good.Shell)), []byte("65536"), 1))
	f.Add([]byte(`{"ip": "::1", "transport": "tcp", "shell_port": 1, "iopub_port": 1}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseConnection(data)
		if err != nil {
			return
		}
		seen := map[int]bool{}
		for _, port := range c.ports() {
			if *port < 1 || *port > 65535 || seen[*port] {
				t.Fatalf("accepted the ports of %+v", c)
			}
			seen[*port] = true
		}
		if c.Transport == "tcp" {
			host := strings.TrimPrefix(c.IP, "*")
			if got, _, err := net.SplitHostPort(net.JoinHostPort(host, "1")); err != nil || got != host {
				t.Fatalf("accepted the address %q: %v", c.IP, err)
			}
		}
		if c.Key != "" && c.Scheme != "hmac-sha256" {
			t.Fatalf("accepted the scheme %q", c.Scheme)
		}
		again, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := parseConnection(again); err != nil || !cmp.Equal(c, back, cmp.AllowUnexported(connection{})) {
			t.Fatalf("%+v became %+v, %v", c, back, err)
		}
	})
}

// FuzzConsole: no code and no history request of a console panics; a complete code stays so with another blank line;
// only incomplete code has an indent; and each answer is JSON.
func FuzzConsole(f *testing.F) {
	f.Add("func f() {", `{"hist_access_type": "tail", "n": 3}`)
	f.Add("%%\nfmt.Println(1)\n", `{"hist_access_type": "search", "pattern": "*[a?", "n": -1, "unique": true}`)
	f.Add("x := `raw", `{"hist_access_type": "range", "session": 0, "start": 1, "stop": 2, "output": true}`)
	f.Add("%%bash\nls\n", `{}`)
	f.Add("!ls \\", `null`)
	f.Add("/* open", `[`)
	h := &history{cells: []pastCell{{1, "a"}, {2, "b\nc"}, {3, "a"}}, count: 3}
	f.Fuzz(func(t *testing.T, code, request string) {
		r := isComplete(code)
		switch r.Status {
		case "complete":
			if again := isComplete(code + "\n"); again.Status != "complete" {
				t.Fatalf("%q is complete, but %s with another line", code, again.Status)
			}
		case "incomplete", "invalid":
		default:
			t.Fatalf("status %q", r.Status)
		}
		if r.Indent != "" && r.Status != "incomplete" {
			t.Fatalf("%q is %s, with an indent", code, r.Status)
		}
		reply := h.find(json.RawMessage(request))
		if text, err := json.Marshal([]any{r, reply}); err != nil || len(reply.History) > len(h.cells) {
			t.Fatalf("%s, %v", text, err)
		}
	})
}
