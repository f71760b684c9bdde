package jupyter

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"

	"github.com/go-zeromq/zmq4"
)

// relayArgument makes the test binary a relay before a fake kernel, or before the command that follows.
const relayArgument = "relay"

func init() {
	if len(os.Args) > 1 && os.Args[1] == relayArgument {
		runtime.LockOSThread()
	}
}

func TestMain(m *testing.M) {
	sendTime, killAfter = 2*time.Second, time.Hour
	if os.Getenv("FAKE_KILLS") != "" {
		killAfter = time.Second
	}
	if len(os.Args) > 2 && os.Args[1] == relayArgument {
		argv := os.Args[3:]
		if len(argv) == 0 {
			argv = []string{os.Args[0], os.Args[2]}
		}
		code, err := Relay(os.Args[2], argv, os.Stderr)
		check(err)
		os.Exit(code)
	}
	if os.Getenv("FAKE_START") == "client" {
		client()
	}
	if os.Getenv("FAKE_START") != "" {
		fakeKernel(os.Args[len(os.Args)-1])
		return
	}
	defaultLimits = limits{
		start:      time.Minute,
		incomplete: 500 * time.Millisecond,
		interrupt:  30 * time.Second,
		shutdown:   2 * time.Second,
		sockets:    500 * time.Millisecond,
	}
	os.Exit(m.Run())
}

// client starts a fake kernel, behind a relay with a process in a group of its own, prints a message, and waits until
// it is killed. Then nobody reads the relay's log.
func client() {
	spec := Spec{
		Name: "fake",
		Argv: []string{os.Args[0], "{connection_file}"},
		Env:  map[string]string{"FAKE_START": "well"},
	}
	spec.Argv = append(strings.Fields(os.Getenv("FAKE_BEFORE")), spec.Argv...)
	k, err := Start(context.Background(), spec, Options{})
	check(err)
	if os.Getenv("FAKE_BEFORE") != "" {
		_, err = k.Execute(context.Background(), "daemon", func(Output) {})
		check(err)
	}
	fmt.Print("started")
	time.Sleep(longTime)
}

// fakeSpec is the kernelspec of the fake kernel; start selects how it starts. Its processes are marked by their
// environment, so they can be counted.
func fakeSpec(t testing.TB, start string) Spec {
	program, err := os.Executable()
	demand.NoError(t, err)
	return Spec{
		Name: "fake", Dir: t.TempDir(), Argv: []string{program, "{connection_file}"}, InterruptMode: "signal",
		Env: map[string]string{"FAKE_START": start, "FAKE_DIR": t.TempDir(), "FAKE_TEST": marker(t),
			"GORACE": "atexit_sleep_ms=0"}, // otherwise each fake takes a second to end under -race
	}
}

// startFake starts a fake kernel. At the end of the test it checks that nothing is left.
func startFake(t testing.TB, spec Spec, o Options) *Kernel {
	t.Helper()
	noLeftovers(t)
	k, err := Start(context.Background(), spec, o)
	demand.NoError(t, err)
	t.Cleanup(func() { demand.NoError(t, k.Close()) })
	return k
}

// noLeftovers checks, after the test and all cleanups that are registered later, that there are no more goroutines
// than now, no temporary files, and no processes of the test's fake kernels.
func noLeftovers(t testing.TB) {
	t.Helper()
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		left := leftovers(t, before, tmp)
		for end := time.Now().Add(5 * time.Second); left != "" && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond)
			left = leftovers(t, before, tmp)
		}
		demand.Equal(t, left, "", "left behind")
	})
}

// leftovers describes what is left; empty if nothing is.
func leftovers(t testing.TB, goroutines int, tmp string) string {
	if files, _ := filepath.Glob(filepath.Join(tmp, "*")); len(files) > 0 {
		return "temporary files " + strings.Join(files, ", ")
	}
	if p := fakeProcesses(t); len(p) > 0 {
		return "processes " + strings.Join(p, ", ")
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		stacks := make([]byte, 1<<16)
		return fmt.Sprintf("%d goroutines more than before\n%s", n-goroutines, stacks[:runtime.Stack(stacks, true)])
	}
	return ""
}

// marker is the value of FAKE_TEST in the environment of a test's processes.
func marker(t testing.TB) string { return fmt.Sprintf("%s of %d", t.Name(), os.Getpid()) }

// fakeProcesses are the running processes of a test.
func fakeProcesses(t testing.TB) []string { return demand.Processes("FAKE_TEST", marker(t)) }

// outside is how clients reach a kernel behind the relay.
func outside(t testing.TB, k *Kernel) connection {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(k.dir, "kernel-*.json"))
	if len(files) != 1 {
		t.Fatalf("connection files %q", files)
	}
	c, err := readConnection(files[0])
	demand.NoError(t, err)
	return c
}

// join opens a channel of another client. It is read for at most 20 s.
func join(t testing.TB, name string, c connection, port int, kind zmq4.SocketType, identity string) *socket {
	t.Helper()
	s, err := dial(t.Context(), name, c, port, kind, identity)
	demand.NoError(t, err)
	t.Cleanup(func() { s.conn.Close() })
	s.conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	return s
}

// send sends a request of another client.
func send(t testing.TB, k *Kernel, s *socket, msgType string, content any) {
	t.Helper()
	demand.NoError(t, s.send(k.session.encode(k.session.newHeader(msgType), nil, content)...))
}

// execute runs code and returns its printed text and its reply.
func execute(t testing.TB, k *Kernel, code string) (string, Reply) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	text, reply, err := executeWith(ctx, k, code)
	if err != nil {
		t.Fatalf("%s: %v", code, err)
	}
	return text, reply
}

// prints checks what a cell prints.
func prints(t testing.TB, k *Kernel, code, want string) {
	t.Helper()
	text, _ := execute(t, k, code)
	demand.Equal(t, text, want, "what %q prints", code)
}

func executeWith(ctx context.Context, k *Kernel, code string) (string, Reply, error) {
	var text strings.Builder
	reply, err := k.Execute(ctx, code, func(o Output) { text.WriteString(o.Text) })
	return text.String(), reply, err
}
