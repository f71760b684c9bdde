package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// TaskState is the condition of a task or job.
type TaskState string

// The conditions of a task or job.
const (
	Done      TaskState = "done"
	Running   TaskState = "running"
	Waiting   TaskState = "waiting"       // in the queue
	Failed    TaskState = "failed"        // and not in the queue
	Cancelled TaskState = "cancelled"     // left the queue without a start
	Open      TaskState = "not submitted" // or left over by a submission that was cancelled
)

// Item is a task, or the job that draws, and what became of it.
type Item struct {
	Name     string // as "task 7 (gpu)" or "draw"
	State    TaskState
	Node     string
	Log      string
	Attempts int
	Message  string  // why it failed, or for what it waits
	Seconds  float64 // estimated time that is left
}

// Status is what became of a plan's tasks and of the job that draws.
type Status struct {
	Tasks []Item
	Draw  Item
	Note  string // a line; empty for none
}

// ReadStatus joins the attempts at the tasks, which the workers note, with Slurm's queue. It works without Slurm: then
// nothing is in the queue.
func ReadStatus(ctx context.Context, path string, p Plan) (Status, error) {
	jobs, err := ReadJobs(path)
	if err != nil {
		return Status{}, err
	}
	attempts, err := Attempts(path)
	if err != nil {
		return Status{}, err
	}
	var s Status
	k := statusReader{path: path, attempts: map[int][]Attempt{}, jobs: jobs}
	for _, a := range attempts {
		k.attempts[a.Task] = append(k.attempts[a.Task], a)
	}
	k.logs, _ = os.ReadDir(logFolder(path))
	if len(jobs) > 0 {
		if k.queue, err = readQueue(ctx, jobs); errors.Is(err, errNoSlurm) {
			s.Note = err.Error() + ". The queue is not known.\n"
		} else if err != nil {
			return Status{}, err
		}
	}
	for _, t := range p.Tasks {
		s.Tasks = append(s.Tasks, k.task(t))
	}
	s.Draw = k.draw()
	return s, nil
}

// statusReader has what was read.
type statusReader struct {
	path     string            // of the plan
	attempts map[int][]Attempt // by task
	jobs     []Submitted
	logs     []os.DirEntry
	queue    []queued
}

// task joins what is known of a task.
func (k statusReader) task(t Task) Item {
	item := Item{Name: fmt.Sprintf("task %d (%s)", t.ID, t.Stage), State: Open, Seconds: t.Seconds}
	i := slices.IndexFunc(k.jobs, func(j Submitted) bool { return j.First <= t.ID && t.ID < j.First+j.Count })
	if i >= 0 {
		job := k.jobs[i]
		item = k.inQueue(item, job, t.ID-job.First)
	}
	attempts := k.attempts[t.ID]
	if len(attempts) == 0 {
		return item
	}
	steps, last := 0, attempts[len(attempts)-1]
	for _, a := range attempts {
		steps += a.Steps
	}
	item.Attempts = len(attempts)
	item.Node = cmp.Or(item.Node, last.Node)
	item.Seconds *= 1 - min(1, float64(steps)/float64(max(1, last.Of)))
	switch {
	case !last.End.IsZero() && last.Exit == 0:
		item.State, item.Seconds, item.Message = Done, 0, ""
	case item.State == Running:
		item.Message = fmt.Sprintf("%d of %d steps", steps, last.Of)
		if last.Steps == 0 { // nothing is noted yet
			item.Seconds = max(0, item.Seconds-time.Since(last.Start).Seconds())
		}
	case item.State == Waiting:
	case last.End.IsZero():
		item.State, item.Message = Failed, cmp.Or(lastError(item.Log), "ended without a word")
	default:
		item.State, item.Message = Failed, last.Error
	}
	return item
}

// draw joins what is known of the job that draws.
func (k statusReader) draw() Item {
	item := Item{Name: drawName, State: Open}
	i := slices.IndexFunc(k.jobs, func(j Submitted) bool { return j.Count == 0 })
	if i < 0 {
		return item
	}
	if item = k.inQueue(item, k.jobs[i], -1); item.State == Running || item.State == Waiting {
		return item
	}
	text, err := os.ReadFile(exitFile(k.path))
	if code := strings.TrimSpace(string(text)); err == nil && code == "0" {
		item.State = Done
	} else if err == nil {
		item.State, item.Message = Failed, cmp.Or(lastError(item.Log), "exit code "+code)
	}
	return item
}

// inQueue looks a job, or the task of an array with an index, up in the queue.
func (k statusReader) inQueue(item Item, j Submitted, index int) Item {
	log := fmt.Sprintf("tvps-%s-%d-*.log", j.Name, j.ID)
	if index >= 0 {
		log = fmt.Sprintf("tvps-%s-%d_%d-*.log", j.Name, j.ID, index)
	}
	item.Log = k.newestLog(log)
	i := slices.IndexFunc(k.queue, func(q queued) bool { return q.job == j.ID && q.index == index })
	if i < 0 {
		item.State = Cancelled
		return item
	}
	q := k.queue[i]
	item.State, item.Node = Running, q.node
	if q.state == "PENDING" {
		item.State = Waiting
		if q.why != "None" {
			item.Message = q.why
		}
	}
	return item
}

// newestLog returns the log that matches a pattern and was changed last; empty if there is none.
func (k statusReader) newestLog(pattern string) string {
	var best string
	var changed time.Time
	for _, entry := range k.logs {
		if ok, _ := filepath.Match(pattern, entry.Name()); !ok {
			continue
		}
		if info, err := entry.Info(); err == nil && (best == "" || info.ModTime().After(changed)) {
			best, changed = filepath.Join(logFolder(k.path), entry.Name()), info.ModTime()
		}
	}
	return best
}

// endOfLog is how much of a log is read, in bytes from its end.
const endOfLog = 64 << 10

// lastError returns what this program said last in the end of a log; without that the last line, which may be Slurm's.
func lastError(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	_, _ = file.Seek(-endOfLog, io.SeekEnd) // a shorter log is read from its start
	text, _ := io.ReadAll(io.LimitReader(file, endOfLog))
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range slices.Backward(lines) {
		if own, ok := strings.CutPrefix(line, "replicate: "); ok {
			return own
		}
	}
	return lines[len(lines)-1]
}

// all lists the tasks and, if it was submitted, the job that draws.
func (s Status) all() []Item {
	if s.Draw.State == Open {
		return s.Tasks
	}
	return append(slices.Clone(s.Tasks), s.Draw)
}

// Over tells whether nothing of the plan is in the queue.
func (s Status) Over() bool {
	return !slices.ContainsFunc(s.all(), func(i Item) bool { return i.State == Running || i.State == Waiting })
}

// Progress is as "12 of 40 tasks done, 3 running, 25 waiting, about 2.3 h of work left".
func (s Status) Progress() string {
	count, seconds := map[TaskState]int{}, 0.
	for _, i := range s.Tasks {
		count[i.State]++
		seconds += i.Seconds
	}
	text := fmt.Sprintf("%d of %d tasks done", count[Done], len(s.Tasks))
	for _, state := range []TaskState{Running, Waiting, Failed, Cancelled} {
		if count[state] > 0 {
			text += fmt.Sprintf(", %d %s", count[state], state)
		}
	}
	if count[Done] < len(s.Tasks) {
		return text + fmt.Sprintf(", about %.1f h of work left", seconds/3600)
	}
	if s.Draw.State == Running || s.Draw.State == Waiting {
		text += fmt.Sprintf(", %s %s", s.Draw.Name, s.Draw.State)
	}
	return text
}

// Err returns an error that names the first task that failed, or the first job that did; nil if none has.
func (s Status) Err() error {
	var failed []Item
	for _, i := range s.all() {
		if i.State == Failed || i.State == Cancelled {
			failed = append(failed, i)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	i := slices.IndexFunc(failed, func(i Item) bool { return i.State == Failed })
	first := failed[max(0, i)]
	return fmt.Errorf("%d of %d tasks and jobs failed or were cancelled, the first is %s", len(failed), len(s.all()), first)
}

// String is as "task 7 (gpu) failed on n2 after 3 attempts: the disk is full; log logs/tvps-gpu-1-12_7-n2.log".
func (i Item) String() string {
	text := fmt.Sprintf("%s %s", i.Name, i.State)
	if i.Node != "" {
		text += " on " + i.Node
	}
	if i.Attempts > 1 {
		text += fmt.Sprintf(" after %d attempts", i.Attempts)
	}
	if i.Message != "" {
		text += ": " + i.Message
	}
	if i.Log != "" {
		text += "; log " + i.Log
	}
	return text
}

// Print prints how far the plan is, the tasks and jobs that run or failed, and the note.
func (s Status) Print(out io.Writer) error {
	fmt.Fprintln(out, s.Progress())
	for _, i := range s.all() {
		if i.State == Running || i.State == Failed || i.Name == drawName {
			fmt.Fprintln(out, i)
		}
	}
	_, err := io.WriteString(out, s.Note)
	return err
}

// queued is a job, or a task of an array, that waits or runs.
type queued struct {
	job   int
	index int    // in an array; -1 for a job that is none
	state string // as "PENDING"
	node  string
	why   string // the reason for which it waits
}

// readQueue asks Slurm which of the jobs are in the queue: those of their number and name.
func readQueue(ctx context.Context, jobs []Submitted) ([]queued, error) {
	text, err := command(ctx, "squeue", "-h", "-r", "--me", "-o", "%F|%K|%T|%N|%r|%j")
	if err != nil {
		return nil, err
	}
	return parseQueue(text, jobs), nil
}

func parseQueue(text string, jobs []Submitted) []queued {
	var out []queued
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		if len(fields) != 6 {
			continue
		}
		job, err := strconv.Atoi(fields[0])
		ours := func(j Submitted) bool { return j.ID == job && title(j.Name) == fields[5] }
		if err != nil || !slices.ContainsFunc(jobs, ours) {
			continue
		}
		q := queued{job: job, index: -1, state: fields[2], node: fields[3], why: fields[4]}
		if index, err := strconv.Atoi(fields[1]); err == nil {
			q.index = index
		}
		out = append(out, q)
	}
	return out
}
