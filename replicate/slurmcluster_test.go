//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"text/template"
	"time"

	"tvps/ci/demand"
)

// slurm is a running Slurm on one host with the nodes n1, n2 and n3 of two processors each. n3 has what Slurm takes for
// a GPU. The partitions are cpu, of all nodes and the default, and gpu, of n3.
type slurm struct {
	dir  string // of its configuration, logs and state
	env  []string
	tb   testing.TB
	host string
}

//go:embed testdata/slurm.conf
var configuration string

// startSlurm starts a cluster that ends with the test, with all jobs and their processes. It skips the test unless the
// environment variable TVPS_SLURM is set, Slurm's programs and munge are installed (Debian's packages are slurm-wlm and
// munge), and they can be started here.
func startSlurm(tb testing.TB) *slurm {
	tb.Helper()
	if os.Getenv("TVPS_SLURM") == "" {
		tb.Skip("TVPS_SLURM is not set: no Slurm is started")
	}
	for _, program := range []string{"slurmctld", "slurmd", "munged", "sbatch", "scontrol"} {
		if _, err := exec.LookPath(program); err != nil {
			tb.Skipf("%v: install the packages slurm-wlm and munge", err)
		}
	}
	// Not tb.TempDir: the path of a Unix socket has at most 107 bytes.
	dir, err := os.MkdirTemp("", "slurm-")
	demand.NoError(tb, err)
	host, err := os.Hostname()
	demand.NoError(tb, err)
	host, _, _ = strings.Cut(host, ".")
	c := &slurm{dir: dir, tb: tb, host: host, env: append(os.Environ(), "SLURM_CONF="+filepath.Join(dir, "slurm.conf"))}
	tb.Cleanup(c.stop)
	c.configure()
	c.start("munged", "--force", "--key-file="+c.path("munge.key"), "--socket="+c.path("munge.socket"),
		"--pid-file="+c.path("munged.pid"), "--log-file="+c.path("munged.log"), "--seed-file="+c.path("munge.seed"))
	c.start("slurmctld", "-c")
	for _, node := range slurmNodes {
		c.start("slurmd", "-N", node)
	}
	idle := func() bool {
		out, err := c.command("sinfo", "-h", "-N", "-p", "cpu", "-o", "%t").Output()
		return err == nil && strings.Count(string(out), "idle") == len(slurmNodes)
	}
	for end := time.Now().Add(time.Minute); !idle(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			tb.Skipf("Slurm does not run here: no three idle nodes after a minute\n%s", c.log())
		}
	}
	return c
}

// start starts a daemon. It skips the test if that fails.
func (c *slurm) start(name string, arguments ...string) {
	c.tb.Helper()
	if out, err := c.command(name, arguments...).CombinedOutput(); err != nil {
		c.tb.Skipf("%s cannot be started here: %v\n%s%s", name, err, out, c.log())
	}
}

// log returns the end of the controller's log.
func (c *slurm) log() []byte {
	text, _ := os.ReadFile(c.path("slurmctld.log"))
	return text[max(0, len(text)-3000):]
}

// slurmNodes are the names of the nodes.
var slurmNodes = []string{"n1", "n2", "n3"}

func (c *slurm) path(name string) string { return filepath.Join(c.dir, name) }

// configure writes slurm.conf, gres.conf and munge's key.
func (c *slurm) configure() {
	me, err := user.Current()
	demand.NoError(c.tb, err)
	var ports []int
	var held []net.Listener
	for range 1 + len(slurmNodes) { // held together, or the same one could come twice
		l, err := net.Listen("tcp", "127.0.0.1:0")
		demand.NoError(c.tb, err)
		held = append(held, l)
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	for _, l := range held {
		l.Close()
	}
	type node struct {
		Name string
		Port int
	}
	var nodes []node
	for i, name := range slurmNodes {
		nodes = append(nodes, node{name, ports[1+i]})
	}
	var text bytes.Buffer
	parsed := template.Must(template.New("slurm.conf").Parse(configuration))
	err = parsed.Execute(&text, map[string]any{"Dir": c.dir, "Host": c.host, "User": me.Username, "Port": ports[0],
		"Nodes": nodes})
	demand.NoError(c.tb, err)
	key := make([]byte, 1024)
	rand.Read(key)
	for name, content := range map[string][]byte{"slurm.conf": text.Bytes(), "munge.key": key,
		"gres.conf": []byte("NodeName=n3 Name=gpu File=/dev/null\n")} {
		demand.NoError(c.tb, os.WriteFile(c.path(name), content, 0o600))
	}
	for _, folder := range append([]string{"state"}, slurmNodes...) {
		demand.NoError(c.tb, os.Mkdir(c.path(folder), 0o755))
	}
}

// stopNode kills the daemon of a node and all processes of its jobs, as a power failure does.
func (c *slurm) stopNode(node string) {
	c.kill("slurmd." + node + ".pid")
	var jobs []int
	here := demand.Processes("SLURM_CONF", c.path("slurm.conf"))
	for _, name := range demand.Processes("SLURMD_NODENAME", node) {
		if pid, err := strconv.Atoi(name); err == nil && slices.Contains(here, name) {
			jobs = append(jobs, pid)
		}
	}
	for _, pid := range jobs { // first Slurm's own, which would report that a job has ended
		if parent, name := parentOf(pid); strings.HasPrefix(name, "slurmstepd") {
			syscall.Kill(parent, syscall.SIGKILL)
		}
	}
	for _, pid := range jobs {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// command is a command of Slurm, or one that calls such commands, for this cluster.
func (c *slurm) command(name string, arguments ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.WithoutCancel(c.tb.Context()), name, arguments...)
	cmd.Env = c.env
	return cmd
}

// wait waits until done returns true. The test fails if it does not within the limit.
func (c *slurm) wait(limit time.Duration, what string, done func() bool) {
	c.tb.Helper()
	for end := time.Now().Add(limit); !done(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			jobs, _ := c.command("squeue", "-a").Output()
			c.tb.Fatalf("no %s within %s\n%s%s", what, limit, jobs, c.log())
		}
	}
}

// stop ends jobs, daemons and munge, and removes the folder.
func (c *slurm) stop() {
	_ = c.command("scancel", "-u", fmt.Sprint(os.Getuid())).Run()
	for _, node := range slurmNodes {
		c.stopNode(node)
	}
	c.kill("slurmctld.pid")
	c.kill("munged.pid")
	os.RemoveAll(c.dir)
}

// kill kills the process whose number a file has.
func (c *slurm) kill(file string) {
	text, _ := os.ReadFile(c.path(file))
	var pid int
	if _, err := fmt.Sscan(string(text), &pid); err == nil {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// parentOf returns the parent of a process and the parent's command line.
func parentOf(pid int) (parent int, name string) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(status), "\nPPid:")
	_, _ = fmt.Sscan(rest, &parent)
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", parent))
	return parent, string(text)
}
