package jupyter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Reply is a kernel's reply to an execute_request: how the cell ended.
type Reply struct {
	Status    string   `json:"status"` // ok, error or aborted
	Ename     string   `json:"ename"`  // if Status is error
	Evalue    string   `json:"evalue"`
	Traceback []string `json:"traceback"`
}

var errInput = errors.New("the cell asks for input, which is not supported")

var errNoReply = errors.New("the kernel finished the cell but sent no reply")

func executeRequest(code string, silent bool) map[string]any {
	return map[string]any{"code": code, "silent": silent, "store_history": !silent, "stop_on_error": true,
		"allow_stdin": false, "user_expressions": struct{}{}}
}

// Execute runs code as one cell. It returns when the kernel has replied and is idle. An error in the code is not an
// error of Execute: it is an Output and in the Reply.
//
// Execute passes each output to on, in order, before it returns. on must not block: a slow on slows the kernel, and
// kernels with libzmq, such as ipykernel, then drop outputs.
//
// If ctx ends, Execute interrupts the kernel. If the cell does not end within limits.interrupt, Execute kills the
// process group. The error wraps ctx's cause, and ErrKernelDied if the kernel was killed. A kernel that was only
// interrupted accepts further cells. A cell that asks for input is interrupted, too.
func (k *Kernel) Execute(ctx context.Context, code string, on func(Output)) (Reply, error) {
	select {
	case <-k.gone:
		return Reply{}, k.died()
	default:
	}
	if ctx.Err() != nil {
		return Reply{}, context.Cause(ctx)
	}
	in := newInbox()
	defer k.close(in)
	if err := k.request(k.shell, "execute_request", executeRequest(code, false), in); err != nil {
		k.kill(err.Error() + ", and was killed")
		<-k.gone
		return Reply{}, k.died()
	}
	c := cell{k: k, on: on}
	err := c.run(ctx, in)
	return c.reply, err
}

type cell struct {
	k             *Kernel
	on            func(Output)
	reply         Reply
	replied, idle bool
	stop          error // why the cell was interrupted; nil if it was not
}

func (c *cell) run(ctx context.Context, in *inbox) error {
	k := c.k
	var incomplete, again, grace <-chan time.Time // none of them runs yet
	interrupt := func(why error) {
		if c.stop == nil {
			c.stop = why
			grace, again = time.After(k.limits.interrupt), time.After(0)
		}
	}
	cancelled := ctx.Done()
	for !c.replied || !c.idle {
		select {
		case m := <-in.messages:
			if m.header.Type == "input_request" {
				interrupt(errInput)
			}
			c.take(m)
			if c.replied || c.idle {
				incomplete = time.After(k.limits.incomplete)
			}
		case <-incomplete:
			return c.incomplete()
		case <-cancelled:
			cancelled = nil // interrupt only once
			interrupt(context.Cause(ctx))
		case <-again:
			_ = k.interrupt()                          // if it fails, the kernel is killed soon
			again = time.After(k.limits.interrupt / 2) // once: it may stop the cleanup that the first one started
		case <-grace:
			if c.replied || c.idle {
				return c.incomplete()
			}
			k.kill(fmt.Sprintf("the cell did not stop within %v after its interrupt, so the kernel was killed",
				k.limits.interrupt))
			<-k.gone
			return fmt.Errorf("%w: %w", c.stop, k.died())
		case <-k.gone:
			return k.died()
		}
	}
	return c.interrupted()
}

// interrupted is the error of an interrupted cell; nil if it was not interrupted.
func (c *cell) interrupted() error {
	if c.stop == nil {
		return nil
	}
	return fmt.Errorf("the cell was interrupted: %w", c.stop)
}

// incomplete ends a cell whose reply or idle status is missing. A missing reply is an error, because it is unknown how
// the cell ended.
func (c *cell) incomplete() error {
	if !c.replied && c.stop == nil {
		return errNoReply
	}
	return c.interrupted()
}

// take takes a message; malformed content is dropped.
func (c *cell) take(m message) {
	switch m.header.Type {
	case "execute_reply":
		var r Reply
		if json.Unmarshal(m.content, &r) == nil {
			c.reply, c.replied = r, true
		}
	case "status":
		var s struct {
			State string `json:"execution_state"`
		}
		_ = json.Unmarshal(m.content, &s)
		c.idle = c.idle || s.State == "idle"
	default:
		if out := parseOutput(m); out.Type != "" {
			c.on(out)
		}
	}
}
