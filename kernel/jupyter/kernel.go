// Package jupyter starts Jupyter kernels and runs code in them. It speaks Jupyter's wire
// protocol (version 5) itself, over ZeroMQ, so that notebooks run without Python. It knows
// nothing of notebooks: code goes in, outputs and a reply come out.
package jupyter

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"
)

// ErrKernelDied is what errors are if the kernel's process has ended when it should not
// have. Their message has the exit state and the last lines that the kernel wrote.
var ErrKernelDied = errors.New("the kernel died")

// Options say how a kernel is started. The zero value is usable.
type Options struct {
	Dir          string        // working directory of the kernel; default: that of this process
	Env          []string      // NAME=value; added last to the kernel's environment
	Log          io.Writer     // what the kernel itself writes, and notes on its misbehaviour; default: nowhere
	StartTimeout time.Duration // until the kernel must have answered; default: one minute
}

// Kernel is a running kernel. Its methods may be called from several goroutines; cells run
// one after another.
type Kernel struct{}

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

// Output is one thing that a cell shows. Which fields are set depends on Type.
type Output struct {
	// Type is stream, display_data, execute_result, error, clear_output or
	// update_display_data.
	Type string

	Name, Text string // stream: stdout or stderr, and what was printed

	Data           map[string]json.RawMessage // display_data, execute_result, update_display_data: values by MIME type
	Metadata       map[string]json.RawMessage // the same three
	DisplayID      string                     // the same three; empty if none was given
	ExecutionCount int                        // execute_result

	Ename, Evalue string   // error
	Traceback     []string // error

	Wait bool // clear_output: clear only when the next output comes
}

// Reply is a kernel's verdict on a cell.
type Reply struct {
	Status         string // ok, error or aborted
	ExecutionCount int
	Ename, Evalue  string // error
	Traceback      []string
}

// Start runs a kernel in its own process group with its own temporary folder, and returns
// when it has answered on its shell and its iopub socket. If it does not, nothing is left
// of it.
func Start(ctx context.Context, spec Spec, o Options) (*Kernel, error) {
	return nil, errors.New("not written yet")
}

// Execute runs code as one cell and returns when the kernel has replied and says that it
// is idle. Each output is handed to on as it comes, in order, from one goroutine; on may
// be nil. An error in the code is no error of Execute: it is an Output and is in the Reply.
//
// If ctx ends, the kernel is interrupted; if the cell goes on for a grace period, the whole
// process group is killed. The error is then ctx's, and ErrKernelDied too if it came to
// killing. A kernel that was only interrupted takes further cells.
func (k *Kernel) Execute(ctx context.Context, code string, on func(Output)) (Reply, error) {
	return Reply{}, errors.New("not written yet")
}

// Interrupt interrupts the running cell, by a signal or a message as the kernel wants it.
func (k *Kernel) Interrupt() error { return nil }

// Close asks the kernel to shut down, kills what is left of its process group and removes
// its temporary folder. It may be called more than once.
func (k *Kernel) Close() error { return nil }

// Info returns what the kernel said about itself when it started.
func (k *Kernel) Info() Info { return Info{} }
