package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// example is a plan with a task of every stage.
func example() Plan {
	runs := Runs{Scenario: "gaussian", Series: "ours", Batch: []int64{0, 1, 2}, Seeds: []int64{0, 1, 2}, Group: 3,
		Steps: []int{1, 4}, Cost: 2.5}
	images := Runs{Scenario: "cifar10b", Series: "ours", Settings: map[string]string{"n": "50"}, Batch: []int64{0, 1},
		Seeds: []int64{1}, Steps: []int{1, 4}, Cost: 7}
	other := images
	other.Seeds = []int64{0}
	return Plan{Format: Format, Scale: "tiny", Figures: []string{"fig1"}, Arguments: []string{"--set", "n=50"},
		TaskSeconds: 3600, Stored: 3, Notes: []string{"CLEAR is not found here."},
		Tasks: []Task{
			{ID: 0, Stage: StagePretrain, GPU: true, Backend: "xla:cuda", CPUs: 4, MemoryMB: 100, Seconds: 30, Source: Guessed,
				Pretrain: &Pretrain{Width: 64, Split: 1, Epochs: 20}},
			{ID: 1, Stage: StageFeatures, After: []int{0}, GPU: true, CPUs: 4, MemoryMB: 100, Seconds: 5, Source: Guessed,
				Features: &Features{Scenario: "cifar10b", Settings: map[string]string{"n": "50"}, Seed: 1}},
			{ID: 2, Stage: StageGPU, After: []int{1}, GPU: true, CPUs: 2, MemoryMB: 200, Seconds: 10, Source: Measured,
				Runs: []Runs{images}},
			{ID: 3, Stage: StageGPU, After: []int{1}, GPU: true, CPUs: 2, MemoryMB: 200, Seconds: 20, Source: Measured,
				Runs: []Runs{other}},
			{ID: 4, Stage: StageCPU, CPUs: 2, MemoryMB: 300, Seconds: 52, Source: Guessed, Runs: []Runs{runs}},
		}}
}

func TestPlanRoundTrip(t *testing.T) {
	want := example()
	path := filepath.Join(t.TempDir(), "plan.json")
	if err := want.Write(path); err != nil {
		t.Fatal(err)
	}
	got, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, wrote %+v", got, want)
	}
	text, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		if n := strings.Count(line, `"id":`); n > 1 {
			t.Errorf("a line has %d tasks: %s", n, line)
		}
	}
	want.Tasks = nil
	if text, err = want.Encode(); err != nil {
		t.Fatal(err)
	}
	if got, err = Decode(text); err != nil || len(got.Tasks) != 0 {
		t.Errorf("a plan without tasks: %v, %v", got.Tasks, err)
	}
}

func TestArraysAndPath(t *testing.T) {
	p := example()
	var got []string
	for _, a := range p.Arrays() {
		got = append(got, strings.Join([]string{string(a.Stage), strings.Repeat("x", len(a.Tasks))}, " "))
		if a.First() != a.Tasks[0].ID {
			t.Errorf("array %s begins at %d", a.Stage, a.First())
		}
	}
	if want := []string{"pretrain x", "features x", "gpu xx", "cpu x"}; !reflect.DeepEqual(got, want) {
		t.Errorf("arrays %q, want %q", got, want)
	}
	if after := p.After(p.Arrays()[2]); !reflect.DeepEqual(after, []Stage{StageFeatures}) {
		t.Errorf("the runs wait for %v", after)
	}
	gpu, cores, path := p.Seconds()
	if gpu != 65 || cores != 104 || path != 55 {
		t.Errorf("%g GPU seconds, %g core seconds, %g along the longest path; want 65, 104, 55", gpu, cores, path)
	}
}

// TestHostilePlans changes one thing of a plan at a time: each is refused with an error that names it.
func TestHostilePlans(t *testing.T) {
	for want, change := range map[string]func(p *Plan){
		"format 1":               func(p *Plan) { p.Format = 1 },
		"scale":                  func(p *Plan) { p.Scale = "huge" },
		"names no figure":        func(p *Plan) { p.Figures = nil },
		"task-seconds":           func(p *Plan) { p.TaskSeconds = 0 },
		"stored":                 func(p *Plan) { p.Stored = -1 },
		"has the number":         func(p *Plan) { p.Tasks[1].ID = 3 },
		"follows one of stage":   func(p *Plan) { p.Tasks[2].Stage, p.Tasks[2].GPU = StageCPU, false },
		"no stage":               func(p *Plan) { p.Tasks[0].Stage = "" },
		"one of pretrain":        func(p *Plan) { p.Tasks[4].Runs = nil },
		"one of pretrain, ":      func(p *Plan) { p.Tasks[4].Pretrain = &Pretrain{1, 0, 1} },
		"contents are not":       func(p *Plan) { p.Tasks[0].Stage = StageFeatures },
		"gpu is false":           func(p *Plan) { p.Tasks[2].GPU = false },
		"gpu is true":            func(p *Plan) { p.Tasks[4].GPU = true },
		"cpus 0":                 func(p *Plan) { p.Tasks[0].CPUs = 0 },
		"cpus 1000000":           func(p *Plan) { p.Tasks[0].CPUs = 1000000 },
		"memory-mb":              func(p *Plan) { p.Tasks[0].MemoryMB = -1 },
		"seconds -1":             func(p *Plan) { p.Tasks[0].Seconds = -1 },
		"source":                 func(p *Plan) { p.Tasks[0].Source = "" },
		"needs task 4":           func(p *Plan) { p.Tasks[4].After = []int{4} },
		"needs task -1":          func(p *Plan) { p.Tasks[4].After = []int{-1} },
		"pretrain:":              func(p *Plan) { p.Tasks[0].Pretrain.Width = 0 },
		"features:":              func(p *Plan) { p.Tasks[1].Features.Scenario = "" },
		"name a scenario":        func(p *Plan) { p.Tasks[4].Runs[0].Series = "" },
		"give seeds":             func(p *Plan) { p.Tasks[4].Runs[0].Steps = nil },
		"given twice":            func(p *Plan) { p.Tasks[4].Runs[0].Seeds = []int64{1, 1} },
		"not in the batch":       func(p *Plan) { p.Tasks[4].Runs[0].Seeds = []int64{7} },
		"steps must ascend":      func(p *Plan) { p.Tasks[4].Runs[0].Steps = []int{4, 1} },
		"steps must ascend from": func(p *Plan) { p.Tasks[4].Runs[0].Steps = []int{-4, 1} },
		"group -1":               func(p *Plan) { p.Tasks[4].Runs[0].Group = -1 },
		"cost":                   func(p *Plan) { p.Tasks[4].Runs[0].Cost = -1 },
		"more than 10000 seeds":  func(p *Plan) { p.Tasks[4].Runs[0].Batch = upTo(mostSeeds + 1) },
		"more than 1048576 steps": func(p *Plan) {
			r := &p.Tasks[4].Runs[0]
			r.Batch, r.Seeds, r.Steps = upTo(mostSeeds), upTo(mostSeeds), []int{}
			for step := range 200 {
				r.Steps = append(r.Steps, step)
			}
		},
		"task 3 computes what": func(p *Plan) { p.Tasks[3].Runs[0].Seeds = []int64{1} },
	} {
		p := example()
		change(&p)
		text, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err = Decode(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	text, err := example().Encode()
	if err != nil {
		t.Fatal(err)
	}
	body, err := unseal(text)
	if err != nil {
		t.Fatal(err)
	}
	for want, text := range map[string][]byte{
		"not JSON":          []byte("plan"),
		"is not JSON":       text[:len(text)/2],
		"format 0":          []byte("{}"),
		"unknown field":     seal(bytes.Replace(body, []byte(`"stored"`), []byte(`"sotred"`), 1)),
		"does not end with": body,
		"it is not JSON of": append(text[:len(text):len(text)], "{}"...),
		"MiB":               bytes.Repeat([]byte(" "), largest+1),
	} {
		if _, err := Decode(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// TestChangedPlan changes each byte of a plan: none is read, also where the JSON stays the same.
func TestChangedPlan(t *testing.T) {
	text, err := example().Encode()
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil || len(fields["sha256"].(string)) != 64 {
		t.Errorf("no JSON with a checksum: %v, %v", fields["sha256"], err)
	}
	for at := range text {
		for _, b := range []byte{text[at] ^ 1, text[at] ^ 0x20, ' '} {
			changed := bytes.Clone(text)
			if changed[at] = b; b == text[at] {
				continue
			}
			if _, err := Decode(changed); err == nil || strings.Contains(err.Error(), "\n") {
				t.Fatalf("byte %d changed from %q to %q: %v", at, text[at], b, err)
			}
		}
		if _, err := Decode(slices.Concat(text[:at], []byte(" "), text[at:])); err == nil {
			t.Fatalf("a space before byte %d is accepted", at)
		}
	}
}

// upTo lists n seeds.
func upTo(n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i)
	}
	return out
}

func TestMissingTask(t *testing.T) {
	p := example()
	for _, id := range []int{-1, 5} {
		var missing *MissingError
		if _, err := p.Task(id); !errors.As(err, &missing) || !strings.Contains(err.Error(), "0 to 4") {
			t.Errorf("task %d: %v", id, err)
		}
	}
}

func TestAttempts(t *testing.T) {
	plan := filepath.Join(t.TempDir(), "plan.json")
	if attempts, _, err := Attempts(plan); err != nil || attempts != nil {
		t.Errorf("before any attempt: %v, %v", attempts, err)
	}
	t.Setenv("SLURM_JOB_ID", "18")
	t.Setenv("SLURM_ARRAY_JOB_ID", "17")
	t.Setenv("SLURM_ARRAY_TASK_ID", "3")
	t.Setenv("SLURMD_NODENAME", "n2")
	start := time.Date(2026, 11, 22, 23, 0, 0, 0, time.UTC)
	p := example()
	second, err := Begin(plan, p.Tasks[4], start.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	second.Note(2)
	if err := second.Finish(start.Add(2*time.Minute), 1, errors.New("disk full")); err != nil {
		t.Fatal(err)
	}
	if _, err := Begin(plan, p.Tasks[4], start); err != nil { // it was killed
		t.Fatal(err)
	}
	if _, err := Begin(plan, p.Tasks[2], start.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	long := append([]byte("{}"), bytes.Repeat([]byte(" "), longestAttempt)...)
	if err := os.WriteFile(filepath.Join(AttemptsFolder(plan), "long.json"), long, 0o644); err != nil {
		t.Fatal(err)
	}
	got, unreadable, err := Attempts(plan)
	if err != nil || unreadable != 1 {
		t.Fatal(err, unreadable)
	}
	for i := range got {
		got[i].path = ""
	}
	want := []Attempt{
		{Task: 2, Start: start.Add(time.Hour), Of: 2, Job: "17_3", Node: "n2"},
		{Task: 4, Start: start, Of: 6, Job: "17_3", Node: "n2"},
		{Task: 4, Start: start.Add(time.Minute), End: start.Add(2 * time.Minute), Exit: 1, Error: "disk full",
			Steps: 2, Of: 6, Job: "17_3", Node: "n2"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("attempts %+v, want %+v", got, want)
	}
}
