package jupyter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"tvps/data/artifact"

	"github.com/go-zeromq/zmq4"
	"github.com/google/uuid"
)

const (
	acceptPause = 100 * time.Millisecond // after a client that could not be accepted
	parentEvery = time.Second            // between two looks at the parent process
	termTime    = time.Second            // for a kernel to end after SIGTERM, before it is killed
)

// Relay runs a GoNB kernel as its child, for the clients of a connection file. In argv it replaces the name of that
// file by that of another one, with other ports, and passes all messages. It adds what GoNB lacks:
//
//   - it answers what GoNB does not (see answers), and corrects messages (see request and publication);
//   - it drops messages that are malformed or have a wrong signature, and cells that are too large: they would end
//     GoNB. It answers heartbeats, which have no signature, and GoNB listens in a folder of this user only;
//   - it lets one cell run at a time, so that an error or an interrupt stops those that wait (see queue);
//   - it ends the kernel and all processes that the kernel started when the process that started Relay is gone, when
//     Relay's own process is killed, and at SIGTERM and SIGHUP.
//
// Relay's notes go to w, and the kernel's last messages if it fails. Relay returns the kernel's exit code. An error
// means that the kernel was not started. It must be called by the main goroutine, locked to its thread.
func Relay(connectionFile string, argv []string, w io.Writer) (code int, err error) {
	signal.Ignore(syscall.SIGPIPE) // whoever reads our log may end before us
	if u, err := user.Current(); err == nil && os.Getenv("HOME") == "" {
		_ = os.Setenv("HOME", u.HomeDir) // Go needs it, and kernel gateways may not have it
	}
	signals := make(chan os.Signal, 10)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP, os.Interrupt)
	defer signal.Stop(signals)
	l, guard := &log{to: w}, os.Getenv(guarded)
	adopt()
	if guard == "" {
		return guardRelay(signals, l)
	}
	_ = os.Unsetenv(guarded)
	gone := func() bool { return strconv.Itoa(os.Getppid()) != guard }
	return relayKernel(connectionFile, argv, l, signals, gone)
}

// relayKernel does what Relay does, in the process that guardRelay starts.
func relayKernel(
	connectionFile string, argv []string, l *log, signals <-chan os.Signal, gone func() bool,
) (code int, err error) {
	if root := os.Getenv("TVPS_ROOT"); root != "" {
		if _, err := os.Stat(root); err != nil {
			return 0, fmt.Errorf("the checkout %s is gone: run `go run ./kernel install` in the new one", root)
		}
	}
	outer, err := readConnection(connectionFile)
	if err != nil {
		return 0, err
	}
	listeners, err := outer.listen()
	if err != nil {
		return 0, err
	}
	defer closeAll(listeners)
	r := &relay{session: session{id: uuid.NewString(), key: []byte(outer.Key)}, log: l, ready: make(chan struct{}), subscribed: make(chan struct{})}
	dir := os.Getenv(guardFolder)
	defer os.RemoveAll(dir) // the guard may have been killed
	_ = os.Unsetenv(guardFolder)
	if r.inner, err = newPrivateConnection(outer.Kernel, r.session, dir); err != nil {
		return 0, err
	}
	r.dir, l.quiet = dir, true
	file := filepath.Join(dir, filepath.Base(connectionFile)) // GoNB takes the kernel's id from the name
	if err := r.inner.write(file); err != nil {
		return 0, fmt.Errorf("cannot write the connection file: %w", err)
	}
	argv = slices.Clone(argv)
	for i, arg := range argv {
		if arg == connectionFile {
			argv[i] = file
		}
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	if socket := filepath.Join(dir, "gonb_12345678", "gopls_socket"); len(socket) <= maxSocketPath {
		cmd.Env = append(os.Environ(), "TMPDIR="+dir) // what GoNB and killed compilers leave there goes with it
	}
	p, err := launch(cmd, r.log, artifact.InOurGroup)
	if err != nil {
		return 0, fmt.Errorf("cannot start the kernel (%w): run `go run ./kernel install`", err)
	}
	r.pid = p.cmd.Process.Pid
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r.clients.Go(func() { r.broadcast(ctx) })
	go r.prepare(ctx)
	for i, ch := range channels {
		go r.accept(ctx, listeners[i], ch, *r.inner.ports()[i])
	}
	p.wait(signals, gone, termTime, func() error { return nil }) // the kernel gets interrupts, too
	cancel()
	closeAll(listeners)
	r.finish()
	killAdopted()
	return p.code(), nil
}

// wait returns when the process has ended. It ends it at SIGTERM or SIGHUP, and when the client is gone.
func (p *running) wait(signals <-chan os.Signal, gone func() bool, patience time.Duration, interrupt func() error) {
	look := time.NewTicker(parentEvery)
	defer look.Stop()
	for end := false; !end; {
		select {
		case <-p.exited:
			if p.code() != 0 && p.log.quiet {
				p.log.note(fmt.Sprint("the kernel ended: ", p.cmd.ProcessState, p.log.lastLines()))
			}
			return
		case s := <-signals:
			if end = s != os.Interrupt; !end {
				_ = interrupt()
			}
		case <-look.C:
			end = gone()
		}
	}
	p.end(patience)
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
	dir     string // for files, until the relay ends
	pid     int    // of the kernel
	queue   queue

	mu          sync.Mutex
	subscribers []*socket     // the clients' iopub connections
	ready       chan struct{} // closed when the kernel's messages on iopub arrive
	subscribed  chan struct{} // closed when a client wants them
	ended       bool          // the kernel's iopub connection
	clients     sync.WaitGroup

	publishing sync.Mutex  // held while a message goes to all subscribers
	crash      crash       // of the running cell
	explains   atomic.Bool // GoNB is connected with gopls
	count      atomic.Int64
}

// accept serves all clients of one channel until its listener is closed. After another error, such as too many open
// files, it tries again.
func (r *relay) accept(ctx context.Context, l net.Listener, ch channel, port int) {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			r.log.reject(err)
			time.Sleep(acceptPause)
			continue
		}
		r.clients.Go(func() {
			defer conn.Close()
			r.serve(ctx, conn, ch, port)
		})
	}
}

// serve connects a client with a channel of the kernel until one of them closes the connection. The kernel sees the
// client's ZeroMQ identity, by which it finds the client on its other channels. An error of a connection is its end.
// Heartbeats have no signature, so they do not get to the kernel: they are sent back until it ends. The messages of
// iopub come to all clients from one connection: see broadcast. GoNB replies to requests of the control channel on its
// shell channel, by the identity: so they go there, with an identity of their own.
func (r *relay) serve(ctx context.Context, conn net.Conn, ch channel, port int) {
	client, err := open(ch.name, conn, ch.kernel, "")
	if err != nil {
		r.log.reject(err)
		return
	}
	switch ch.kernel {
	case "REP":
		client.receive(func(frames [][]byte) { _ = client.send(frames...) })
		return
	case "PUB":
		client.receive(func(frames [][]byte) {
			if len(frames) == 1 && bytes.HasPrefix(frames[0], []byte{1}) {
				r.subscribe(client, string(frames[0][1:]))
			}
		})
		r.unsubscribe(client)
		return
	}
	identity := client.zmtp.Peer.Meta["Identity"]
	if ch.name == "control" {
		port, identity = r.inner.Shell, uuid.NewString()
	}
	kernel, err := dial(ctx, ch.name, r.inner, port, ch.client, identity)
	if err != nil {
		return
	}
	r.heard(ctx)
	client.patient = true
	go func() {
		kernel.receive(func(frames [][]byte) { r.reply(client, frames) })
		conn.Close()
	}()
	client.receive(func(frames [][]byte) {
		if frames = r.request(client, kernel, frames); frames != nil {
			_ = kernel.send(frames...)
		}
	})
	for r.queue.holds(kernel) { // cells go on without their client
		select {
		case <-kernel.done:
			return
		case <-time.After(lookEvery):
		}
	}
	kernel.conn.Close()
	<-kernel.done
}

// heard waits until what the kernel publishes arrives here, and until a client hears it: a client would wait for ever
// for the end of a cell whose outputs are lost. ZeroMQ may connect its channels in any order.
func (r *relay) heard(ctx context.Context) {
	late := time.After(handshakeTime) // a client that does not listen
	for _, ready := range []chan struct{}{r.ready, r.subscribed} {
		select {
		case <-ready:
		case <-late:
		case <-ctx.Done():
		}
	}
}

// broadcast passes what the kernel publishes to all clients, until the kernel closes its connection.
func (r *relay) broadcast(ctx context.Context) {
	if kernel, err := dial(ctx, "iopub", r.inner, r.inner.IOPub, zmq4.Sub, ""); err == nil {
		_ = kernel.send([]byte{1}) // subscribe to everything
		ready := sync.OnceFunc(func() { close(r.ready) })
		kernel.receive(func(frames [][]byte) {
			r.publication(frames)
			ready()
		})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.subscribers {
		s.conn.Close()
	}
	r.ended = true
}

// publish sends a message of the relay to the iopub connections of all clients. The caller holds publishing.
func (r *relay) publish(parent header, msgType string, content any) {
	frames := r.session.encode(r.session.newHeader(msgType), &parent, content)
	r.toAll(append([][]byte{[]byte(msgType)}, frames...))
}

// toAll sends a message to the iopub connections of all clients. A client that does not read holds up the kernel, as
// its messages must not be lost. If there are others, its connection is closed after sendTime: it can come back.
func (r *relay) toAll(frames [][]byte) {
	r.mu.Lock()
	subscribers := slices.Clone(r.subscribers)
	r.mu.Unlock()
	for _, s := range subscribers {
		if s.patient = len(subscribers) == 1; s.send(frames...) != nil {
			s.conn.Close()
		}
	}
}

// subscribe adds a client of iopub and welcomes it, as JEP 65 demands. From now on no other client may hold up the
// kernel for more than sendTime.
func (r *relay) subscribe(s *socket, topic string) {
	content := map[string]string{"subscription": topic}
	frames := r.session.encode(r.session.newHeader("iopub_welcome"), nil, content)
	_ = s.send(append([][]byte{[]byte(topic)}, frames...)...)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, other := range r.subscribers {
		other.conn.SetWriteDeadline(time.Now().Add(sendTime))
	}
	select {
	case <-r.subscribed:
	default:
		close(r.subscribed)
	}
	if r.subscribers = append(r.subscribers, s); r.ended {
		s.conn.Close()
	}
}

func (r *relay) unsubscribe(s *socket) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.subscribers = slices.DeleteFunc(r.subscribers, func(other *socket) bool { return other == s })
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
