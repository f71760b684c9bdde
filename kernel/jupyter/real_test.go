package jupyter

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"tvps/ci/demand"
)

// Cells of the real GoNB behind the relay print, and fail with their reasons. After an interrupt the kernel runs more,
// until one kills GoNB.
func TestGoNB(t *testing.T) {
	spec := Spec{Name: "gonb", InterruptMode: "message",
		Argv: []string{os.Args[0], relayArgument, "{connection_file}", demand.GoNB(t), "--kernel", "{connection_file}",
			"--raw_error"},
		Env: map[string]string{"GOFLAGS": "-mod=mod", "GOPROXY": "off", "FAKE_TEST": marker(t)}} // which marks its processes
	k := startFake(t, spec, Options{Dir: t.TempDir()})
	k.limits.incomplete = 30 * time.Second
	for _, c := range []struct{ code, text, reason string }{
		{"%%\nfmt.Println(6 * 7)", "42\n", ""},
		{"%%\nfmt.Fprintln(os.Stderr, \"warned\")", "warned\n", ""},
		{"%%\nvar unused int", "", "declared and not used: unused"},
		{"func f( {", "", "expected ')', found '{'"},
		{"%%\npanic(\"boom\")", "", "panic: boom"},
		{"%%\nos.Exit(4)", "", "exit status 4"},
		{"import \"no.such/x\"\n%%\nx.F()", "", "no.such/x"},
		{"%bogus\n%%\nfor {}", "", "%bogus is no command of GoNB"},
		{"%with_inputs\n!read x", "", noClientInput},
	} {
		text, reply := execute(t, k, c.code)
		if text != c.text || (reply.Status == "ok") != (c.reason == "") || !strings.Contains(reply.Evalue, c.reason) {
			t.Errorf("%s: got %q, %+v; want %q, %q", c.code, text, reply, c.text, c.reason)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	const endless = "%%\nfmt.Println(\"started\")\nfor { time.Sleep(time.Second) }"
	reply, err := k.Execute(ctx, endless, func(o Output) { cancel() })
	if !errors.Is(err, context.Canceled) || errors.Is(err, ErrKernelDied) {
		t.Errorf("interrupted: %+v, %v", reply, err)
	}
	prints(t, k, "%%\nfmt.Println(\"again\")", "again\n")
	if _, _, err := executeWith(t.Context(), k, "!kill -9 $PPID"); !errors.Is(err, ErrKernelDied) {
		t.Errorf("after the end of GoNB: %v", err)
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
	for before, want := range map[string]string{"strings.Rep": `"Repeat"`, "notebook.Fig": `"Figure"`,
		"/* 😀\né */ strings.Inde": `"Index"`} {
		code := imports + before
		until(want, "complete_request", map[string]any{"code": code, "cursor_pos": utf8.RuneCountInString(code)})
	}
	code := imports + "_ = strings.Repeat(\"a\", 3)\n_ = notebook.Must"
	until("func strings.Repeat(s string, count int) string", "inspect_request",
		map[string]any{"code": code, "cursor_pos": strings.Index(code, "Repeat"), "detail_level": 0})
	until("incomplete", "is_complete_request", map[string]string{"code": "for {"})
	if n := len(fakeProcesses(t)); n < 3 {
		t.Errorf("only %d processes: the relay, gonb and gopls should run", n)
	}
}
