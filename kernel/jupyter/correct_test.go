package jupyter

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"

	"github.com/go-zeromq/zmq4"
	"github.com/google/go-cmp/cmp"
)

// GoNB does not end at a cell without a name before the cursor, so such requests must not reach it.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		code string
		pos  int
		want bool
	}{
		{"", 0, false}, {" ", 0, false}, {" ", 1, false}, {"\n", 0, false}, {"\n\n  ", 3, false}, {"x", -1, true},
		{"x", 0, true}, {"x", 1, true}, {"x", 9, true}, {"f(", 2, true}, {"f(a, ", 5, true}, {"(", 1, false},
		{"x, y", 1, false}, {"x)", 1, false}, {"f(x)", 3, true}, {"😀 ", 0, true}, {"\"😀\" ", 5, true},
		{"!ls\n ", 4, false}, {"!ls \\\n-l\n ", 9, false}, {"!ls \\\n-l\n ", 7, true}, {"%env A B", 3, true},
		{"%%\n \nfmt.Println()", 4, false}, {"%%\n \nfmt.Println()", 8, true}, {"x\n!ls\n ", 6, true}, {"%", 0, true},
	} {
		demand.Equal(t, names(c.code, c.pos), c.want, "%q at %d", c.code, c.pos)
	}
}

// Requests get the fields without which GoNB ends. Before the cursor no character has two units of UTF-16, and in its
// line none has several bytes.
func TestRequests(t *testing.T) {
	r := &relay{}
	r.explains.Store(true)
	for _, c := range []struct{ kind, content, want string }{
		{"inspect", `{"code": "x", "cursor_pos": 1}`, `{"code":"x","cursor_pos":1,"detail_level":0}`},
		{"inspect", `{"code": "x", "cursor_pos": 0, "detail_level": "1"}`, `{"code":"x","cursor_pos":0,"detail_level":0}`},
		{"execute", `{"code": "f()", "silent": null}`,
			`{"allow_stdin":true,"code":"f()","silent":false,"store_history":true}`},
		{"complete", `null`, `{"code":"","cursor_pos":0}`},
		{"complete", `{"code": 5, "cursor_pos": [1]}`, `{"code":"","cursor_pos":0}`},
		{"complete", `{"code": "s := \"é😀\"; fmt.Pri é😀", "cursor_pos": 18}`,
			`{"code":"s := \"xx\"; fmt.Pri é😀","cursor_pos":18}`},
		{"complete", `{"code": "// é😀\nfmt.Pri", "cursor_pos": 13}`, `{"code":"// éx\nfmt.Pri","cursor_pos":13}`},
		{"inspect", `{"code": "é := ω.ψ()", "cursor_pos": 8, "detail_level": 1}`,
			`{"code":"x := ω.ψ()","cursor_pos":8,"detail_level":1}`},
		{"inspect", `{"code": "é", "cursor_pos": 99, "detail_level": 0}`, `{"code":"é","cursor_pos":99,"detail_level":0}`},
	} {
		h := r.session.newHeader(c.kind + "_request")
		frames := r.session.encode(h, nil, json.RawMessage(c.content))
		if c.kind == "execute" {
			frames = r.execution(message{header: h, content: json.RawMessage(c.content)}, frames).frames
		} else {
			frames = r.request(nil, nil, frames)
		}
		if m, err := r.session.decode(frames); err != nil || string(m.content) != c.want || m.header != h {
			t.Errorf("%s %s became %s, %v; want %s", c.kind, c.content, m.content, err, c.want)
		}
	}
}

func TestWithoutInput(t *testing.T) {
	for code, want := range map[string]string{
		"!cat":                           "!exec </dev/null; cat",
		"! *cat\nx\n//gonb:!*ls":         "! *exec </dev/null; cat\nx\n//gonb:!*exec </dev/null; ls",
		"!ls \\\n!x":                     "!exec </dev/null; ls \\\n!x",
		"%with_inputs\n!cat":             "%with_inputs\n!cat",
		"%%bash\n!cat":                   "%%bash\n!cat",
		"%%\n!cat":                       "%%\n!exec </dev/null; cat",
		"x := !y\n%%\nreturn !strings.x": "x := !y\n%%\nreturn !strings.x",
	} {
		demand.Equal(t, withoutInput(code), want, "%q", code)
	}
}

// A cell has one error, which says why it failed, in the output as in the reply.
func TestRelayErrors(t *testing.T) {
	k := startFake(t, relaySpec(t, "well"), Options{})
	for code, want := range map[string]struct {
		stderr, evalue string
		trace          []string
	}{
		"panic":   {"warned\n", "panic: boom", []string{"panic: boom", "", "goroutine 1", "exit status 2"}},
		"fails":   {"warned\n", "exit status 3", []string{"exit status 3"}},
		"compile": {"", "bad (cell [1], line 2)", []string{"bad (cell [1], line 2)", "too many errors"}},
		"input":   {"", noClientInput, []string{noClientInput}},
		"stderr \"%%python\" unknown or not implemented yet.": {"", "%%python is no command of GoNB: see %help",
			[]string{"%%python is no command of GoNB: see %help"}},
	} {
		var stderr string
		var failures []Reply
		reply, err := k.Execute(t.Context(), code, func(o Output) {
			if stderr += o.Text; o.Type == "error" {
				failures = append(failures, Reply{Status: "error", Ename: o.Ename, Evalue: o.Evalue, Traceback: o.Traceback})
			}
		})
		expected := Reply{Status: "error", Ename: "ERROR", Evalue: want.evalue, Traceback: want.trace}
		if diff := cmp.Diff(expected, reply); diff != "" || err != nil || stderr != want.stderr {
			t.Errorf("%s: stderr %q, %v; reply (-want +got):\n%s", code, stderr, err, diff)
		}
		demand.Diff(t, failures, []Reply{expected}, "%s: outputs", code)
	}
	for _, text := range []string{"panic: no panic\n", "exit status 9\n"} { // nothing fails: it is a text like others
		if got, reply := execute(t, k, "stderr "+text); got != text || reply.Status != "ok" {
			t.Errorf("%q became %q, %+v", text, got, reply)
		}
	}
	var outputs []Output
	if _, err := k.Execute(t.Context(), "clears", func(o Output) { outputs = append(outputs, o) }); err != nil ||
		len(outputs) != 1 || outputs[0].Type != "clear_output" || !outputs[0].Wait {
		t.Errorf("the output that clears became %+v, %v", outputs, err)
	}
}

// Line ends are those of Go, and a program that reads standard input says that there is none. There is a home folder.
func TestRelayCells(t *testing.T) {
	spec := relaySpec(t, "well")
	spec.Env["HOME"] = ""
	k := startFake(t, spec, Options{})
	if text, _ := execute(t, k, "env HOME"); !filepath.IsAbs(text) {
		t.Errorf("HOME is %q", text)
	}
	prints(t, k, "echo a\r\nb\rc d", "a\nb\nc d")
	prints(t, k, "echo os.Stdin", inputSentence+"os.Stdin")
	prints(t, k, "echo os.Stdin RequestInput", "os.Stdin RequestInput")
	info := struct {
		Lexer string `json:"pygments_lexer"`
	}{}
	if err := json.Unmarshal(k.Language(), &info); err != nil || info.Lexer != "go" {
		t.Errorf("language_info is %s, %v", k.Language(), err)
	}
	types, reply := ask(t, k, "inspect_request", map[string]any{"code": " ", "cursor_pos": 1})
	demand.Equal(t, reply, `{"data":{},"found":false,"metadata":{},"status":"ok"}`, "a blank cell: %q", types)
	for code, want := range map[string]string{
		"?fmt.Println": "explains %%\\nfmt.Println", "Nonsense?": "gopls knows nothing",
	} {
		types, reply := ask(t, k, "execute_request", map[string]any{"code": code})
		if !strings.Contains(reply, `"source":"page"`) || !strings.Contains(reply, want) ||
			count(types)["execute_reply"] != 1 {
			t.Errorf("%s: %q, %s", code, types, reply)
		}
	}
}

// A client of iopub that does not read delays no answer, and loses its connection where others wait. Each client of
// iopub is welcomed.
func TestRelayStuckClient(t *testing.T) {
	k := startFake(t, relaySpec(t, "well"), Options{})
	outer := outside(t, k)
	stuck := join(t, "iopub", outer, outer.IOPub, zmq4.Sub, "")
	demand.NoError(t, stuck.send([]byte("\x01topic")))
	welcome, err := stuck.next()
	m, _ := k.session.decode(welcome.Frames)
	if err != nil || m.header.Type != "iopub_welcome" || string(m.content) != `{"subscription":"topic"}` {
		t.Fatalf("welcome %q, %v", welcome.Frames, err)
	}
	k.limits.incomplete = time.Minute
	flood := make(chan string)
	go func() {
		text, _, _ := executeWith(t.Context(), k, "flood 20")
		flood <- text
	}()
	in := newInbox()
	demand.NoError(t, k.request(k.shell, "is_complete_request", map[string]string{"code": "x"}, in))
	for answered := false; !answered; {
		select {
		case m := <-in.messages:
			answered = m.header.Type == "is_complete_reply"
		case text := <-flood:
			t.Fatalf("no answer before all %d bytes of the flood", len(text))
		}
	}
	k.close(in)
	if text := <-flood; len(text) != 20<<20 {
		t.Errorf("the other client got %d bytes of 20 MB", len(text))
	}
}

// Each place that the relay changes in GoNB's script is there once, or at least once.
func TestSocketScript(t *testing.T) {
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}",
		"github.com/janpfeifer/gonb").Output()
	demand.NoError(t, err)
	script, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "internal", "websocket", "websocket.js"))
	if err != nil {
		t.Skip("the module gonb is not here: ", err)
	}
	got := socketScript.Replace(string(script))
	for _, gone := range []string{
		`"ws://"`, "document.location.host", "crypto.randomUUID()", "let err = this._send(msg);\n            await",
	} {
		if before, after := strings.Contains(string(script), gone), strings.Contains(got, gone); !before || after {
			t.Errorf("%q: in GoNB's script %v, in ours %v", gone, before, after)
		}
	}
}
