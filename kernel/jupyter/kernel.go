// Package jupyter starts Jupyter kernels and runs code in them. It speaks Jupyter's wire
// protocol (version 5) itself, over ZeroMQ, so that notebooks run without Python. It knows
// nothing of notebooks: code goes in, outputs and a reply come out.
//
// A kernel is not trusted to behave. Messages with a wrong signature are dropped, half of
// an answer is waited for only so long, a kernel that dies or closes a socket ends the cell,
// and Close leaves no process, goroutine or file behind.
package jupyter

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// ErrKernelDied is what errors are if the kernel is gone: its process ended, or it was
// killed because it did not answer. Their message has the exit state and the last lines
// that the kernel wrote.
var ErrKernelDied = errors.New("the kernel died")

var errClosed = errors.New("the kernel is closed")

// Options say how a kernel is started. The zero value is usable.
type Options struct {
	Dir          string        // working directory of the kernel; default: that of this process
	Env          []string      // NAME=value; added to the kernel's environment after the kernelspec's
	Log          io.Writer     // what the kernel itself writes, and notes on its misbehaviour; default: nowhere
	StartTimeout time.Duration // until the kernel must have answered; default: one minute
}

// limits are how long a kernel is waited for. Tests shorten them.
type limits struct {
	half      time.Duration // for the reply if the kernel is idle, or for idle if it has replied
	interrupt time.Duration // for a cell to end once interrupted; GoNB kills it after 5 s
	again     time.Duration // before an interrupt message is repeated; GoNB drops it while it compiles
	shutdown  time.Duration // for the process to end after shutdown_request
	sockets   time.Duration // between the end of the process and that of its sockets, or reverse
}

var defaultLimits = limits{
	half:      5 * time.Second,
	interrupt: 10 * time.Second,
	again:     time.Second,
	shutdown:  3 * time.Second,
	sockets:   time.Second,
}

// Kernel is a running kernel. Its methods may be called from several goroutines; cells run
// one after another.
type Kernel struct {
	spec    Spec
	limits  limits
	log     *log
	dir     string // holds the connection file and the kernel's temporary files
	session session
	process *process
	info    Info

	shell, iopub, control, stdin *socket

	turn   chan struct{} // holds a token while no cell runs
	gone   chan struct{} // closed when the kernel is gone and all that it sent is read
	closed atomic.Bool
	once   sync.Once

	mu       sync.Mutex
	inboxes  map[string]*inbox // by the id of the request
	cause    string            // why the kernel was killed; empty if it was not
	rejected int               // messages dropped
}

// Info is what a kernel says about itself.
type Info struct {
	Protocol              string // version of the protocol, such as 5.3
	Implementation        string // such as gonb
	ImplementationVersion string
	Banner                string
	Language              string // such as go
	LanguageVersion       string
	LanguageInfo          json.RawMessage // as it belongs into a notebook's metadata; nil if there is none
}

// Info returns what the kernel said about itself when it started.
func (k *Kernel) Info() Info { return k.info }

// Interrupt interrupts the running cell, as the kernelspec wants it: by a signal to the
// process group, as Jupyter does, or by a message. It does not wait for the cell to end.
// With GoNB only the message reaches the cell's program once: it passes signals on, and the
// program is in its process group.
func (k *Kernel) Interrupt() error {
	if k.spec.InterruptMode == "message" {
		_, err := k.request(k.control, "interrupt_request", struct{}{}, nil)
		return err
	}
	return k.process.interrupt()
}

// Close asks the kernel to shut down, kills what is left of its process group and removes
// its temporary folder. A cell that is running ends with an error. It may be called more
// than once.
func (k *Kernel) Close() error {
	var err error
	k.once.Do(func() {
		k.closed.Store(true)
		k.shutdown()
		for _, s := range k.sockets() {
			s.tcp.Close()
			<-s.done
		}
		<-k.gone
		err = removeAll(k.dir)
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.rejected > 0 {
			k.log.note(fmt.Sprintf("%d messages of kernel %q were dropped", k.rejected, k.spec.Name))
		}
	})
	return err
}

// shutdown ends the process: by request if it listens, by force if it goes on. It returns
// when the process group is gone.
func (k *Kernel) shutdown() {
	if k.process.alive() && k.control != nil {
		content := map[string]bool{"restart": false}
		if _, err := k.request(k.control, "shutdown_request", content, nil); err == nil {
			select {
			case <-k.process.exited:
			case <-time.After(k.limits.shutdown):
			}
		}
	}
	k.process.kill()
}

// kill kills the process group for a reason that is then part of the error.
func (k *Kernel) kill(cause string) {
	k.mu.Lock()
	k.cause = cause
	k.mu.Unlock()
	k.process.kill()
}

// died is the error for a kernel that is gone. It is to be called when gone is closed.
func (k *Kernel) died() error {
	if k.closed.Load() {
		return errClosed
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cause != "" {
		return fmt.Errorf("%w: %s", ErrKernelDied, k.cause)
	}
	return fmt.Errorf("%w: its process ended (%s)%s", ErrKernelDied, k.process.state(), k.log.lastLines())
}

// sockets are those that are connected.
func (k *Kernel) sockets() []*socket {
	var all []*socket
	for _, s := range []*socket{k.shell, k.iopub, k.control, k.stdin} {
		if s != nil {
			all = append(all, s)
		}
	}
	return all
}

// removeAll removes a folder. Programs that are just being killed may still write into it,
// so it tries more than once.
func removeAll(dir string) error {
	var err error
	for range 10 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("cannot remove the kernel's temporary folder: %w", err)
}
