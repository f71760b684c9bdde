package backtest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"tvps/data/artifact"
	"tvps/replicate/usage"
)

// outputDelay is how long the output of a command is awaited after its end: a child that it left behind may keep it
// open for ever.
var outputDelay = 2 * time.Second // less in tests

// endDelay is how long a server may take to end after the end of its input, as it may save something.
var endDelay = 10 * time.Second // less in tests

// server is a running command that trains one model for each line. It leads a process group.
type server struct {
	cmd    *exec.Cmd
	text   string // as the user gave it
	stdin  io.WriteCloser
	stdout *bufio.Reader
	output output
	ended  chan struct{} // closed at its end
}

// mostAnswer is the longest answer of a server, in bytes.
const mostAnswer = 64 << 10

// startServer starts a shell's text in an environment. name: of the command, as the user gave it. What it writes to its
// standard error is shown. Nothing of its group runs on after its end.
func startServer(name, text string, env []string, log *console) (*server, error) {
	stdout, answers := io.Pipe()
	s := &server{text: name, stdout: bufio.NewReaderSize(stdout, mostAnswer), output: output{log: log},
		ended: make(chan struct{})}
	s.cmd = exec.Command("sh", "-c", text)
	s.cmd.Env = env
	s.cmd.Stdout, s.cmd.Stderr = answers, &s.output
	var err error
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	s.cmd.WaitDelay = outputDelay
	wait, err := artifact.Start(s.cmd, artifact.OwnGroup)
	if err != nil {
		return nil, fmt.Errorf("cannot start the trainer %q: %w", name, err)
	}
	go func() {
		_ = wait() // its answers say whether it failed
		s.kill()
		close(s.ended)
		_ = answers.Close() // a pipe in memory
	}()
	return s, nil
}

func (s *server) kill() { artifact.KillGroup(s.cmd.Process.Pid) }

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
	case err != nil && !errors.Is(err, bufio.ErrBufferFull):
		s.end(outputDelay)
		return fmt.Errorf("the trainer %q ended (%s) before its answer%s", s.text, s.cmd.ProcessState, s.output.quote())
	case text != "ok":
		return fmt.Errorf("the trainer %q answered %.200q instead of ok; what else it writes belongs on its standard error%s",
			s.text, text, s.output.quote())
	}
	return nil
}

// end lets the command see the end of its input, and kills it unless it ends by itself in the given time.
func (s *server) end(patience time.Duration) {
	_ = s.stdin.Close()
	select {
	case <-s.ended:
	case <-time.After(patience):
		s.kill()
	}
	go func() { _, _ = io.Copy(io.Discard, s.stdout) }() // it may wait for a reader
	<-s.ended
}

const (
	tailBytes = 2000 // that an error quotes
	mostLine  = 1000 // bytes of a line
)

// output is what a trainer writes. Its lines are shown, and its end is quoted.
type output struct {
	log        *console
	mu         sync.Mutex
	tail, line []byte
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tail = append(o.tail, p...)
	o.tail = append(o.tail[:0], o.tail[max(0, len(o.tail)-tailBytes):]...)
	for line := range bytes.Lines(p) {
		o.line = append(o.line, line[:min(len(line), mostLine)]...)
		if o.line[len(o.line)-1] == '\n' || len(o.line) > mostLine {
			o.log.show(string(o.line))
			o.line = o.line[:0]
		}
	}
	return len(p), nil
}

// quote is the end of an error's sentence.
func (o *output) quote() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if text := bytes.TrimSpace(o.tail); len(text) > 0 {
		return ":\n" + usage.Shown(string(text))
	}
	return ""
}
