package tables

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"tvps/data/artifact"
	"tvps/data/process"
	"tvps/data/table"
	"tvps/replicate/usage"

	"gonum.org/v1/gonum/floats"
)

// weightColumn is the column of the weights in the training table of a command.
const weightColumn = "weight"

// threads is the variable that limits the threads of most trainers. With more threads than processors they are ten
// times slower.
const threads = "OMP_NUM_THREADS"

// command is the user's own trainer. It gets a training and a test table as Parquet files and writes its predictions.
type command struct {
	text    string // for the shell
	serve   bool   // started once for each worker, instead of once for each model
	workers int
	idle    chan *server // servers that wait, nil for one that is not started
	shown   *shown       // of their standard errors
}

// newCommand returns the trainer of a command. What it writes to its standard error is shown in log.
func newCommand(text string, serve bool, workers int, log io.Writer) (*command, error) {
	c := &command{text: strings.TrimSpace(text), serve: serve, workers: max(1, workers), shown: &shown{out: log}}
	if _, err := exec.LookPath("sh"); err != nil {
		return nil, fmt.Errorf("the model %q needs a shell: %w", text, err)
	}
	c.idle = make(chan *server, c.workers)
	for range c.workers {
		c.idle <- nil
	}
	return c, nil
}

// identity is the command with the hash of each regular file that it names.
func (c *command) identity() string {
	out := "command: " + c.text
	for _, word := range strings.Fields(c.text) {
		word = strings.Trim(word, `"'`)
		if info, err := os.Stat(word); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if hash, err := artifact.SHA256(word); err == nil {
			out += fmt.Sprintf("; %s %s", filepath.Base(word), hash)
		}
	}
	return out
}

func (c *command) close() error {
	var failed error
	for range c.workers {
		if s := <-c.idle; s != nil {
			failed = errors.Join(failed, s.close())
		}
	}
	return failed
}

func (c *command) predict(ctx context.Context, t *task, weights [][]float64) ([][]float64, error) {
	folder, remove, err := artifact.TempFolder("tvps-backtest-")
	if err != nil {
		return nil, fmt.Errorf("cannot make a folder for the tables of the trainer: %w", err)
	}
	defer func() { _ = remove() }()
	test := filepath.Join(folder, "test.parquet")
	columns, err := t.stream.Table.Columns(t.stream.Features, t.test)
	if err != nil {
		return nil, err
	}
	if err := table.Write(test, columns...); err != nil {
		return nil, err
	}
	out := make([][]float64, len(weights))
	err = each(ctx, len(weights), c.workers, func(ctx context.Context, i int) error {
		train := filepath.Join(folder, fmt.Sprintf("train-%d.parquet", i))
		answer := filepath.Join(folder, fmt.Sprintf("predictions-%d", i))
		if err := writeTraining(train, t, weights[i]); err != nil {
			return err
		}
		if err := c.run(ctx, t, train, test, answer); err != nil {
			return err
		}
		out[i], err = readPredictions(answer, t, weights[i])
		return errors.Join(err, os.Remove(train))
	})
	return out, err
}

// writeTraining writes the rows that have weight, with features, label and weight.
func writeTraining(path string, t *task, weight []float64) error {
	var rows, labels []int
	var w []float64
	of := t.train
	if t.labels != nil {
		of = t.labels
	}
	for i, v := range weight {
		if v > 0 {
			rows, labels, w = append(rows, t.train[i]), append(labels, of[i]), append(w, v)
		}
	}
	floats.Scale(float64(len(w))/floats.Sum(w), w)
	columns, err := t.stream.Table.Columns(t.stream.Features, rows)
	if err != nil {
		return err
	}
	label, err := t.stream.Table.Columns([]string{t.stream.Source.Label}, labels)
	if err != nil {
		return err
	}
	return table.Write(path, slices.Concat(columns, label, []table.Column{{Name: weightColumn, Values: w}})...)
}

// run has one model trained.
func (c *command) run(ctx context.Context, t *task, train, test, answer string) (err error) {
	s := <-c.idle
	defer func() { c.idle <- s }()
	if !c.serve {
		return c.once(ctx, t, train, test, answer)
	}
	if s == nil {
		if s, err = c.start(t); err != nil {
			return err
		}
	}
	if err = s.ask(ctx, train, test, answer); err != nil {
		s.end(0)
		s = nil
	}
	return err
}

// watched runs the command in a shell whose group ends with this process, however that ends: another shell of the group
// waits for the end of a pipe that only this process can write to.
const watched = `{ read -r _ <&3; kill -9 0; } >/dev/null 2>&1 &
exec 3<&-
%s "$@"`

// outputDelay is how long the output of a command is awaited after its end: a child that it left behind may keep it
// open for ever.
var outputDelay = 2 * time.Second // less in tests

// started is a running command. It leads a process group.
type started struct {
	cmd    *exec.Cmd
	text   string // as the user gave it
	stdin  io.WriteCloser
	output tail
	ended  chan struct{} // closed at its end
	err    error         // then: why it failed
}

// begin starts the command for the shell. What it writes to its standard error is shown; stdout: nil for nowhere. Nothing
// of its group runs on after its end.
func (c *command) begin(t *task, stdout io.Writer, args ...string) (*started, error) {
	s := &started{text: c.text, ended: make(chan struct{})}
	s.cmd = exec.Command("sh", append([]string{"-c", fmt.Sprintf(watched, c.text), "sh"}, args...)...)
	names, kind := []string{}, table.Regression
	if t.data.Target == nil {
		names, kind = t.stream.Label.Names, table.Classes
	}
	s.cmd.Env = append(os.Environ(), "TVPS_LABEL="+t.stream.Source.Label, "TVPS_TASK="+string(kind),
		"TVPS_CLASSES="+canonical(names))
	if os.Getenv(threads) == "" { // the workers share the processors
		s.cmd.Env = append(s.cmd.Env, fmt.Sprintf("%s=%d", threads, max(1, runtime.NumCPU()/c.workers)))
	}
	if stdout == nil {
		stdout = &s.output
	}
	s.cmd.Stdout, s.cmd.Stderr = stdout, io.MultiWriter(&s.output, &lines{shown: c.shown})
	var err error
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.cmd.ExtraFiles, s.cmd.WaitDelay = []*os.File{read}, outputDelay
	wait, err := process.Start(s.cmd, process.OwnGroup)
	read.Close()
	if err != nil {
		write.Close()
		return nil, fmt.Errorf("cannot start the trainer %q: %w", c.text, err)
	}
	go func() {
		if s.err = wait(); errors.Is(s.err, exec.ErrWaitDelay) {
			s.err = nil
		}
		s.kill()
		write.Close()
		close(s.ended)
	}()
	return s, nil
}

func (s *started) kill() { process.KillGroup(s.cmd.Process.Pid) }

// once runs the command for one model.
func (c *command) once(ctx context.Context, t *task, args ...string) error {
	s, err := c.begin(t, nil, args...)
	if err != nil {
		return err
	}
	_ = s.stdin.Close()
	stop := context.AfterFunc(ctx, s.kill)
	<-s.ended
	stop()
	if s.err != nil && ctx.Err() == nil {
		return fmt.Errorf("the trainer %q failed (%w) on %d rows before %s%s", c.text, s.err, len(t.train),
			t.stream.Times.Names[t.step], s.output.quote())
	}
	return ctx.Err()
}

// server is a command that trains one model for each line.
type server struct {
	*started
	stdout *bufio.Reader
}

// mostAnswer is the longest answer of a server, in bytes.
const mostAnswer = 64 << 10

// start starts the command as a server.
func (c *command) start(t *task) (*server, error) {
	read, write := io.Pipe()
	begun, err := c.begin(t, write)
	if err != nil {
		return nil, err
	}
	go func() {
		<-begun.ended
		_ = write.Close() // a pipe in memory
	}()
	return &server{begun, bufio.NewReaderSize(read, mostAnswer)}, nil
}

// ask has one model trained: one line to the command, one answer.
func (s *server) ask(ctx context.Context, train, test, answer string) error {
	stop := context.AfterFunc(ctx, s.kill)
	defer stop()
	_, err := fmt.Fprintf(s.stdin, "%s\t%s\t%s\n", train, test, answer)
	var line []byte
	if err == nil {
		line, err = s.stdout.ReadSlice('\n')
	}
	switch text := strings.TrimSpace(string(line)); {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, bufio.ErrBufferFull):
		return fmt.Errorf("the trainer %q answered with a line of more than %d KB instead of ok, which begins with %q",
			s.text, mostAnswer>>10, line[:60])
	case err != nil:
		s.end(outputDelay)
		return fmt.Errorf("the trainer %q ended (%s) before its answer%s", s.text, s.cmd.ProcessState, s.output.quote())
	case text != "ok":
		return fmt.Errorf("the trainer %q answered %q instead of ok%s", s.text, text, s.output.quote())
	}
	return nil
}

// end kills the command, unless it ends by itself in the given time.
func (s *server) end(patience time.Duration) {
	select {
	case <-s.ended:
	case <-time.After(patience):
		s.kill()
	}
	go func() { _, _ = io.Copy(io.Discard, s.stdout) }() // it may wait for a reader
	<-s.ended
}

// close lets the command end by itself: it sees the end of its input.
func (s *server) close() error {
	_ = s.stdin.Close()
	s.end(10 * time.Second)
	if s.err != nil {
		return fmt.Errorf("the trainer %q failed at its end (%w), after all its predictions%s", s.text, s.err,
			s.output.quote())
	}
	return nil
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailBytes = 2000

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = append(t.text[:0], t.text[max(0, len(t.text)-tailBytes):]...)
	return len(p), nil
}

// quote is the end of an error's sentence.
func (t *tail) quote() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text := bytes.TrimSpace(t.text); len(text) > 0 {
		return ":\n" + usage.Shown(string(text))
	}
	return ""
}

// shown shows lines of trainers, such as warnings, each text once.
type shown struct {
	mu   sync.Mutex
	out  io.Writer
	seen map[string]bool
}

const (
	mostShown = 50   // different lines
	mostLine  = 1000 // bytes of a line
)

func (s *shown) show(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if line = usage.Shown(strings.TrimSpace(line)); line == "" || s.seen[line] || len(s.seen) > mostShown {
		return
	}
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	if s.seen[line] = true; len(s.seen) > mostShown {
		line = "(it writes more, which is not shown)"
	}
	fmt.Fprintf(s.out, "trainer: %s\n", line)
}

// lines cuts what one trainer writes into lines.
type lines struct {
	shown *shown
	part  []byte
}

func (l *lines) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		l.part = append(l.part, line[:min(len(line), mostLine)]...)
		if l.part[len(l.part)-1] == '\n' || len(l.part) > mostLine {
			l.shown.show(string(l.part))
			l.part = l.part[:0]
		}
	}
	return len(p), nil
}

// readPredictions reads what the command wrote: one row for each test row. A class that no row with weight has may be
// missing: its probability is then 0.
func readPredictions(path string, t *task, weight []float64) ([]float64, error) {
	const file = "the trainer's predictions"
	bad := func(column, problem string, args ...any) error { // no *table.Error: the user's table is as it should be
		return errors.New((&table.Error{File: file, Column: column, Problem: fmt.Sprintf(problem, args...)}).Error())
	}
	read, err := table.Open(path, table.Options{NumericNames: true})
	if err != nil {
		return nil, fmt.Errorf("%s: %v", file, err)
	}
	columns, err := read.Columns(nil, nil)
	if err != nil {
		return nil, err
	}
	if read.Rows() != len(t.test) {
		return nil, bad("", "there are %d rows for %d test rows", read.Rows(), len(t.test))
	}
	k, names := t.outputs(), []string{"prediction"}
	if t.data.Target == nil && !(k == 2 && len(columns) == 1 && columns[0].Name == names[0]) {
		names = t.stream.Label.Names
	}
	out := make([]float64, len(t.test)*k)
	for c, name := range names {
		values, err := predicted(columns, name)
		if errors.Is(err, errNoColumn) && t.data.Target == nil && !t.has(c, weight) {
			continue
		}
		if err != nil {
			return nil, bad(name, "%v", err)
		}
		for i, v := range values {
			if len(names) < k { // of the second class
				out[i*k], out[i*k+1] = 1-v, v
			} else {
				out[i*k+c] = v
			}
		}
	}
	if t.data.Target != nil {
		return out, nil
	}
	for i := range t.test {
		p := out[i*k : (i+1)*k]
		if sum := floats.Sum(p); floats.Min(p) < -1e-6 || math.Abs(sum-1) > .01 {
			return nil, bad("", "the probabilities of row %d are %v: they must be from 0 to 1 and sum to 1", i+1, p)
		}
		for c := range p {
			p[c] = max(0, p[c])
		}
		floats.Scale(1/floats.Sum(p), p)
	}
	return out, nil
}

var errNoColumn = errors.New("there is no such column")

// predicted finds the column of a class, whose name a trainer may write in another way: True for true, 1.0 for 1.
func predicted(columns []table.Column, name string) ([]float64, error) {
	at := slices.IndexFunc(columns, func(c table.Column) bool { return c.Name == name })
	if at < 0 {
		at = slices.IndexFunc(columns, func(c table.Column) bool {
			a, errA := strconv.ParseFloat(name, 64)
			b, errB := strconv.ParseFloat(c.Name, 64)
			return strings.EqualFold(name, c.Name) || errA == nil && errB == nil && a == b
		})
	}
	if at < 0 {
		return nil, errNoColumn
	}
	f := newFeature(columns[at])
	switch columns[at].Values.(type) {
	case []float64, []int64:
	default:
		return nil, errors.New("its values are not numbers")
	}
	if floats.HasNaN(f.number) {
		return nil, errors.New("values are missing")
	}
	return f.number, nil
}
