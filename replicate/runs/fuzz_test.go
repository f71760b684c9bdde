package runs

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// someResult is a finished run.
func someResult() *Result {
	rows := map[int][]Row{}
	for t := range 8 {
		rows[t] = rowsAt(0, t)
	}
	return newResult(spec(0), Provenance{Commit: "a", Command: []string{"x"}, Start: time.Unix(1e9, 0).UTC()}, rows)
}

// sentence fails the test if an error is not one line.
func sentence(t *testing.T, err error) {
	t.Helper()
	if text := err.Error(); text == "" || strings.ContainsAny(text, "\n\x00") {
		t.Fatalf("not a sentence: %q", text)
	}
}

// FuzzResult reads bytes as a result file, and as the lines of one with the right checksum. A result that is accepted
// keeps the rules of a run, and is the same after it was written and read again. The text is bounded by the file.
func FuzzResult(f *testing.F) {
	file := encodeResult(someResult())
	text, err := decompress(file)
	if err != nil {
		f.Fatal(err)
	}
	_, content, _ := bytes.Cut(text, []byte("\n"))
	last := bytes.LastIndexByte(content[:len(content)-1], '\n') + 1
	f.Add(true, file)
	f.Add(false, content[:last])
	for _, lines := range []string{
		"", "\n", "{}\n", `{"spec":{"seed":1},"steps":[0]}` + "\n" + `{"t":0,"metric":"a","value":-0}` + "\n",
		`{"spec":{},"steps":[1,0]}` + "\n", `{"steps":null}` + "\nnull\n",
		`{"steps":[0]}` + "\n" + `{"metric":"a","value":1e999}` + "\n",
	} {
		f.Add(false, []byte(lines))
	}
	f.Fuzz(func(t *testing.T, whole bool, data []byte) {
		var result *Result
		var err error
		if whole {
			if text, err := decompress(data); err == nil && len(text) > maxLine+maxRatio*len(data) {
				t.Fatalf("%d bytes from %d", len(text), len(data))
			}
			result, err = decodeResult(data)
		} else {
			result, err = decodeContent(contentOf(string(data)))
		}
		if err != nil {
			sentence(t, err)
			return
		}
		for _, step := range result.Steps {
			if err := checkRows(step, result.byStep()[step]); err != nil {
				t.Fatal(err)
			}
		}
		again, err := decodeResult(encodeResult(result))
		if err != nil {
			t.Fatal(err)
		}
		if again.Spec.ID() != result.Spec.ID() || !cmp.Equal(again.Rows, result.Rows) ||
			len(again.Steps) != len(result.Steps) || !again.has(result.Steps) || len(newResult(result.Spec, Provenance{}, result.byStep()).Rows) != len(result.Rows) {
			t.Fatalf("%+v, read again %+v", result, again)
		}
	})
}

// FuzzPartial reads bytes as the file of an unfinished run, and as what follows its first line. The steps that are
// accepted keep the rules of a run, and are the same after they were written and read again.
func FuzzPartial(f *testing.F) {
	first := jsonLine(partialLine{Spec: &Spec{Experiment: "test", Learner: "ours"}})
	id := Spec{Experiment: "test", Learner: "ours"}.ID()
	session := sealed(partialLine{Session: &Provenance{Commit: "a"}})
	for _, lines := range [][]byte{
		nil, session, stepLines(0, rowsAt(0, 0), 1.5), append(bytes.Clone(session), stepLines(6, nil, 2)...),
		append(append(bytes.Clone(session), stepLines(1, rowsAt(0, 1), 1)...), stepLines(1, rowsAt(0, 1), 1)...),
		[]byte(`{"session":{}}` + "\n" + `{"done":{"t":-1,"rows":0,"sha256":"` + stepDigest(-1, nil) + `"}}` + "\n"),
		[]byte(`{"t":0,"metric":"","value":1}` + "\n"), []byte("null\n"),
	} {
		f.Add(false, lines)
		f.Add(true, append(bytes.Clone(first), lines...))
	}
	f.Fuzz(func(t *testing.T, whole bool, data []byte) {
		if !whole {
			data = append(bytes.Clone(first), data...)
		}
		part := parsePartial(data, id)
		if part.size > int64(len(data)) || len(part.marks) != len(part.rows) {
			t.Fatalf("size %d of %d, %d steps with %d marks", part.size, len(data), len(part.rows), len(part.marks))
		}
		if part.size > 0 && parsePartial(data[:part.size], id).size != part.size {
			t.Fatal("the part that is kept is read in another way")
		}
		union := union{rows: part.rows, by: map[int]*source{}}
		one := &source{rows: part.rows, sessions: part.sessions, marks: part.marks}
		union.sources = append(union.sources, one)
		for step, rows := range part.rows {
			if err := checkRows(step, rows); err != nil {
				t.Fatal(err)
			}
			if s := part.marks[step].session; s < -1 || s >= len(part.sessions) {
				t.Fatalf("step %d is of session %d of %d", step, s, len(part.sessions))
			}
			union.by[step] = one
		}
		again := parsePartial(union.encodePartial(Spec{Experiment: "test", Learner: "ours"}), id)
		if !cmp.Equal(again.rows, part.rows) || len(again.sessions) != len(part.sessions) || again.damaged {
			t.Fatalf("%+v, read again %+v", part, again)
		}
	})
}
