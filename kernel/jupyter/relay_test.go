package jupyter

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"tvps/ci/demand"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"
	"github.com/google/go-cmp/cmp"
)

// relaySpec is the kernelspec of a relay before the fake kernel.
func relaySpec(t testing.TB, start string) Spec {
	spec := fakeSpec(t, start)
	spec.Argv = []string{spec.Argv[0], relayArgument, "{connection_file}"}
	return spec
}

// ask sends a request on the shell channel and returns the types of the messages that answer it, and the reply.
func ask(t *testing.T, k *Kernel, msgType string, content any) (types []string, reply string) {
	t.Helper()
	in := newInbox()
	defer k.close(in)
	demand.NoError(t, k.request(k.shell, msgType, content, in))
	for len(types) < 3 {
		select {
		case m := <-in.messages:
			if strings.HasSuffix(m.header.Type, "_reply") {
				reply = string(m.content)
			}
			types = append(types, m.header.Type)
		case <-time.After(5 * time.Minute):
			t.Fatalf("%s: only %q after 5 minutes", msgType, types)
		}
	}
	return types, reply
}

// Cells run through the relay, and it answers what the kernel does not.
func TestRelay(t *testing.T) {
	k := startFake(t, relaySpec(t, "well"), Options{})
	k.limits.incomplete = time.Minute // on a busy machine the flood takes long after its reply
	for _, code := range []string{"echo one", "echo two", "echo one"} {
		if text, reply := execute(t, k, code); text != strings.TrimPrefix(code, "echo ") || reply.Status != "ok" {
			t.Errorf("%s: %q, %+v", code, text, reply)
		}
	}
	input := map[string]any{"code": "input", "stop_on_error": false}
	types, _ := ask(t, k, "execute_request", input) // the client is found by its identity
	demand.Equal(t, count(types)["input_request"], 1, "input requests among %q", types)
	demand.NoError(t, k.interrupt())
	if text, _ := execute(t, k, "flood 20"); len(text) != 20<<20 {
		t.Errorf("%d bytes of 20 MB arrived", len(text))
	}
	types, reply := ask(t, k, "is_complete_request", map[string]string{"code": "func f() {"})
	if reply != `{"status":"incomplete","indent":"\t"}` || !cmp.Equal(count(types), map[string]int{
		"status": 2, "is_complete_reply": 1}) {
		t.Errorf("is_complete: %q, %s", types, reply)
	}
	_, reply = ask(t, k, "history_request", map[string]any{"hist_access_type": "tail", "n": 1})
	demand.Equal(t, reply, `{"history":[],"status":"ok"}`, "history")
	demand.NoError(t, k.Close())
	demand.Equal(t, k.process.code(), 0, "after a shutdown the relay")
}

func count(texts []string) map[string]int {
	all := map[string]int{}
	for _, text := range texts {
		all[text]++
	}
	return all
}

// A message with a wrong signature ends the fake kernel, as it ends GoNB. It must not get there, on any channel.
func TestRelayDropsForged(t *testing.T) {
	k := startFake(t, relaySpec(t, "well"), Options{})
	for _, s := range []*socket{k.shell, k.control, k.stdin} {
		for _, frames := range [][][]byte{{[]byte("junk")}, {delimiter}, fixed()} {
			demand.NoError(t, s.send(frames...))
		}
	}
	prints(t, k, "echo alive", "alive")
	const note = "tvps-kernel: dropped a message or connection: "
	demand.Soon(t, note, func() bool { return strings.Contains(k.log.lastLines(), note) })
}

// After SIGTERM, when the kernel dies, and when the relay or its guard (the process that a client starts) is killed, no
// process of the kernel is left, not even one in another group, and no folder.
func TestRelayEnds(t *testing.T) {
	for name, end := range map[string]func(k *Kernel){
		"SIGTERM":      func(k *Kernel) { k.process.cmd.Process.Signal(syscall.SIGTERM) },
		"exit 7":       func(k *Kernel) { executeWith(context.Background(), k, "exit 7") },
		"guard killed": func(k *Kernel) { k.process.cmd.Process.Kill() },
		"relay killed": func(k *Kernel) {
			for _, relay := range processes()[k.process.cmd.Process.Pid] {
				syscall.Kill(relay.pid, syscall.SIGKILL)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := startFake(t, relaySpec(t, "well"), Options{})
			execute(t, k, "daemon")
			execute(t, k, "child")
			if n := len(fakeProcesses(t)); n != 5 {
				t.Fatalf("%d processes instead of 5", n)
			}
			end(k)
			select {
			case <-k.process.exited:
			case <-time.After(30 * time.Second):
				t.Fatal("the relay did not end")
			}
			if strings.HasSuffix(name, "killed") {
				demand.Soon(t, "the end of all processes", func() bool { return len(fakeProcesses(t)) == 0 })
			} else if left := fakeProcesses(t); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
			if left, _ := filepath.Glob(filepath.Join(k.dir, "tmp", "*")); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
			if code := k.process.code(); name == "exit 7" && code != 7 {
				t.Errorf("exit code %d instead of the kernel's", code)
			}
		})
	}
}

// A client that is killed takes the kernel with it, also if it gives the relay no process id or a wrong one.
func TestClientKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux kills the children of a killed process")
	}
	relay := os.Args[0] + " " + relayArgument + " {connection_file}"
	script := filepath.Join(t.TempDir(), "script") // it is killed with the client, the relay is not
	demand.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\n\"$@\" &\nwait\n"), 0o700))
	for name, c := range map[string]struct {
		before    string
		processes int
	}{
		"without a relay": {"", 2},
		"named":           {relay, 5},
		"not named":       {"env -u JPY_PARENT_PID " + relay, 5},
		"a script's":      {script + " " + relay, 6},
		"no such":         {"env JPY_PARENT_PID=999999999 " + relay, 5},
	} {
		t.Run(name, func(t *testing.T) { clientKilled(t, c.before, c.processes) })
	}
}

// clientKilled kills a client whose kernelspec has the given words before the program. Only the client's own folder is
// left.
func clientKilled(t *testing.T, before string, processes int) {
	noLeftovers(t) // fails if a process or folder is left after 5 s
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "FAKE_START=client", "FAKE_BEFORE="+before, "FAKE_TEST="+marker(t))
	out, err := cmd.StdoutPipe()
	demand.NoError(t, err)
	demand.NoError(t, cmd.Start())
	_, err = out.Read(make([]byte, 7))
	demand.NoError(t, err)
	if n := len(fakeProcesses(t)); n != processes {
		t.Errorf("%d processes instead of %d", n, processes)
	}
	cmd.Process.Kill()
	cmd.Wait()
	demand.Soon(t, "the end of all processes", func() bool { return len(fakeProcesses(t)) == 0 })
	folders, _ := filepath.Glob(filepath.Join(os.TempDir(), "tvps-kernel-*"))
	for _, dir := range folders {
		left, _ := filepath.Glob(filepath.Join(dir, "tmp", "*"))
		demand.List(t, left, nil, "the relay's folders")
		demand.NoError(t, os.RemoveAll(dir))
	}
}

// crowded is a listener whose first calls of Accept fail, as where too many files are open.
type crowded struct {
	net.Listener
	left int
}

func (l *crowded) Accept() (net.Conn, error) {
	if l.left--; l.left >= 0 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return l.Listener.Accept()
}

// A channel still has clients after errors of Accept, which the log tells once, and ends with its listener. This one
// answers heartbeats.
func TestAcceptAfterErrors(t *testing.T) {
	l, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	demand.NoError(t, err)
	defer l.Close()
	var text demand.Buffer
	r := &relay{log: &log{to: &text}}
	ended := make(chan struct{})
	go func() {
		r.accept(t.Context(), &crowded{l, 2}, channels[4], 0)
		close(ended)
	}()
	conn, err := net.DialTimeout("tcp", l.Addr().String(), 20*time.Second)
	demand.NoError(t, err)
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	beat, err := zmq4.Open(conn, null.Security(), zmq4.Req, zmq4.SocketIdentity(""), false, nil)
	if err != nil {
		t.Fatalf("a client after the errors: %v", err)
	}
	demand.NoError(t, beat.SendMsg(zmq4.NewMsgFrom(nil, []byte("ping"))))
	if m, err := beat.RecvMsg(); err != nil || len(m.Frames) != 2 || string(m.Frames[1]) != "ping" {
		t.Errorf("the heartbeat is %q, %v", m.Frames, err)
	}
	beat.Close()
	l.Close()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("the channel does not end with its listener")
	}
	if log := text.String(); strings.Count(log, "\n") != 1 || !strings.Contains(log, "too many open files") {
		t.Errorf("the log says %q", log)
	}
}

func TestIsComplete(t *testing.T) {
	for code, want := range map[string]completeReply{
		"":                                   {"complete", ""},
		"x := 1":                             {"complete", ""},
		"func f() int {":                     {"incomplete", "\t"},
		"func f() int {\n\tif a {":           {"incomplete", "\t\t"},
		"func f() int {\n\treturn 1\n}":      {"complete", ""},
		"var (\n\ta = 1":                     {"incomplete", "\t"},
		"f(1,\n":                             {"incomplete", "\t"},
		"a +":                                {"incomplete", ""},
		"var x = `raw\nstring":               {"incomplete", ""},
		"/* a\ncomment":                      {"incomplete", ""},
		"// comment":                         {"complete", ""},
		"}":                                  {"invalid", ""},
		"f(1]":                               {"invalid", ""},
		"x := \"open":                        {"invalid", ""},
		"%%":                                 {"incomplete", ""},
		"%%\nfmt.Println(1)":                 {"incomplete", ""},
		"%%\nfmt.Println(1)\n":               {"complete", ""},
		"%%\nfor {\n":                        {"incomplete", "\t"},
		"import \"fmt\"\n%main\nx()\n\t":     {"complete", ""},
		"//gonb:%%\nx()":                     {"incomplete", ""},
		"%%bash\nfor i in 1 2; do (":         {"incomplete", ""},
		"%%bash\nfor i in 1 2; do (\n":       {"complete", ""},
		"!ls":                                {"complete", ""},
		"!ls \\":                             {"incomplete", ""},
		"%env A {\nfunc f() {\n}":            {"complete", ""},
		"var s = \"} ) // `\" // ` { /* \"x": {"complete", ""},
	} {
		demand.Equal(t, isComplete(code), want, "%q", code)
	}
}
