package tables

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"tvps/data/artifact"
	"tvps/data/process"
	"tvps/data/table"
	"tvps/replicate/usage"
)

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

// begin starts the command for the shell. What it writes to its standard error is shown; stdout: nil for nowhere.
// Nothing of its group runs on after its end.
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

// console writes lines above the progress: progress, notes and what trainers say. It is safe for concurrent use.
type console struct {
	mu      sync.Mutex
	out     io.Writer
	display artifact.Display
}

func newConsole(out io.Writer) *console {
	if out == nil {
		out = io.Discard
	}
	return &console{out: out, display: artifact.NewDisplay(out)}
}

func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.display.Clear()
	return c.out.Write(p)
}

// Show shows progress.
func (c *console) Show(fraction float64, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.display.Show(fraction, text)
}

// Clear removes the progress.
func (c *console) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.display.Clear()
}
