package cluster

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzPlan: a plan with its checksum is an error of one sentence, or one that is written and read again as the same.
func FuzzPlan(f *testing.F) {
	text, err := example().Encode()
	if err != nil {
		f.Fatal(err)
	}
	if text, err = unseal(text); err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"format":2,"scale":"tiny","figures":["fig1"],"task-seconds":1e9,"tasks":[{"id":0,"stage":"cpu","cpus":1,
		"memory-mb":1,"source":"guessed","runs":[{"scenario":"a","series":"b","batch":[0],"seeds":[0],"steps":[0]}]}]}`))
	f.Add([]byte(`{"format":2,"tasks":null}`))
	f.Add([]byte(`{"format":2e400}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		text = append(bytes.TrimSuffix(bytes.TrimSpace(text), []byte("}")), end...)
		p, err := Decode(seal(text))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of several lines: %q", err)
			}
			return
		}
		again, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		q, err := Decode(again)
		if err != nil {
			t.Fatalf("it cannot be read again: %v", err)
		}
		if first, err := q.Encode(); err != nil || string(first) != string(again) {
			t.Errorf("it changes when it is read again: %v", err)
		}
		if p.Cost() != q.Cost() || p.Summary() != q.Summary() {
			t.Error("its cost changes when it is read again")
		}
	})
}
