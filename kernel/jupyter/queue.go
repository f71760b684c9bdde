package jupyter

import (
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// execution is a client's request to run a cell. It runs or waits.
type execution struct {
	message                 // its request
	frames         [][]byte // the request for the kernel
	client, kernel *socket  // of its client
	code           string   // as the client sent it
	exit           string   // file for the exit code of a script; empty if the cell is none
	stops          bool     // an error aborts those that wait
	asks           bool     // its client can be asked for input
	interrupted    atomic.Bool
	refused        atomic.Pointer[failure] // why the relay stopped it; nil if it did not
	why            failure                 // set before idle is closed; nil: it has not failed
	published      sync.Once
	idle, ended    chan struct{} // closed when all outputs are published, and when the reply is sent
}

// queue passes cells to the kernel one at a time: GoNB has a queue of its own, but would run all of them after an
// error or an interrupt.
type queue struct {
	mu  sync.Mutex
	all []*execution // the first one runs
}

func (q *queue) add(e *execution) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.all = append(q.all, e); len(q.all) == 1 {
		_ = e.kernel.send(e.frames...)
	}
}

// running is the execution that runs; nil if it has another id.
func (q *queue) running(id string) *execution {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.all) == 0 || q.all[0].header.ID != id {
		return nil
	}
	return q.all[0]
}

// next takes away the execution that runs, and starts the next one.
func (q *queue) next() {
	q.mu.Lock()
	defer q.mu.Unlock()
	close(q.all[0].ended)
	if q.all = q.all[1:]; len(q.all) > 0 {
		_ = q.all[0].kernel.send(q.all[0].frames...)
	}
}

// stop takes away the executions that wait, and returns the one that runs, too: nil if there is none.
func (q *queue) stop() (running *execution, waiting []*execution) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.all) == 0 {
		return nil, nil
	}
	waiting = slices.Clone(q.all[1:])
	q.all = q.all[:1]
	return q.all[0], waiting
}

// holds says whether the queue has executions of a client that is gone.
func (q *queue) holds(kernel *socket) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.ContainsFunc(q.all, func(e *execution) bool { return e.kernel == kernel })
}

// abort answers executions that will not run.
func (r *relay) abort(all []*execution) {
	r.clients.Go(func() {
		for _, e := range all {
			r.answer(e.client, e.message, e.frames, map[string]any{"status": "aborted"})
		}
	})
}

const lookEvery = 100 * time.Millisecond

// killAfter is the time for the processes of a cell to end after an interrupt. Tests shorten it.
var killAfter = 5 * time.Second

// interrupt stops the cell that runs, and those that wait.
func (r *relay) interrupt() {
	e, waiting := r.queue.stop()
	r.abort(waiting)
	if e == nil {
		return
	}
	e.interrupted.Store(true)
	r.end(e)
}

// refuse lets a cell fail whose client or GoNB lacks what it needs, and stops it.
func (r *relay) refuse(e *execution, why string) {
	because := failed("ERROR", why)
	e.refused.Store(&because)
	r.end(e)
}

// end stops what the kernel has started for a cell, also if that is a compiler, or starts later: each process gets
// SIGINT, and after killAfter SIGKILL, as do those whose parent has ended.
func (r *relay) end(e *execution) {
	go func() {
		interrupted := map[int]bool{}
		for begin := time.Now(); ; {
			if time.Since(begin) < killAfter {
				interruptNew(r.pid, interrupted)
			} else {
				for _, c := range below(os.Getpid()) {
					if c.pid != r.pid {
						syscall.Kill(c.pid, syscall.SIGKILL)
					}
				}
			}
			select {
			case <-e.ended:
				return
			case <-time.After(lookEvery):
			}
		}
	}()
}

// interruptNew interrupts the processes below pid that have not been interrupted yet. They are stopped until all have
// the signal, as a shell continues if the last command of a pipe ends without it. A shell that has started another
// command since its signal is interrupted with it: it took no notice if a command had just ended by itself.
func interruptNew(pid int, interrupted map[int]bool) {
	var found []int
	for {
		before := len(found)
		shells := map[int]int{} // and the parent of each
		for _, c := range below(pid) {
			if slices.Contains([]string{"bash", "dash", "sh", "zsh"}, c.name) {
				shells[c.pid] = c.parent
			}
			if interrupted[c.pid] {
				continue
			}
			interrupted[c.pid] = true
			found = append(found, c.pid)
			for p := c.parent; shells[p] != 0 && !slices.Contains(found, p); p = shells[p] {
				found = append(found, p)
			}
		}
		if len(found) == before {
			break // what was not yet stopped may have started another one
		}
		signalAll(found[before:], syscall.SIGSTOP)
	}
	signalAll(found, syscall.SIGINT)
	signalAll(found, syscall.SIGCONT)
}

func signalAll(pids []int, s syscall.Signal) {
	for _, pid := range pids {
		syscall.Kill(pid, s)
	}
}

// child is a process of another one.
type child struct {
	pid, parent int
	name        string
}

// below lists the processes below another one, each after its parent, without gopls and those below it.
func below(pid int) []child {
	children := processes()
	found := []child{{pid: pid}}
	for i := 0; i < len(found); i++ {
		for _, c := range children[found[i].pid] {
			if c.name != "gopls" {
				found = append(found, c)
			}
		}
	}
	return found[1:]
}
