package jupyter

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"
)

const (
	redialEvery   = 10 * time.Millisecond // while the kernel does not listen yet
	handshakeTime = 5 * time.Second       // for ZeroMQ's handshake after connecting
	sendTime      = 30 * time.Second      // for handing a message to the operating system
)

// socket is one ZeroMQ connection to a kernel. It uses zmq4's connections instead of its sockets: a connection
// reports that the peer closed it, has no queue (so a slow reader slows the kernel, and memory stays bounded) and
// leaves no goroutines behind.
type socket struct {
	name string // such as shell
	tcp  net.Conn
	zmtp *zmq4.Conn
	done chan struct{} // closed when receive has returned

	patient bool // send waits without a limit
	sending sync.Mutex
}

// buffered reads from a connection in large pieces, because zmq4 makes several system calls per frame.
type buffered struct {
	net.Conn
	r *bufio.Reader
}

func (b buffered) Read(p []byte) (int, error) { return b.r.Read(p) }

// dial connects to a local port. It tries again until the kernel listens or ctx ends.
func dial(ctx context.Context, name string, port int, kind zmq4.SocketType, identity string) (*socket, error) {
	address := net.JoinHostPort(loopback, strconv.Itoa(port))
	for {
		tcp, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			return open(name, tcp, kind, identity)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the kernel does not listen on its %s port: %w", name, context.Cause(ctx))
		case <-time.After(redialEvery):
		}
	}
}

// open performs ZeroMQ's handshake with the peer.
func open(name string, tcp net.Conn, kind zmq4.SocketType, identity string) (*socket, error) {
	tcp.SetDeadline(time.Now().Add(handshakeTime))
	conn := buffered{tcp, bufio.NewReaderSize(tcp, 1<<16)}
	zmtp, err := zmq4.Open(conn, null.Security(), kind, zmq4.SocketIdentity(identity), false, nil)
	if err != nil {
		tcp.Close()
		return nil, fmt.Errorf("the %s port does not speak ZeroMQ: %w", name, err)
	}
	tcp.SetDeadline(time.Time{})
	return &socket{name: name, tcp: tcp, zmtp: zmtp, done: make(chan struct{})}, nil
}

// send writes one message.
func (s *socket) send(frames ...[]byte) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	if !s.patient {
		s.tcp.SetWriteDeadline(time.Now().Add(sendTime))
	}
	if err := s.zmtp.SendMsg(zmq4.NewMsgFrom(frames...)); err != nil {
		return fmt.Errorf("cannot send on the %s socket: %w", s.name, err)
	}
	return nil
}

// receive passes each message to handle until the connection ends. Invalid data ends the connection, too.
func (s *socket) receive(handle func(frames [][]byte)) {
	defer close(s.done)
	defer s.tcp.Close()
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

// next reads one message. It turns a panic of zmq4, which occurs on impossible frame sizes, into an error.
func (s *socket) next() (msg zmq4.Msg, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("invalid ZeroMQ message on the %s socket: %v", s.name, p)
		}
	}()
	return s.zmtp.RecvMsg()
}
