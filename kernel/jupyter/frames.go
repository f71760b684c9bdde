package jupyter

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
)

const (
	handshakeLimit = 1 << 16 // bytes of a message before the end of the handshake, and of a heartbeat
	messageLimit   = 1 << 30 // bytes of a kernel's message after it
	requestLimit   = 1 << 26 // bytes of a client's message, which may come without a signature
	frameCost      = 64      // bytes that a frame counts beyond its content: many empty frames take memory, too

	greetingSize = 64 // in ZMTP 3, ZeroMQ's protocol
	frameMore    = 1
	frameLong    = 2
	frameFlags   = frameMore | frameLong | 4 // 4: a command
	keptBuffer   = 1 << 20                   // a larger buffer is released after its frame
)

// frames checks what the peer of a connection sends, before zmq4 reads it. zmq4 takes the memory for a frame when it
// has read the frame's size, which can be any number: a peer without the key could end the process. Here a message
// has a limit, and memory grows with the bytes that have arrived.
type frames struct {
	net.Conn
	r       *bufio.Reader // zmq4 makes several system calls per frame otherwise
	limit   uint64        // bytes of a message
	size    uint64        // of the message so far
	greeted bool
	part    bytes.Buffer // the greeting or a frame: complete, and not yet read by zmq4
}

func newFrames(conn net.Conn) *frames {
	return &frames{Conn: conn, r: bufio.NewReaderSize(conn, 1<<16), limit: handshakeLimit}
}

func (f *frames) Read(p []byte) (int, error) {
	if f.part.Len() == 0 {
		if err := f.next(); err != nil {
			return 0, err
		}
	}
	return f.part.Read(p)
}

// next reads the greeting or a frame: flags, the size in 1 or 8 bytes, and the content.
func (f *frames) next() error {
	if f.part.Reset(); f.part.Cap() > keptBuffer {
		f.part = bytes.Buffer{}
	}
	if !f.greeted {
		f.greeted = true
		return f.take(greetingSize)
	}
	if err := f.take(2); err != nil {
		return err
	}
	flags, size := f.part.Bytes()[0], uint64(f.part.Bytes()[1])
	if flags > frameFlags {
		return fmt.Errorf("the peer sends a frame with unknown flags %#x", flags)
	}
	if flags&frameLong != 0 {
		if err := f.take(7); err != nil {
			return err
		}
		size = binary.BigEndian.Uint64(f.part.Bytes()[1:])
	}
	if size > f.limit || f.size+size+frameCost > f.limit {
		return fmt.Errorf("the peer sends a message of more than %d bytes", f.limit)
	}
	if f.size += size + frameCost; flags&frameMore == 0 {
		f.size = 0
	}
	return f.take(int64(size))
}

func (f *frames) take(n int64) error {
	_, err := io.CopyN(&f.part, f.r, n)
	return err
}
