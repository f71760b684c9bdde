package cluster

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"tvps/data/artifact"
	"tvps/replicate/runs"
)

// Attempt is one execution of a task. A file of its own keeps it, written when the execution begins and again when it
// ends: appending to a shared file is not safe on every network file system.
type Attempt struct {
	Task  int       `json:"task"`
	Start time.Time `json:"start"`
	End   time.Time `json:"end,omitzero"` // zero while it runs, and always if the process was killed
	Exit  int       `json:"exit"`         // the exit code; without End it has no meaning
	Error string    `json:"error,omitempty"`
	Steps int       `json:"steps"`          // number of steps, over all seeds, that it computed
	Of    int       `json:"of"`             // number of steps of the task
	Job   string    `json:"job,omitempty"`  // see runs.SlurmJob
	Node  string    `json:"node,omitempty"` // in a Slurm job only

	path  string
	mutex *sync.Mutex
}

// AttemptsFolder returns the folder of the attempts at a plan's tasks: plan.tasks for plan.json.
func AttemptsFolder(plan string) string { return strings.TrimSuffix(plan, ".json") + ".tasks" }

// Begin notes that an attempt at a task begins.
func Begin(plan string, task Task, now time.Time) (*Attempt, error) {
	a := &Attempt{mutex: new(sync.Mutex), Task: task.ID, Start: now.UTC(), Of: task.Steps(), Job: runs.SlurmJob(),
		Node: os.Getenv("SLURMD_NODENAME")}
	folder := AttemptsFolder(plan)
	if err := artifact.MakeFolder(folder); err != nil {
		return nil, fmt.Errorf("cannot note the attempt at the task: %w", err)
	}
	name := fmt.Sprintf("%06d-%s-%d.json", task.ID, a.Start.Format("20060102T150405.000000000"), os.Getpid())
	a.path = filepath.Join(folder, name)
	return a, a.write()
}

// Note notes how many steps the attempt has computed so far. A file that cannot be written costs only what `status`
// shows meanwhile.
func (a *Attempt) Note(steps int) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.Steps = steps
	_ = a.write()
}

// Finish notes how the attempt ended.
func (a *Attempt) Finish(now time.Time, exit int, failure error) error {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.End, a.Exit, a.Error = now.UTC(), exit, ""
	if failure != nil {
		a.Error = failure.Error()
	}
	return a.write()
}

func (a *Attempt) write() error {
	text, err := json.Marshal(a)
	if err == nil {
		err = artifact.Replace(a.path, append(text, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("cannot note the attempt at the task: %w", err)
	}
	return nil
}

// Attempts reads the attempts at the tasks of a plan, by task and in the order of time. Files that cannot be read are
// left out.
func Attempts(plan string) (attempts []Attempt, err error) {
	entries, err := os.ReadDir(AttemptsFolder(plan))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the attempts at the tasks: %w", err)
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") || !strings.HasSuffix(entry.Name(), ".json") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(AttemptsFolder(plan), entry.Name()))
		var a Attempt
		if err == nil && json.Unmarshal(text, &a) == nil {
			attempts = append(attempts, a)
		}
	}
	slices.SortStableFunc(attempts, func(a, b Attempt) int {
		return cmp.Or(cmp.Compare(a.Task, b.Task), a.Start.Compare(b.Start))
	})
	return attempts, nil
}
