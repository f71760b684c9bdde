package jupyter

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"tvps/data/artifact"
)

const (
	pipeTime  = 200 * time.Millisecond // for a dead kernel's pipes, which its children may keep open
	groupTime = 200 * time.Millisecond // for the processes of a killed group to disappear; init may reap them later
	tailBytes = 4096                   // bytes kept of the kernel's last messages
	tailLines = 8
)

// running is a kernel's process with its process group.
type running struct {
	cmd    *exec.Cmd
	log    *log
	exited chan struct{} // closed when the process has ended and its group is killed
}

// launch starts a command. A group of its own is killed when the command ends.
func launch(cmd *exec.Cmd, l *log, own bool) (*running, error) {
	p := &running{cmd: cmd, log: l, exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = l, l
	cmd.WaitDelay = pipeTime
	wait, err := artifact.Start(cmd, own)
	if err != nil {
		return nil, err
	}
	go func() {
		defer close(p.exited)
		_ = wait() // the process state contains the same information as the error
		if own {
			artifact.KillGroup(cmd.Process.Pid)
		}
	}()
	return p, nil
}

func (p *running) alive() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// interrupt sends the interrupt signal to the process group, as Jupyter does.
func (p *running) interrupt() error {
	if !p.alive() {
		return nil
	}
	return artifact.InterruptGroup(p.cmd.Process.Pid)
}

// end asks the process to end, and kills it if it has not ended after patience.
func (p *running) end(patience time.Duration) {
	p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(patience):
		p.cmd.Process.Kill()
		<-p.exited
	}
}

// kill kills the process group. The process itself first gets SIGTERM and five times termTime, because a relay then
// ends processes in other groups, such as gopls. kill waits up to groupTime until no process of the group is left.
func (p *running) kill() {
	if p.alive() {
		p.end(5 * termTime)
	}
	for end := time.Now().Add(groupTime); artifact.GroupExists(p.cmd.Process.Pid) && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
}

// code is the exit code; 128 and the signal's number for a signal, as in a shell.
func (p *running) code() int {
	if s, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return 128 + int(s.Signal())
	}
	return p.cmd.ProcessState.ExitCode()
}

// log keeps the end of the kernel's messages. Relay's passes on notes of its own. GoNB's messages it passes on only
// when GoNB has failed: consoles show them between the outputs of cells.
type log struct {
	mu    sync.Mutex
	to    io.Writer // of Relay; otherwise nil
	quiet bool      // the kernel's messages are not passed on
	tail  []byte

	rejected sync.Once // a note says that something was dropped
}

// Write passes on and keeps what the kernel writes. It never fails, so that an error of the log does not stop the
// kernel.
func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to != nil && !l.quiet {
		_, _ = l.to.Write(p)
	}
	l.tail = append(l.tail, p...)
	l.tail = l.tail[max(0, len(l.tail)-tailBytes):]
	return len(p), nil
}

func (l *log) note(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.to, "tvps-kernel: %s\n", text)
}

// reject notes the first message or connection that was dropped.
func (l *log) reject(err error) {
	l.rejected.Do(func() { l.note(fmt.Sprintf("dropped a message or connection: %v", err)) })
}

// lastLines returns the last lines that the kernel wrote, for an error message; empty if it wrote none.
func (l *log) lastLines() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := strings.TrimSpace(string(bytes.ToValidUTF8(l.tail, nil)))
	if text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	return "; its last messages:\n  " + strings.Join(lines[max(0, len(lines)-tailLines):], "\n  ")
}
