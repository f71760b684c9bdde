package reinforce

import (
	"bufio"
	"bytes"
	"encoding/json"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"tvps/ci/demand"
)

// lineOf is the first line of a checkpoint.
func lineOf(tb testing.TB, c checkpoint) []byte {
	tb.Helper()
	c, err := c.withSum()
	if err != nil {
		tb.Fatal(err)
	}
	line, err := json.Marshal(c)
	if err != nil {
		tb.Fatal(err)
	}
	return append(line, '\n')
}

// TestFirstLine: what no training of two seeds writes is an error that says so, in little memory; the bytes after the
// line stay unread.
func TestFirstLine(t *testing.T) {
	good := lineOf(t, checkpoint{Episode: 7, Returns: [][]float64{{1, -2.5}, {3, 4}}})
	r := bufio.NewReader(strings.NewReader(string(good) + "agents"))
	if c, err := readCheckpoint(r, 2); err != nil || c.Episode != 7 || c.Returns[1][1] != 4 {
		t.Errorf("%+v, %v", c, err)
	}
	if rest, err := r.ReadString('s'); rest != "agents" {
		t.Errorf("then %q, %v", rest, err)
	}
	for words, line := range map[string]string{
		"does not match its checksum": strings.Replace(string(good), `"episode":7`, `"episode":8`, 1),
		"is cut off":                  string(good[:len(good)-1]),
		"is damaged":                  "{\n",
		"of episode -1":               string(lineOf(t, checkpoint{Episode: -1, Returns: [][]float64{{}, {}}})),
		"1 seeds instead of 2":        string(lineOf(t, checkpoint{Episode: 7, Returns: [][]float64{{1}}})),
		"1 and 2 returns":             string(lineOf(t, checkpoint{Episode: 7, Returns: [][]float64{{1}, {1, 2}}})),
		"returns of 1 episodes":       string(lineOf(t, checkpoint{Episode: 1, Returns: [][]float64{{1, 2}, {1, 2}}})),
	} {
		_, err := readCheckpoint(bufio.NewReader(strings.NewReader(line)), 2)
		demand.Error(t, err, words)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := readCheckpoint(bufio.NewReaderSize(endless{}, 1<<20), 2)
	runtime.ReadMemStats(&after)
	demand.Error(t, err, "more than 64 MB")
	if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 500 {
		t.Errorf("took %d MB", mb)
	}
}

// endless is a file of zeros without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// FuzzState reads bytes as the first line of a state, and as one whose checksum is made right. A line that is accepted
// is the same after it was written and read again.
func FuzzState(f *testing.F) {
	for _, c := range []checkpoint{
		{Returns: [][]float64{{}, {}}}, {Episode: 7, Returns: [][]float64{{1, -2.5}, {3, 4e-300}}},
		{Episode: -1, Returns: [][]float64{{}, nil}}, {Episode: 9},
	} {
		line := lineOf(f, c)
		f.Add(true, line)
		f.Add(false, line)
	}
	f.Fuzz(func(t *testing.T, whole bool, line []byte) {
		if !whole {
			var c checkpoint
			if json.Unmarshal(line, &c) != nil {
				return
			}
			line = lineOf(t, c)
		}
		c, err := readCheckpoint(bufio.NewReader(bytes.NewReader(line)), 2)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x00") {
				t.Fatalf("not a sentence: %q", err)
			}
			return
		}
		again, err := readCheckpoint(bufio.NewReader(bytes.NewReader(lineOf(t, c))), 2)
		if err != nil || !reflect.DeepEqual(again, c) || len(c.Returns) != 2 || c.Episode < len(c.Returns[0]) {
			t.Fatalf("%+v, read again %+v, %v", c, again, err)
		}
	})
}
