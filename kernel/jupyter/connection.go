package jupyter

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// loopback is the address on which kernels listen.
const loopback = "127.0.0.1"

// connection is the content of a connection file.
type connection struct {
	Shell     int    `json:"shell_port"`
	IOPub     int    `json:"iopub_port"`
	Stdin     int    `json:"stdin_port"`
	Control   int    `json:"control_port"`
	Heartbeat int    `json:"hb_port"`
	IP        string `json:"ip"`
	Key       string `json:"key"`
	Transport string `json:"transport"`
	Scheme    string `json:"signature_scheme"`
	Kernel    string `json:"kernel_name"`
}

// newConnection picks five free ports. It keeps each port open until all are picked, so they differ. Another process
// may still take one before the kernel does.
func newConnection(kernel string, s session) (connection, error) {
	c := connection{IP: loopback, Key: string(s.key), Transport: "tcp", Scheme: "hmac-sha256", Kernel: kernel}
	for _, port := range c.ports() {
		l, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
		if err != nil {
			return connection{}, fmt.Errorf("cannot find a free port for the kernel: %w", err)
		}
		defer l.Close()
		*port = l.Addr().(*net.TCPAddr).Port
	}
	return c, nil
}

// maxSocketPath is the longest path of a Unix socket, on every system.
const maxSocketPath = 100

// newPrivateConnection picks sockets in a folder that only this user can open, so no other user can reach the kernel.
// Where a path would be too long it picks ports.
func newPrivateConnection(kernel string, s session, dir string) (connection, error) {
	c := connection{IP: filepath.Join(dir, "s"), Key: string(s.key), Transport: "ipc", Scheme: "hmac-sha256",
		Kernel: kernel, Shell: 1, IOPub: 2, Stdin: 3, Control: 4, Heartbeat: 5}
	if _, address := c.address(c.Shell); len(address) > maxSocketPath {
		return newConnection(kernel, s)
	}
	return c, nil
}

// ports returns the five fields that hold ports.
func (c *connection) ports() []*int {
	return []*int{&c.Shell, &c.IOPub, &c.Stdin, &c.Control, &c.Heartbeat}
}

// taken says whether one of the ports is in use.
func (c *connection) taken() bool {
	for _, port := range c.ports() {
		l, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(*port)))
		if err != nil {
			return true
		}
		l.Close()
	}
	return false
}

// write writes the connection file and returns its path. Kernels take their id from its name, kernel-ID.json.
func (c *connection) write(dir, id string) (string, error) {
	file := filepath.Join(dir, "kernel-"+id+".json")
	return file, c.writeTo(file)
}

// writeTo writes the connection file. Only this user can read it, because it contains the key.
func (c *connection) writeTo(file string) error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o600)
}

// maxConnection is the largest size of a connection file.
const maxConnection = 1 << 16

// readConnection reads a connection file that a client wrote.
func readConnection(file string) (connection, error) {
	f, err := os.Open(file)
	if err != nil {
		return connection{}, fmt.Errorf("cannot read the connection file: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxConnection+1))
	if err != nil {
		return connection{}, fmt.Errorf("cannot read the connection file: %w", err)
	}
	c, err := parseConnection(data)
	if err != nil {
		return connection{}, fmt.Errorf("%s is not a connection file of Jupyter: %w", file, err)
	}
	return c, nil
}

// hostName matches the name of a computer.
var hostName = regexp.MustCompile(`^[A-Za-z0-9.-]+$`)

// parseConnection decodes a connection file. It refuses ports that are invalid or equal, and other transports,
// signatures and addresses than Jupyter's.
func parseConnection(data []byte) (connection, error) {
	var c connection
	if len(data) > maxConnection {
		return connection{}, fmt.Errorf("it is larger than %d bytes", maxConnection)
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return connection{}, err
	}
	if c.Transport != "tcp" && c.Transport != "ipc" {
		return connection{}, fmt.Errorf("transport is %q; it must be tcp or ipc", c.Transport)
	}
	if c.Scheme != "hmac-sha256" && (c.Scheme != "" || c.Key != "") {
		return connection{}, fmt.Errorf("signature_scheme is %q; it must be hmac-sha256", c.Scheme)
	}
	_, err := netip.ParseAddr(c.IP)
	if c.IP == "" || c.Transport == "tcp" && c.IP != "*" && err != nil && !hostName.MatchString(c.IP) {
		return connection{}, fmt.Errorf("ip is %q; it must be an address", c.IP)
	}
	seen := map[int]bool{}
	for _, port := range c.ports() {
		if *port < 1 || *port > 65535 || seen[*port] {
			return connection{}, fmt.Errorf("port %d is not valid, or named twice", *port)
		}
		seen[*port] = true
	}
	return c, nil
}

// address is where a kernel listens, for package net.
func (c *connection) address(port int) (network, address string) {
	if c.Transport == "ipc" {
		return "unix", fmt.Sprintf("%s-%d", c.IP, port)
	}
	return "tcp", net.JoinHostPort(strings.TrimPrefix(c.IP, "*"), strconv.Itoa(port))
}

// listen opens the five ports, in the order of ports. If it fails, none stays open.
func (c *connection) listen() ([]net.Listener, error) {
	var all []net.Listener
	for _, port := range c.ports() {
		l, err := net.Listen(c.address(*port))
		if err != nil {
			closeAll(all)
			return nil, fmt.Errorf("cannot listen for clients: %w", err)
		}
		all = append(all, l)
	}
	return all, nil
}

func closeAll(listeners []net.Listener) {
	for _, l := range listeners {
		l.Close()
	}
}
