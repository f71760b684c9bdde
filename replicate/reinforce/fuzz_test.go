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
	"tvps/replicate/runs"
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

// theRun is the run whose lines are read.
var theRun = runs.Spec{Experiment: "cart", Learner: "sac"}

// written is a checkpoint of theRun.
func written(episode int, returns ...float64) checkpoint {
	return checkpoint{Format: checkpointFormat, Run: theRun.ID(), Episode: episode, Returns: returns}
}

// TestFirstLine: what no training of the run writes is an error that says so, in little memory; the bytes after the
// line stay unread.
func TestFirstLine(t *testing.T) {
	good := lineOf(t, written(7, 3, 4))
	r := bufio.NewReader(strings.NewReader(string(good) + "agents"))
	if c, err := readCheckpoint(r, theRun); err != nil || c.Episode != 7 || c.Returns[1] != 4 {
		t.Errorf("%+v, %v", c, err)
	}
	if rest, err := r.ReadString('s'); rest != "agents" {
		t.Errorf("then %q, %v", rest, err)
	}
	other := written(7)
	other.Run = "0123456789abcdef"
	for words, line := range map[string]string{
		"does not match its checksum":         strings.Replace(string(good), `"episode":7`, `"episode":8`, 1),
		"is cut off":                          string(good[:len(good)-1]),
		"is damaged":                          "{\n",
		"of -1 episodes":                      string(lineOf(t, written(-1))),
		"2 returns of 1 episodes":             string(lineOf(t, written(1, 1, 2))),
		"is of run 0123456789abcdef":          string(lineOf(t, other)),
		"has format 0; this program reads":    `{"episode":7,"returns":[[1],[2]],"sum":""}` + "\n", // of an older program
		"has format 3; this program reads":    `{"format":3}` + "\n",
		"is damaged: json: cannot unmarshal ": `{"format":2,"returns":[[1],[2]]}` + "\n",
	} {
		_, err := readCheckpoint(bufio.NewReader(strings.NewReader(line)), theRun)
		demand.Error(t, err, words)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := readCheckpoint(bufio.NewReaderSize(endless{}, 1<<20), theRun)
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
		written(0), written(7, 3, 4e-300), written(-1), written(1, 1, 2), {Episode: 9}, {Format: checkpointFormat},
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
		c, err := readCheckpoint(bufio.NewReader(bytes.NewReader(line)), theRun)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x00") {
				t.Fatalf("not a sentence: %q", err)
			}
			return
		}
		again, err := readCheckpoint(bufio.NewReader(bytes.NewReader(lineOf(t, c))), theRun)
		if err != nil || !reflect.DeepEqual(again, c) || c.Run != theRun.ID() || c.Episode < len(c.Returns) {
			t.Fatalf("%+v, read again %+v, %v", c, again, err)
		}
	})
}
