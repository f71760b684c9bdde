package backtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"tvps/data/artifact"
	"tvps/data/table"
	"tvps/replicate/runs"

	"github.com/gomlx/gomlx/support/xslices"
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
	log     *console
}

// nameMark begins the comment of a command that names it in reports.
const nameMark = " # "

// newCommand returns the trainer of a command. What it writes to its standard error is shown in log.
func newCommand(text string, serve bool, workers int, log *console) *command {
	c := &command{text: text, serve: serve, workers: max(1, workers), log: log}
	c.idle = make(chan *server, c.workers)
	for range c.workers {
		c.idle <- nil
	}
	return c
}

// eachModel makes a server of a command that is started for each model. Its output is no answer.
const eachModel = "while IFS='\t' read -r train test out; do\n" +
	`%s "$train" "$test" "$out" </dev/null >&2 || exit
echo ok
done`

// start starts the command for models of a task.
func (c *command) start(t *Task) (*server, error) {
	text := c.text
	if !c.serve {
		text, _, _ = strings.Cut(text, nameMark)
		text = fmt.Sprintf(eachModel, text)
	}
	names, kind := []string{}, table.Regression
	if t.Data.Target == nil {
		names, kind = t.stream.Label.Names, table.Classes
	}
	env := append(os.Environ(), "TVPS_LABEL="+t.stream.Source.Label, "TVPS_TASK="+string(kind),
		"TVPS_CLASSES="+canonical(names))
	if os.Getenv(threads) == "" { // the workers share the processors
		env = append(env, fmt.Sprintf("%s=%d", threads, max(1, runtime.NumCPU()/c.workers)))
	}
	return startServer(c.text, text, env, c.log)
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

func (c *command) close() { c.endAll(endDelay) }

// endAll ends all servers, which wait.
func (c *command) endAll(patience time.Duration) {
	var all sync.WaitGroup
	for range c.workers {
		if s := <-c.idle; s != nil {
			all.Go(func() { s.end(patience) })
		}
	}
	for range c.workers {
		c.idle <- nil
	}
	all.Wait()
}

func (c *command) predict(ctx context.Context, t *Task, weights [][]float64) ([][]float64, error) {
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
	if err != nil { // they are not asked again
		c.endAll(0)
	}
	return out, err
}

// writeTraining writes the rows that have weight, with features, label and weight.
func writeTraining(path string, t *Task, weight []float64) error {
	var rows, labels []int
	var w []float64
	for i, v := range weight {
		if v > 0 {
			rows, labels, w = append(rows, t.train[i]), append(labels, t.labelRows[i]), append(w, v)
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
func (c *command) run(ctx context.Context, t *Task, train, test, answer string) (err error) {
	s := <-c.idle
	defer func() { c.idle <- s }()
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

// readPredictions reads what the command wrote: one row for each test row. A class that no row with weight has may be
// missing: its probability is then 0.
func readPredictions(path string, t *Task, weight []float64) ([]float64, error) {
	const file = "the trainer's predictions"
	bad := func(column, problem string, args ...any) error { // no *table.Error: the user's table is as it should be
		return errors.New((&table.Error{File: file, Column: column, Problem: fmt.Sprintf(problem, args...)}).Error())
	}
	read, err := table.Open(path, table.Options{NumericNames: true, AnyRows: true})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("the trainer wrote no predictions to OUT, the third path that it gets")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %v", file, err)
	}
	columns := xslices.Map(read.Schema().Columns, func(c table.ColumnSchema) string { return c.Name })
	if read.Rows() != len(t.test) {
		return nil, bad("", "there are %s, the test block has %d", runs.Plural(read.Rows(), "row"), len(t.test))
	}
	k, names := t.outputs(), []string{"prediction"}
	if t.Data.Target == nil && !(k == 2 && len(columns) == 1 && columns[0] == names[0]) {
		names = t.stream.Label.Names
	}
	out := make([]float64, len(t.test)*k)
	for c, name := range names {
		at := columnOf(columns, name)
		if at < 0 && t.Data.Target == nil && !t.hasClass(c, weight) {
			continue
		}
		if at < 0 {
			return nil, bad(name, "there is no such column")
		}
		values, levels, err := read.Numbers(columns[at], nil)
		if err != nil || levels != nil || floats.HasNaN(values) {
			return nil, bad(name, "a value is missing, or is no number")
		}
		for i, v := range values {
			if len(names) < k { // of the second class
				out[i*k], out[i*k+1] = 1-v, v
			} else {
				out[i*k+c] = v
			}
		}
	}
	if t.Data.Target != nil {
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

// columnOf finds the column of a class, whose name a trainer may write in another way: True for true, 1.0 for 1. It is
// -1 if there is none.
func columnOf(columns []string, name string) int {
	at := slices.Index(columns, name)
	if at < 0 {
		at = slices.IndexFunc(columns, func(other string) bool {
			a, errA := strconv.ParseFloat(name, 64)
			b, errB := strconv.ParseFloat(other, 64)
			return strings.EqualFold(name, other) || errA == nil && errB == nil && a == b
		})
	}
	return at
}
