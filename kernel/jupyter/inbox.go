package jupyter

import "time"

// inbox receives the messages that a request causes, from all sockets.
type inbox struct {
	messages chan message // not buffered: a slow reader slows the kernel
	closed   chan struct{}
}

// newInbox opens an inbox. Kernel.close must be called for it.
func newInbox() *inbox {
	return &inbox{messages: make(chan message), closed: make(chan struct{})}
}

// close closes an inbox. Later messages for it are dropped.
func (k *Kernel) close(in *inbox) {
	close(in.closed)
	k.mu.Lock()
	defer k.mu.Unlock()
	for id, other := range k.inboxes {
		if other == in {
			delete(k.inboxes, id)
		}
	}
}

// request sends a message. The messages that it causes go to the inbox; if that is nil, they are
// dropped.
func (k *Kernel) request(s *socket, msgType string, content any, in *inbox) error {
	h := k.session.newHeader(msgType)
	if in != nil {
		k.mu.Lock()
		k.inboxes[h.ID] = in
		k.mu.Unlock()
	}
	return s.send(k.session.encode(h, nil, content)...)
}

// deliver decodes a received message and passes it to the inbox of its request. Without one it is dropped: it
// belongs to another client or to a finished request. So is a message that is malformed or has a wrong signature.
func (k *Kernel) deliver(frames [][]byte) {
	m, err := k.session.decode(frames)
	if err != nil {
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

// supervise waits until the kernel's process ends, and closes gone. Before that it allows limits.sockets for the
// delivery of the kernel's last messages.
func (k *Kernel) supervise() {
	defer close(k.gone)
	<-k.process.exited
	late := time.After(k.limits.sockets)
	for _, s := range k.sockets {
		select {
		case <-s.done:
		case <-late:
			return
		}
	}
}
