package jupyter

import (
	"encoding/json"
	"errors"
	"testing"

	"tvps/ci/demand"

	"github.com/google/go-cmp/cmp"
)

// fixed is a message whose signature was computed with Python's hmac module:
// hmac.new(b"a secret key", b"".join(parts), hashlib.sha256).hexdigest().
func fixed() [][]byte {
	return [][]byte{
		[]byte("topic"),
		[]byte("<IDS|MSG>"),
		[]byte("7164e5f1a1e45f905cbc1a02e83b13c659f902e41353923ef1f63d1b684d565d"),
		[]byte(
			`{"msg_id":"1","session":"s","username":"u","date":"2024-01-02T03:04:05Z","msg_type":"stream","version":"5.3"}`,
		),
		[]byte(`{"msg_id":"0"}`),
		[]byte(`{}`),
		[]byte(`{"name":"stdout","text":"hello\n"}`),
		[]byte("a binary buffer, which is not signed"),
	}
}

func TestDecode(t *testing.T) {
	s := session{"s", []byte("a secret key")}
	got, err := s.decode(fixed())
	demand.NoError(t, err)
	want := message{
		header:  header{"1", "s", "u", "2024-01-02T03:04:05Z", "stream", "5.3"},
		parent:  header{ID: "0"},
		content: json.RawMessage(`{"name":"stdout","text":"hello\n"}`),
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(message{})); diff != "" {
		t.Error(diff)
	}
}

// Each signed part matters, and so does the key.
func TestWrongSignature(t *testing.T) {
	s := session{"s", []byte("a secret key")}
	for i := 2; i < 7; i++ {
		frames := fixed()
		frames[i] = append(frames[i], ' ')
		if _, err := s.decode(frames); !errors.Is(err, errSignature) {
			t.Errorf("part %d changed: %v", i, err)
		}
	}
	if _, err := (session{"s", []byte("another key")}).decode(fixed()); !errors.Is(err, errSignature) {
		t.Errorf("another key: %v", err)
	}
}
