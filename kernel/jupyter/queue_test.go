package jupyter

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tvps/ci/demand"

	"github.com/go-zeromq/zmq4"
)

// start sends requests to run cells at once. results waits for all, and returns how each ended, with its outputs.
func start(t *testing.T, k *Kernel, stopOnError bool, codes ...string) (results func() []string) {
	t.Helper()
	in := newInbox()
	closeOnce := sync.OnceFunc(func() { k.close(in) })
	t.Cleanup(closeOnce) // otherwise the kernel would not end after a failure
	number := map[string]int{}
	for i, code := range codes {
		content := executeRequest(code, false)
		content["stop_on_error"] = stopOnError
		h := k.session.newHeader("execute_request")
		k.mu.Lock()
		k.inboxes[h.ID] = in
		k.mu.Unlock()
		number[h.ID] = i
		demand.NoError(t, k.shell.send(k.session.encode(h, nil, content)...))
	}
	return func() []string {
		defer closeOnce()
		status, outputs := make([]string, len(codes)), make([]string, len(codes))
		for left := 2 * len(codes); left > 0; {
			select {
			case m := <-in.messages:
				var c struct{ Status, Evalue, Text, Execution_state string }
				_ = json.Unmarshal(m.content, &c)
				i := number[m.parent.ID]
				switch m.header.Type {
				case "execute_reply":
					if status[i] = c.Status; c.Status == "error" {
						status[i] += " " + c.Evalue
					}
					left--
				case "status":
					if c.Execution_state == "idle" {
						left--
					}
				case "stream", "error":
					outputs[i] += c.Text + c.Evalue
				}
			case <-time.After(30 * time.Second):
				t.Fatalf("%q: only %q, %q", codes, status, outputs)
			}
		}
		for i := range status {
			status[i] = strings.TrimSpace(status[i] + ": " + outputs[i])
		}
		return status
	}
}

// An error ends what was sent with its cell, unless the client does not want it, or knows nothing of the error.
func TestRelayStopsAfterErrors(t *testing.T) {
	k := startFake(t, relaySpec(t, "well"), Options{})
	for _, c := range []struct {
		stop  bool
		codes []string
		want  []string
	}{
		{true, []string{"echo a", "fails", "echo b", "echo c"},
			[]string{"ok: a", "error exit status 3: warned\nexit status 3", "aborted:", "aborted:"}},
		{false, []string{"fails", "echo b"}, []string{"error exit status 3: warned\nexit status 3", "ok: b"}},
		{true, []string{"%%bash\necho a\nfalse\necho b", "echo c"}, []string{"ok: a\nb", "ok: c"}},
		{true, []string{"%%bash\nset -e\nfalse", "echo c"}, []string{"error exit status 1: exit status 1", "aborted:"}},
		{true, []string{"//gonb:%%sh\nexit 7"}, []string{"error exit status 7: exit status 7"}},
		{true, []string{"%%script cat -\n$A *\n"}, []string{"ok: $A *"}},
		{true, []string{"%%script no-such-program"}, []string{"error exit status 127: exit status 127"}},
		{true, []string{"! exit 3", "echo c"}, []string{"ok: exit status 3", "ok: c"}},
	} {
		demand.Diff(t, start(t, k, c.stop, c.codes...)(), c.want, "%q", c.codes)
	}
}

// An interrupt comes to all processes of a cell but gopls, and ends what waits. What ignores it is killed. The reply
// comes on the channel of the request.
func TestRelayInterrupts(t *testing.T) {
	t.Run("interrupted", func(t *testing.T) {
		testInterrupts(t, relaySpec(t, "well"),
			"! touch $FAKE_DIR/ready; sleep 600; echo done",
			"! touch $FAKE_DIR/ready; setsid sleep 600 | cat; echo done",
			"%%bash\ntouch $FAKE_DIR/ready; sleep 600\necho done")
	})
	t.Run("killed", func(t *testing.T) {
		spec := relaySpec(t, "well")
		spec.Env["FAKE_KILLS"] = "soon" // the relay of the other test never kills
		testInterrupts(t, spec,
			"! trap '' INT; touch $FAKE_DIR/ready; sleep 600",
			// without its parent, $$, but with its output
			"! { while kill -0 $$; do sleep .01; done 2>&-; touch $FAKE_DIR/ready; sleep 600; } &")
	})
}

func testInterrupts(t *testing.T, spec Spec, codes ...string) {
	k := startFake(t, spec, Options{})
	outer := outside(t, k)
	control := join(t, "control", outer, outer.Control, zmq4.Dealer, "")
	ask := func(msgType string) {
		t.Helper()
		send(t, k, control, msgType+"_request", map[string]bool{"restart": false})
		control.conn.SetReadDeadline(time.Now().Add(20 * time.Second))
		reply, err := control.next()
		demand.NoError(t, err)
		if m, err := k.session.decode(reply.Frames); err != nil || m.header.Type != msgType+"_reply" {
			t.Fatalf("the answer is %q, %v", m.header.Type, err)
		}
	}
	execute(t, k, "gopls")
	before := len(fakeProcesses(t))
	for _, code := range codes {
		ready := filepath.Join(k.spec.Env["FAKE_DIR"], "ready")
		results := start(t, k, true, code, "echo next")
		demand.Soon(t, code, func() bool { _, err := os.Stat(ready); return err == nil })
		demand.NoError(t, os.Remove(ready))
		ask("interrupt")
		got := results()
		want := []string{"error the cell was interrupted: the cell was interrupted", "aborted:"}
		if strings.HasSuffix(code, "&") {
			want[0] = "ok:"
		}
		demand.Diff(t, got, want, "%q", code)
		demand.Soon(t, fmt.Sprintf("the end of %q, but not of gopls", code), func() bool {
			return len(fakeProcesses(t)) == before
		})
	}
	prints(t, k, "echo next", "next")
	ask("kernel_info")
	ask("shutdown")
}

// A cell continues without its client, and those of others come after it.
func TestRelayClientLeaves(t *testing.T) {
	k := startFake(t, relaySpec(t, "well"), Options{})
	outer := outside(t, k)
	shell := join(t, "shell", outer, outer.Shell, zmq4.Dealer, "other")
	file := filepath.Join(t.TempDir(), "file")
	for _, code := range []string{"! sleep .5", "! echo >" + file} {
		send(t, k, shell, "execute_request", executeRequest(code, false))
	}
	execute(t, k, "nothing") // after the first cell, or both
	shell.conn.Close()
	demand.Soon(t, "the second cell", func() bool { _, err := os.Stat(file); return err == nil })
	prints(t, k, "echo next", "next")
}

// The outputs of the first cell are not lost if the client's iopub channel connects later than its shell channel.
func TestRelayFirstCell(t *testing.T) {
	noLeftovers(t)
	k, c, err := launchKernel(relaySpec(t, "well"), Options{})
	demand.NoError(t, err)
	close(k.gone) // nobody supervises it
	t.Cleanup(func() { demand.NoError(t, k.Close()) })
	shell := join(t, "shell", c, c.Shell, zmq4.Dealer, "client")
	send(t, k, shell, "execute_request", executeRequest("echo first", false))
	time.Sleep(500 * time.Millisecond)
	iopub := join(t, "iopub", c, c.IOPub, zmq4.Sub, "client")
	demand.NoError(t, iopub.send([]byte{1}))
	for text := ""; text != "first"; {
		next, err := iopub.next()
		if err != nil {
			t.Fatalf("the outputs of the first cell: %v", err)
		}
		m, _ := k.session.decode(next.Frames)
		text = parseOutput(m).Text
	}
}
