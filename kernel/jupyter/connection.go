package jupyter

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

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

func (c *connection) ports() []*int {
	return []*int{&c.Shell, &c.IOPub, &c.Stdin, &c.Control, &c.Heartbeat}
}

// write writes the connection file. Only this user can read it, because it contains the key. Kernels take their id from
// its name, kernel-ID.json.
func (c *connection) write(file string) error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o600)
}

// readConnection reads a connection file that a client wrote. Ports and addresses that are not valid fail in listen.
func readConnection(file string) (connection, error) {
	var c connection
	data, err := os.ReadFile(file)
	if err != nil {
		return connection{}, fmt.Errorf("cannot read the connection file: %w", err)
	}
	if err = json.Unmarshal(data, &c); err != nil {
		return connection{}, fmt.Errorf("%s is not a connection file of Jupyter: %w", file, err)
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
