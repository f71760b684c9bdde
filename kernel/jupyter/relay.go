package jupyter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"tvps/data/artifact"
	"tvps/data/process"

	"github.com/go-zeromq/zmq4"
)

const (
	acceptPause = 100 * time.Millisecond // after a client that could not be accepted
	parentEvery = time.Second            // between two looks at the parent process
	termTime    = time.Second            // for a kernel to end after SIGTERM, before it is killed
)

// Relay runs a GoNB kernel as its child, for the clients of a connection file. In argv it replaces the name of that
// file by that of another one, with other ports, and passes all messages. It adds what GoNB lacks:
//
//   - it answers is_complete_request and history_request;
//   - it drops messages that are malformed, too large or have a wrong signature: they would end GoNB. It answers
//     heartbeats, which have no signature, and GoNB listens in a folder of this user only;
//   - it ends the kernel and all processes that the kernel started when the process that started Relay is gone, and
//     at SIGTERM.
//
// The kernel's own messages and those of Relay go to w. Relay returns the kernel's exit code. An error means that
// the kernel was not started. It must be called by the main goroutine, locked to its thread.
func Relay(connectionFile string, argv []string, w io.Writer) (code int, err error) {
	gone := parentGone()
	adopt()
	signals := make(chan os.Signal, 10)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP, os.Interrupt)
	defer signal.Stop(signals)
	outer, err := readConnection(connectionFile)
	if err != nil {
		return 0, err
	}
	listeners, err := outer.listen()
	if err != nil {
		return 0, err
	}
	defer closeAll(listeners)
	r := &relay{session: session{id: randomID(), key: []byte(outer.Key)}, log: &log{to: w, name: "tvps-kernel"}}
	dir, remove, err := artifact.TempFolder("tvps-relay-")
	if err != nil {
		return 0, fmt.Errorf("cannot create a temporary folder: %w", err)
	}
	defer func() { _ = remove() }()
	if r.inner, err = newPrivateConnection(outer.Kernel, r.session, dir); err != nil {
		return 0, err
	}
	file := filepath.Join(dir, filepath.Base(connectionFile)) // GoNB takes the kernel's id from the name
	if err := r.inner.writeTo(file); err != nil {
		return 0, fmt.Errorf("cannot write the connection file: %w", err)
	}
	argv = slices.Clone(argv)
	for i, arg := range argv {
		if arg == connectionFile {
			argv[i] = file
		}
	}
	p, err := launch(exec.Command(argv[0], argv[1:]...), r.log, process.InOurGroup)
	if err != nil {
		return 0, fmt.Errorf("cannot start the kernel: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for i, ch := range channels {
		go r.accept(ctx, listeners[i], ch, *r.inner.ports()[i])
	}
	r.wait(p, signals, gone)
	cancel()
	closeAll(listeners)
	r.finish()
	killAdopted()
	return p.code(), nil
}

// wait returns when the kernel has ended. It ends the kernel at SIGTERM or SIGHUP, and when its parent is gone. An
// interrupt is not for the relay: the kernel gets it, too.
func (r *relay) wait(p *running, signals <-chan os.Signal, gone func() bool) {
	look := time.NewTicker(parentEvery)
	defer look.Stop()
	for {
		why := ""
		select {
		case <-p.exited:
			if p.code() != 0 {
				r.log.note("the kernel ended: " + p.state())
			}
			return
		case s := <-signals:
			if s != os.Interrupt {
				why = s.String()
			}
		case <-look.C:
			if gone() {
				why = "the process that started it is gone"
			}
		}
		if why != "" {
			r.log.note("ending the kernel: " + why)
			p.end(termTime)
			return
		}
	}
}

// channel is one of a client's five connections.
type channel struct {
	name           string
	kernel, client zmq4.SocketType // types of the sockets
}

// channels are in the order of connection.ports.
var channels = [5]channel{
	{"shell", "ROUTER", "DEALER"}, {"iopub", "PUB", "SUB"}, {"stdin", "ROUTER", "DEALER"},
	{"control", "ROUTER", "DEALER"}, {"heartbeat", "REP", ""},
}

// relay is what the connections of all clients share.
type relay struct {
	session session
	inner   connection
	log     *log
	history history

	mu          sync.Mutex
	subscribers []*socket // the clients' iopub connections
	clients     sync.WaitGroup
	rejected    bool // a message was dropped
}

// accept serves all clients of one channel until its listener is closed. After another error, such as too many open
// files, it tries again.
func (r *relay) accept(ctx context.Context, l net.Listener, ch channel, port int) {
	for failed := false; ; {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			if !failed {
				r.log.note(fmt.Sprintf("cannot accept a client of %s, trying again: %v", ch.name, err))
			}
			failed = true
			time.Sleep(acceptPause)
			continue
		}
		failed = false
		r.clients.Go(func() {
			defer conn.Close()
			r.serve(ctx, conn, ch, port)
		})
	}
}

// serve connects a client with a channel of the kernel until one of them closes the connection. The kernel sees the
// client's ZeroMQ identity, by which it finds the client on its other channels. An error of a connection is its end.
// Heartbeats have no signature, so they do not get to the kernel: they are sent back until it ends.
func (r *relay) serve(ctx context.Context, conn net.Conn, ch channel, port int) {
	client, err := open(ch.name, conn, ch.kernel, "")
	if err != nil {
		r.reject(err)
		return
	}
	if ch.kernel != "ROUTER" {
		client.in.limit = handshakeLimit // nothing that comes here is signed
	}
	if ch.kernel == "REP" {
		client.receive(func(frames [][]byte) { _ = client.send(frames...) })
		return
	}
	kernel, err := dial(ctx, ch.name, r.inner, port, ch.client, client.zmtp.Peer.Meta["Identity"])
	if err != nil {
		return
	}
	client.patient = true // a kernel waits for a slow client
	if ch.kernel == "PUB" {
		r.subscribe(client)
		defer r.unsubscribe(client)
	}
	go func() {
		kernel.receive(func(frames [][]byte) { _ = client.send(frames...) })
		conn.Close()
	}()
	pass := subscribes
	if ch.kernel == "ROUTER" {
		pass = func(frames [][]byte) bool { return r.forward(client, frames) }
	}
	client.receive(func(frames [][]byte) {
		if pass(frames) {
			_ = kernel.send(frames...)
		}
	})
	kernel.conn.Close()
	<-kernel.done
}

// subscribes says whether a client of iopub sends a subscription or its end. Nothing else is for the kernel.
func subscribes(frames [][]byte) bool {
	return len(frames) == 1 && len(frames[0]) > 0 && frames[0][0] <= 1
}

// forward says whether a client's message is for the kernel. Relay's own requests are answered here.
func (r *relay) forward(client *socket, frames [][]byte) bool {
	m, err := r.session.decode(frames)
	if err != nil {
		r.reject(err)
		return false
	}
	answer := answers[m.header.Type]
	if answer == nil {
		r.history.add(m)
		return true
	}
	msgType, content := answer(r, m)
	r.clients.Go(func() { // a client that does not read must not hold up its own requests
		r.publish(m.header, "status", map[string]string{"execution_state": "busy"})
		if answer, err := r.session.encode(r.session.newHeader(msgType), &m.header, content); err == nil {
			_ = client.send(append(slices.Clone(routing(frames)), answer...)...)
		}
		r.publish(m.header, "status", map[string]string{"execution_state": "idle"})
	})
	return false
}

// publish sends a message to the iopub connections of all clients.
func (r *relay) publish(parent header, msgType string, content any) {
	frames, err := r.session.encode(r.session.newHeader(msgType), &parent, content)
	if err != nil {
		return
	}
	r.mu.Lock()
	subscribers := slices.Clone(r.subscribers)
	r.mu.Unlock()
	for _, s := range subscribers {
		_ = s.send(append([][]byte{[]byte(msgType)}, frames...)...)
	}
}

func (r *relay) subscribe(s *socket) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.subscribers = append(r.subscribers, s)
}

func (r *relay) unsubscribe(s *socket) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.subscribers = slices.DeleteFunc(r.subscribers, func(other *socket) bool { return other == s })
}

// reject notes the first dropped message or connection in the log.
func (r *relay) reject(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.rejected {
		r.log.note(fmt.Sprintf("dropped a client's message: %v", err))
	}
	r.rejected = true
}

// finish waits until the clients have the kernel's last messages, at most limits.sockets.
func (r *relay) finish() {
	done := make(chan struct{})
	go func() {
		r.clients.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(defaultLimits.sockets):
	}
}
