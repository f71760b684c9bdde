package jupyter

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"

	"github.com/go-zeromq/zmq4"
)

// stream is a connection whose peer has sent some bytes and closed it. What is written to it is dropped.
type stream struct {
	net.Conn
	in *bytes.Reader
}

func (s stream) Read(p []byte) (int, error)       { return s.in.Read(p) }
func (s stream) Write(p []byte) (int, error)      { return len(p), nil }
func (s stream) Close() error                     { return nil }
func (s stream) SetDeadline(time.Time) error      { return nil }
func (s stream) SetWriteDeadline(time.Time) error { return nil }

// greeting is that of ZMTP 3.0 without security.
func greeting() []byte {
	g := make([]byte, greetingSize)
	g[0], g[9], g[10] = 0xff, 0x7f, 3
	copy(g[12:], "NULL")
	return g
}

// ready is the command after the greeting, with the type of the peer's socket.
func ready(properties string) []byte {
	content := "\x05READY" + properties
	return append([]byte{4, byte(len(content))}, content...)
}

const asDealer = "\x0bSocket-Type\x00\x00\x00\x06DEALER"

// long is the header of a frame with a size of 8 bytes.
func long(flags byte, size uint64) []byte { return binary.BigEndian.AppendUint64([]byte{flags}, size) }

// hostile are bytes after a greeting: each would end a process that reads them with zmq4 alone, or take its memory.
var hostile = map[string][]byte{
	"READY of 1 TB":     long(6, 1<<40),
	"property too long": ready("\xffSocket-Type"),
	"property cut off":  ready("\x0bSocket-Type"),
	"1 TB":              append(ready(asDealer), long(2, 1<<40)...),
	"8 GB":              append(ready(asDealer), long(2, 1<<33)...),
	"65 MB":             append(ready(asDealer), long(2, 65<<20)...),
	"a part of 1 TB":    append(ready(asDealer), append([]byte{1, 1, 'x'}, long(3, 1<<40)...)...),
	"2^62":              append(ready(asDealer), long(2, 1<<62)...),
	"2^64 - 1":          append(ready(asDealer), long(2, 1<<64-1)...),
	"command of 1 TB":   append(ready(asDealer), long(6, 1<<40)...),
	"unknown flags":     append(ready(asDealer), 8, 1, 'x'),
}

// readAll reads all messages that a peer sends.
func readAll(data []byte) [][][]byte {
	s, err := open("shell", stream{in: bytes.NewReader(data)}, zmq4.Router, "")
	if err != nil {
		return nil
	}
	var all [][][]byte
	s.receive(func(frames [][]byte) { all = append(all, frames) })
	return all
}

// Messages up to the limit are those that were sent; a message of many frames is limited as a whole.
func TestFrames(t *testing.T) {
	big := bytes.Repeat([]byte("0123456789"), 1<<17)
	data := append(greeting(), ready(asDealer)...)
	data = append(data, 1, 1, 'a', 0, 0)
	data = append(append(data, long(3, uint64(len(big)))...), big...)
	data = append(data, 0, 1, 'b')
	data = append(data, 0, 1, 'c')
	want := [][][]byte{{[]byte("a"), {}}, {big, []byte("b")}, {[]byte("c")}}
	if got := readAll(data); !reflect.DeepEqual(got, want) {
		t.Errorf("received %d messages: %.100q", len(got), got)
	}

	f := newFrames(stream{in: bytes.NewReader(append(greeting(), bytes.Repeat([]byte{1, 0}, 1<<20)...))})
	n, err := io.Copy(io.Discard, f)
	if want := int64(greetingSize + 2*(handshakeLimit/frameCost)); n != want || err == nil {
		t.Errorf("of endless empty frames %d bytes were read instead of %d: %v", n, want, err)
	}
}

// FuzzFrames: no bytes of a peer panic or take more memory than a multiple of their own length, whatever size they
// name.
func FuzzFrames(f *testing.F) {
	for _, data := range hostile {
		f.Add(data)
	}
	f.Add([]byte{1, 1, 'a', 0, 1, 'b', 4, 5, 4, 'P', 'O', 'N', 'G', 0, 0})
	f.Add(append(ready(asDealer+"\x08Identity\x00\x00\x00\x02me"), 0, 1, 'x'))
	f.Fuzz(func(t *testing.T, data []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		readAll(append(greeting(), data...))
		runtime.ReadMemStats(&after)
		if took, allowed := after.TotalAlloc-before.TotalAlloc, 1<<20+100*uint64(len(data)); took > allowed {
			t.Fatalf("%d bytes took %d bytes of memory", len(data), took)
		}
	})
}

// Peers without the key do not end a kernel behind the relay, on any channel. GoNB's own sockets are out of their
// reach.
func TestRelayHostile(t *testing.T) {
	k := startFake(t, relaySpec(t, "well"), Options{})
	outer := outside(t, k)
	peers := []string{"DEALER", "SUB", "DEALER", "DEALER", "REQ"}
	for i, port := range outer.ports() {
		for name, data := range hostile {
			network, address := outer.address(*port) // vet fails on net.Dial(outer.address(*port))
			conn, err := net.Dial(network, address)
			demand.NoError(t, err)
			data = bytes.Replace(data, ready(asDealer), ready("\x0bSocket-Type\x00\x00\x00"+
				string(rune(len(peers[i])))+peers[i]), 1)
			conn.Write(append(greeting(), data...))
			conn.SetReadDeadline(time.Now().Add(20 * time.Second))
			if _, err := io.Copy(io.Discard, conn); os.IsTimeout(err) {
				t.Errorf("%s on %s: the connection stays open", name, channels[i].name)
			}
			conn.Close()
		}
	}
	if text, _ := execute(t, k, "echo alive"); text != "alive" {
		t.Errorf("after hostile data: %q", text)
	}

	text, _ := execute(t, k, "args")
	var inner connection
	if data, err := os.ReadFile(text); err != nil || json.Unmarshal(data, &inner) != nil {
		t.Fatalf("the kernel's connection file is %q: %v", text, err)
	}
	_, address := inner.address(inner.Shell)
	info, err := os.Stat(filepath.Dir(address))
	if err != nil || inner.Transport != "ipc" || info.Mode().Perm() != 0o700 || !strings.HasPrefix(address, k.dir) {
		t.Errorf("the kernel listens at %s %s: %v", inner.Transport, address, err)
	}
}
