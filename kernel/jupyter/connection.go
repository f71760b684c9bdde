package jupyter

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
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

// write writes the connection file and returns its path. Only this user can read it, because it contains the key.
// Kernels take their id from its name, kernel-ID.json.
func (c *connection) write(dir, id string) (string, error) {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "kernel-"+id+".json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return "", err
	}
	return file, nil
}
