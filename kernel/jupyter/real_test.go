package jupyter

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
)

func TestGoNB(t *testing.T) {
	spec := Spec{Name: "gonb", Argv: []string{demand.GoNB(t), "--kernel", "{connection_file}"}, Env: map[string]string{}}
	saved := defaultLimits
	defaultLimits = limits{time.Minute, 30 * time.Second, 20 * time.Second, 3 * time.Second, time.Second}
	t.Cleanup(func() { defaultLimits = saved })
	for _, mode := range []string{"message", "signal"} {
		t.Run(mode, func(t *testing.T) {
			spec.InterruptMode = mode
			if mode == "signal" { // and behind the relay
				spec.Argv = append([]string{os.Args[0], relayArgument, "{connection_file}"}, spec.Argv...)
			}
			spec.Env["FAKE_TEST"] = marker(t) // marks its processes
			runGoNB(t, startFake(t, spec, Options{Dir: t.TempDir()}))
		})
	}
}

// runGoNB runs cells, interrupts an endless one, and runs one more.
func runGoNB(t *testing.T, k *Kernel) {
	for _, c := range []struct{ code, text, status, ename string }{
		{"fmt.Println(6 * 7)", "42", "ok", ""},
		{"fmt.Fprintln(os.Stderr, \"warned\")", "warned", "ok", ""},
		{"undefined()", "", "error", "ERROR"},
		{"panic(\"oh\")", "oh", "error", ""},
		{"os.Exit(3)", "exit status 3", "error", ""},
	} {
		text, reply := execute(t, k, "%%\n"+c.code)
		text += reply.Evalue // where the relay puts it
		if !strings.Contains(text, c.text) || reply.Status != c.status || !strings.Contains(reply.Ename, c.ename) {
			t.Errorf("%s: got %q, %+v", c.code, text, reply)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	const endless = "%%\nfmt.Println(\"started\")\nfor { time.Sleep(time.Second) }"
	reply, err := k.Execute(ctx, endless, func(o Output) {
		if strings.Contains(o.Text, "started") {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || errors.Is(err, ErrKernelDied) {
		t.Errorf("interrupted: %+v, %v", reply, err)
	}
	if text, _ := execute(t, k, "%%\nfmt.Println(\"again\")"); !strings.Contains(text, "again") {
		t.Errorf("after the interrupt: %q", text)
	}
}

// TestInstalledKernel uses the kernel that `kernel install --prefix` installed for this checkout, as Jupyter does: a
// name is completed and explained, for this module, too, a console's requests are answered, and nothing is left.
func TestInstalledKernel(t *testing.T) {
	prefix := demand.Prefix(t)
	if _, err := os.Stat(filepath.Join(prefix, "share", "tvps", "kernel", "gopls", "gopls")); err != nil {
		t.Skip("gopls was not installed:", err)
	}
	t.Setenv("JUPYTER_PATH", filepath.Join(prefix, "share", "jupyter"))
	spec, err := Find("tvps")
	demand.NoError(t, err)
	spec.Env["FAKE_TEST"] = marker(t) // marks its processes
	k := startFake(t, spec, Options{Dir: filepath.Join("..", "..", "notebooks")})
	until := func(want, msgType string, content any) { // gopls loads the module first
		t.Helper()
		for end := time.Now().Add(5 * time.Minute); ; {
			_, reply := ask(t, k, msgType, content)
			if strings.Contains(reply, want) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s is answered by %s, want %s", msgType, reply, want)
			}
		}
	}
	const imports = "import \"strings\"\nimport \"tvps/replicate/notebook\"\n\n%%\n"
	for before, want := range map[string]string{"strings.Rep": `"Repeat"`, "notebook.Fig": `"Figure"`} {
		code := imports + before
		until(want, "complete_request", map[string]any{"code": code, "cursor_pos": len(code)})
	}
	code := imports + "_ = strings.Repeat(\"a\", 3)\n_ = notebook.Must"
	until("func strings.Repeat(s string, count int) string", "inspect_request",
		map[string]any{"code": code, "cursor_pos": strings.Index(code, "Repeat"), "detail_level": 0})
	until("incomplete", "is_complete_request", map[string]string{"code": "for {"})
	if n := len(fakeProcesses(t)); n < 3 {
		t.Errorf("only %d processes: the relay, gonb and gopls should run", n)
	}
}
