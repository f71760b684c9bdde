package jupyter

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"
)

const (
	redialEvery   = 10 * time.Millisecond // while the kernel does not listen yet
	handshakeTime = 5 * time.Second       // for ZeroMQ's handshake after connecting
)

// sendTime is the limit for handing a message to the operating system. Tests shorten it.
var sendTime = 30 * time.Second

// socket is one ZeroMQ connection to a kernel. It uses zmq4's connections instead of its sockets: a connection
// reports that the peer closed it, has no queue (so a slow reader slows the kernel, and memory stays bounded) and
// leaves no goroutines behind.
type socket struct {
	name string // such as shell
	conn net.Conn
	zmtp *zmq4.Conn
	done chan struct{} // closed when receive has returned

	patient bool // send waits without a limit
	sending sync.Mutex
}

// dial connects to a port of a connection file. It tries again until the kernel listens or ctx ends.
func dial(ctx context.Context, name string, c connection, port int, kind zmq4.SocketType, identity string) (*socket,
	error) {
	network, address := c.address(port)
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err == nil {
			return open(name, conn, kind, identity)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the kernel does not listen on its %s port: %w", name, context.Cause(ctx))
		case <-time.After(redialEvery):
		}
	}
}

// open performs ZeroMQ's handshake with the peer.
func open(name string, conn net.Conn, kind zmq4.SocketType, identity string) (*socket, error) {
	conn.SetDeadline(time.Now().Add(handshakeTime))
	s := &socket{name: name, conn: conn, done: make(chan struct{})}
	if err := s.handshake(kind, identity); err != nil {
		conn.Close()
		return nil, fmt.Errorf("the %s port does not speak ZeroMQ: %w", name, err)
	}
	conn.SetDeadline(time.Time{})
	return s, nil
}

func (s *socket) handshake(kind zmq4.SocketType, identity string) (err error) {
	defer recovered(&err)
	s.zmtp, err = zmq4.Open(buffered{s.conn, bufio.NewReaderSize(s.conn, 1<<16)}, null.Security(), kind, zmq4.SocketIdentity(identity), false, nil)
	return err
}

// buffered reads a connection in large pieces: zmq4 makes several system calls for each frame.
type buffered struct {
	net.Conn
	r *bufio.Reader
}

func (b buffered) Read(p []byte) (int, error) { return b.r.Read(p) }

// recovered turns a panic of zmq4, which occurs on invalid data, into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("invalid ZeroMQ data: %v", p)
	}
}

func (s *socket) send(frames ...[]byte) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	limit := time.Time{} // none
	if !s.patient {
		limit = time.Now().Add(sendTime)
	}
	s.conn.SetWriteDeadline(limit)
	if err := s.zmtp.SendMsg(zmq4.NewMsgFrom(frames...)); err != nil {
		return fmt.Errorf("cannot send on the %s socket: %w", s.name, err)
	}
	return nil
}

// receive passes each message to handle until the connection ends. Invalid data ends the connection, too.
func (s *socket) receive(handle func(frames [][]byte)) {
	defer close(s.done)
	defer s.conn.Close()
	for {
		msg, err := s.next()
		if err != nil {
			return
		}
		if msg.Type == zmq4.UsrMsg {
			handle(msg.Frames)
		}
	}
}

func (s *socket) next() (msg zmq4.Msg, err error) {
	defer recovered(&err)
	return s.zmtp.RecvMsg()
}
