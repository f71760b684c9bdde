package cluster

import (
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
)

// example is a plan with a task of every stage.
func example() Plan {
	runs := Runs{Scenario: "gaussian", Series: "ours", Batch: []int64{0, 1, 2}, Seeds: []int64{0, 1, 2}, Group: 3,
		Steps: []int{1, 4}}
	images := Runs{Scenario: "cifar10b", Series: "ours", Settings: map[string]string{"n": "50"}, Batch: []int64{0, 1},
		Seeds: []int64{1}, Steps: []int{1, 4}}
	other := images
	other.Seeds = []int64{0}
	return Plan{Format: Format, Scale: "tiny", Figures: []string{"fig1"}, Arguments: []string{"--set", "n=50"},
		TaskSeconds: 3600, Stored: 3, Notes: []string{"CLEAR is not found here."},
		Tasks: []Task{
			{ID: 0, Stage: StagePretrain, GPU: true, Backend: "xla:cuda", CPUs: 4, MemoryMB: 100, Seconds: 30,
				Pretrain: &Pretrain{Width: 64, Split: 1, Epochs: 20}},
			{ID: 1, Stage: StageFeatures, After: []int{0}, GPU: true, CPUs: 4, MemoryMB: 100, Seconds: 5,
				Features: &Features{Scenario: "cifar10b", Settings: map[string]string{"n": "50"}, Seed: 1}},
			{ID: 2, Stage: StageGPU, After: []int{1}, GPU: true, CPUs: 2, MemoryMB: 200, Seconds: 10,
				Runs: []Runs{images}},
			{ID: 3, Stage: StageGPU, After: []int{1}, GPU: true, CPUs: 2, MemoryMB: 200, Seconds: 20,
				Runs: []Runs{other}},
			{ID: 4, Stage: StageCPU, CPUs: 2, MemoryMB: 300, Seconds: 52, Runs: []Runs{runs}},
		}}
}

func TestPlanRoundTrip(t *testing.T) {
	want := example()
	path := filepath.Join(t.TempDir(), "plan.json")
	demand.NoError(t, want.Write(path))
	got, err := Read(path)
	demand.NoError(t, err)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, wrote %+v", got, want)
	}
}

func TestArraysAndPath(t *testing.T) {
	p := example()
	var got []string
	for _, a := range p.Arrays() {
		got = append(got, string(a[0].Stage)+" "+strings.Repeat("x", len(a)))
	}
	if want := []string{"pretrain x", "features x", "gpu xx", "cpu x"}; !reflect.DeepEqual(got, want) {
		t.Errorf("arrays %q, want %q", got, want)
	}
	if after := p.After(p.Arrays()[2]); !reflect.DeepEqual(after, []Stage{StageFeatures}) {
		t.Errorf("the runs wait for %v", after)
	}
	if c := p.Cost(); c.GPU != 65 || c.Cores != 104 || c.Path != 55 {
		t.Errorf("%+v: want 65 GPU seconds, 104 core seconds, 55 along the longest path", c)
	}
}

// TestOtherPlans: a plan of another format or scale, and a part of one, are refused with an error that says so.
func TestOtherPlans(t *testing.T) {
	text, err := example().Encode()
	demand.NoError(t, err)
	for want, other := range map[string]string{
		"format 2": strings.Replace(string(text), `"format":3`, `"format":2`, 1),
		"scale":    strings.Replace(string(text), `"scale":"tiny"`, `"scale":"huge"`, 1),
		"not JSON": string(text[:len(text)/2]),
	} {
		_, err := Decode([]byte(other))
		demand.Error(t, err, want)
	}
}

func TestAttempts(t *testing.T) {
	plan := filepath.Join(t.TempDir(), "plan.json")
	if attempts, err := Attempts(plan); err != nil || attempts != nil {
		t.Errorf("before any attempt: %v, %v", attempts, err)
	}
	t.Setenv("SLURM_JOB_ID", "18")
	t.Setenv("SLURM_ARRAY_JOB_ID", "17")
	t.Setenv("SLURM_ARRAY_TASK_ID", "3")
	t.Setenv("SLURMD_NODENAME", "n2")
	start := time.Date(2026, 11, 22, 23, 0, 0, 0, time.UTC)
	p := example()
	second, err := Begin(plan, p.Tasks[4], start.Add(time.Minute))
	demand.NoError(t, err)
	second.Note(2)
	demand.NoError(t, second.Finish(start.Add(2*time.Minute), 1, errors.New("disk full")))
	if _, err := Begin(plan, p.Tasks[4], start); err != nil { // it was killed
		t.Fatal(err)
	}
	_, err = Begin(plan, p.Tasks[2], start.Add(time.Hour))
	demand.NoError(t, err)
	demand.Write(t, filepath.Join(AttemptsFolder(plan), "cut.json"), `{"task":4,`)
	got, err := Attempts(plan)
	demand.NoError(t, err)
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
