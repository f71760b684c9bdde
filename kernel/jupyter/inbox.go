package jupyter

import (
	"fmt"
	"sync"
	"time"
)

// inbox takes the messages that a request causes, whichever socket they come from.
type inbox struct {
	messages chan message // not buffered: a slow reader slows the kernel
	closed   chan struct{}
	once     sync.Once
}

// newInbox opens an inbox. close must be called.
func newInbox() *inbox {
	return &inbox{messages: make(chan message), closed: make(chan struct{})}
}

// close drops what comes later.
func (k *Kernel) close(in *inbox) {
	in.once.Do(func() { close(in.closed) })
	k.mu.Lock()
	defer k.mu.Unlock()
	for id, other := range k.inboxes {
		if other == in {
			delete(k.inboxes, id)
		}
	}
}

// request sends a message and returns its id. What it causes goes to the inbox; nil drops
// it.
func (k *Kernel) request(s *socket, msgType string, content any, in *inbox) (string, error) {
	h := k.session.newHeader(msgType)
	frames, err := k.session.encode(h, content)
	if err != nil {
		return "", fmt.Errorf("cannot write %s: %w", msgType, err)
	}
	if in != nil {
		k.mu.Lock()
		k.inboxes[h.ID] = in
		k.mu.Unlock()
	}
	return h.ID, s.send(frames...)
}

// deliver takes the frames of a received message to the inbox that waits for them. Without
// one they are dropped: they belong to another client or to a request that is over.
func (k *Kernel) deliver(frames [][]byte) {
	m, err := k.session.decode(frames)
	if err != nil {
		k.reject(err)
		return
	}
	k.mu.Lock()
	in := k.inboxes[m.parent.ID]
	k.mu.Unlock()
	if in == nil {
		return
	}
	select {
	case in.messages <- m:
	case <-in.closed:
	}
}

// reject counts a message that is dropped, and notes the first.
func (k *Kernel) reject(err error) {
	k.mu.Lock()
	k.rejected++
	first := k.rejected == 1
	k.mu.Unlock()
	if first {
		k.log.note(fmt.Sprintf("dropped a message of kernel %q: %v", k.spec.Name, err))
	}
}

// supervise ends when the kernel is gone: its process or one of its sockets. What the
// kernel sent before its end is delivered first, for a short time.
func (k *Kernel) supervise() {
	defer close(k.gone)
	select {
	case <-k.process.exited:
	case <-k.shell.done:
		k.killUnlessExited(k.shell)
	case <-k.iopub.done:
		k.killUnlessExited(k.iopub)
	}
	late := time.After(k.limits.sockets)
	for _, s := range k.sockets() {
		select {
		case <-s.done:
		case <-late:
			return
		}
	}
}

// killUnlessExited kills a kernel that closed a socket, unless it was about to end.
func (k *Kernel) killUnlessExited(s *socket) {
	select {
	case <-k.process.exited:
	case <-time.After(k.limits.sockets):
		k.kill(fmt.Sprintf("it closed its %s socket, and was killed%s", s.name, k.log.lastLines()))
	}
}
