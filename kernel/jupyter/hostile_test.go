package jupyter

import (
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
)

// greeting is that of ZMTP 3.0 without security.
func greeting() []byte {
	g := make([]byte, 64)
	g[0], g[9], g[10] = 0xff, 0x7f, 3
	copy(g[12:], "NULL")
	return g
}

// ready is the command after the greeting.
func ready(properties string) []byte {
	content := "\x05READY" + properties
	return append([]byte{4, byte(len(content))}, content...)
}

// hostile are bytes after a greeting that would end a process that reads them with zmq4 alone.
var hostile = map[string][]byte{
	"property too long": ready("\xffSocket-Type"),
	"property cut off":  ready("\x0bSocket-Type"),
}

// Peers without the key do not end a kernel behind the relay, on any channel. GoNB's own sockets are out of their
// reach.
func TestRelayHostile(t *testing.T) {
	k := startFake(t, relaySpec(t, "well"), Options{})
	outer := outside(t, k)
	for i, port := range outer.ports() {
		for name, data := range hostile {
			network, address := outer.address(*port) // vet fails on net.Dial(outer.address(*port))
			conn, err := net.Dial(network, address)
			demand.NoError(t, err)
			conn.Write(append(greeting(), data...))
			conn.SetReadDeadline(time.Now().Add(20 * time.Second))
			if _, err := io.Copy(io.Discard, conn); os.IsTimeout(err) {
				t.Errorf("%s on %s: the connection stays open", name, channels[i].name)
			}
			conn.Close()
		}
	}
	prints(t, k, "echo alive", "alive")

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
