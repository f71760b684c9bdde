// Package jupyter starts Jupyter kernels and runs code in them. It implements the client side of Jupyter's wire
// protocol (version 5) over ZeroMQ, so notebooks run without Python. It does not know notebooks: the input is code,
// the results are outputs and a reply.
//
// The package tolerates faulty kernels. It drops messages with a wrong signature, ends a cell whose
// answer stays incomplete, and ends the cell if the kernel dies. Close leaves no goroutine or file
// behind, and no process in the kernel's process group. A kernel may start processes in other groups; they outlive it
// if it is killed. GoNB does so with gopls. Relay, which stands between GoNB and its clients, ends these, too.
package jupyter

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrKernelDied marks errors about a kernel that is gone: its process ended, or it was killed because it did not
// answer. The message contains the exit status and the last lines that the kernel wrote, or the reason for the kill.
var ErrKernelDied = errors.New("the kernel died")

// Options configures Start. The zero value is usable.
type Options struct {
	Dir string   // working directory of the kernel; default: that of this process
	Env []string // NAME=value; overrides the environment of the kernelspec
}

// limits holds the time limits for a kernel's reactions. Tests shorten them.
type limits struct {
	start      time.Duration // for the first answer
	incomplete time.Duration // for the other of reply and idle, after the last message
	interrupt  time.Duration // for a cell to end after an interrupt; GoNB kills it after 5 s
	shutdown   time.Duration // for the process to end after shutdown_request
	sockets    time.Duration // between the end of the process and the end of its sockets, in either order
}

var defaultLimits = limits{
	start:      time.Minute,
	incomplete: 30 * time.Second,
	interrupt:  10 * time.Second,
	shutdown:   3 * time.Second,
	sockets:    time.Second,
}

// Kernel is a running kernel. It runs one cell at a time; interrupt may be called meanwhile.
type Kernel struct {
	spec    Spec
	limits  limits
	log     *log
	dir     string       // holds the connection file and the kernel's temporary files
	remove  func() error // removes dir
	session session
	process *running
	info    struct {
		Language json.RawMessage `json:"language_info"`
	}

	sockets                      []*socket // the four that are connected, in the order of channels
	shell, iopub, stdin, control *socket

	gone chan struct{} // closed when the kernel is gone and its messages are read

	mu      sync.Mutex
	inboxes map[string]*inbox // by id of the request
	cause   string            // why the kernel was killed; empty if it was not
}

// Language returns the kernel's description of its language, for a notebook's metadata; nil if there is none.
func (k *Kernel) Language() json.RawMessage { return k.info.Language }

// interrupt interrupts the running cell, by a signal to the process group or by a message: the kernelspec's
// interrupt_mode decides. It does not wait for the cell to end. With GoNB, a signal would reach the cell's program
// twice: GoNB forwards it, and the program is in GoNB's process group. A message reaches the program once.
func (k *Kernel) interrupt() error {
	if k.spec.InterruptMode == "message" {
		return k.request(k.control, "interrupt_request", struct{}{}, nil)
	}
	return k.process.interrupt()
}

// Close asks the kernel to shut down, kills the remaining processes of its process group and removes its temporary
// folder. Further calls do nothing.
func (k *Kernel) Close() error {
	k.shutdown()
	for _, s := range k.sockets {
		s.conn.Close()
		<-s.done
	}
	<-k.gone
	return k.remove()
}

// shutdown requests the end of the process, and kills its process group after limits.shutdown. It returns when the
// process group is gone.
func (k *Kernel) shutdown() {
	if k.process.alive() && k.control != nil {
		content := map[string]bool{"restart": false}
		if err := k.request(k.control, "shutdown_request", content, nil); err == nil {
			select {
			case <-k.process.exited:
			case <-time.After(k.limits.shutdown):
			}
		}
	}
	k.process.kill()
}

// kill kills the process group. The cause becomes part of the error that died returns.
func (k *Kernel) kill(cause string) {
	k.mu.Lock()
	k.cause = cause
	k.mu.Unlock()
	k.process.kill()
}

// died makes the error for a kernel that is gone. It may be called only after gone is closed.
func (k *Kernel) died() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cause != "" {
		return fmt.Errorf("%w: %s", ErrKernelDied, k.cause)
	}
	return fmt.Errorf("%w: its process ended (%v)%s", ErrKernelDied, k.process.cmd.ProcessState, k.log.lastLines())
}
