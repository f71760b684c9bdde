package jupyter

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-zeromq/zmq4"
)

// longTime is the lifetime of processes that a test must end.
const longTime = time.Minute

// fake is a faulty kernel. It runs in a process of its own, started from this test binary. It uses zmq4's sockets, as
// GoNB does, and shares no code with the client.
type fake struct {
	key                   []byte
	shell, control, stdin zmq4.Socket
	iopub                 zmq4.Socket
	interrupts            chan struct{}
	infos                 int // kernel_info_requests so far
	count                 int
}

// request is a message from the client.
type request struct {
	identity []byte
	header   json.RawMessage
	msgType  string
	content  json.RawMessage
	code     string
}

// fakeKernel is the main function of the fake. FAKE_START selects its faults at the start, the code of a cell its
// later faults.
func fakeKernel(connectionFile string) {
	start := os.Getenv("FAKE_START")
	switch start {
	case "child":
		signal.Ignore(os.Interrupt)
		time.Sleep(longTime)
	case "exit":
		fmt.Fprintln(os.Stderr, "the fake kernel does not want to")
		os.Exit(7)
	case "exit-later":
		time.Sleep(100 * time.Millisecond)
		os.Exit(8)
	case "mute":
		fmt.Fprintln(os.Stderr, "the fake kernel stays mute")
		time.Sleep(longTime)
	case "port":
		marker := filepath.Join(os.Getenv("FAKE_DIR"), "tried")
		if _, err := os.Stat(marker); err != nil {
			os.WriteFile(marker, nil, 0o600)
			fmt.Fprintln(os.Stderr, "listen: Address already in use")
			os.Exit(1)
		}
	}
	f := bind(connectionFile)
	f.serve(start)
}

// bind opens the sockets of the connection file.
func bind(connectionFile string) *fake {
	data, err := os.ReadFile(connectionFile)
	check(err)
	var c map[string]any
	check(json.Unmarshal(data, &c))
	ctx := context.Background()
	f := &fake{
		key:   []byte(c["key"].(string)),
		shell: zmq4.NewRouter(ctx), control: zmq4.NewRouter(ctx), stdin: zmq4.NewRouter(ctx),
		iopub: zmq4.NewPub(ctx), interrupts: make(chan struct{}, 10),
	}
	for name, s := range map[string]zmq4.Socket{
		"shell": f.shell, "control": f.control, "stdin": f.stdin, "iopub": f.iopub, "hb": zmq4.NewRep(ctx),
	} {
		separator := map[any]string{"tcp": ":", "ipc": "-"}[c["transport"]]
		check(s.Listen(fmt.Sprintf("%s://%s%s%v", c["transport"], c["ip"], separator, c[name+"_port"])))
	}
	return f
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "fake kernel:", err)
		os.Exit(99)
	}
}

// serve answers requests until shutdown.
func (f *fake) serve(start string) {
	signals := make(chan os.Signal, 10)
	signal.Notify(signals, os.Interrupt)
	go func() {
		for range signals {
			f.interrupts <- struct{}{}
		}
	}()
	handle := func(r request) {
		switch r.msgType {
		case "interrupt_request":
			f.interrupts <- struct{}{}
			f.send(f.shell, r.identity, r, "interrupt_reply", map[string]any{"status": "ok"})
		case "shutdown_request":
			if start == "stubborn" {
				return
			}
			f.send(f.shell, r.identity, r, "shutdown_reply", map[string]any{"status": "ok"})
			time.Sleep(50 * time.Millisecond)
			os.Exit(0)
		case "kernel_info_request":
			f.infos++
			f.info(r, start)
		case "execute_request":
			f.execute(r)
		case "inspect_request": // the code is in the answer
			data := map[string]string{"text/markdown": "explains " + r.code}
			if strings.Contains(r.code, "Nonsense") {
				data = map[string]string{"text/plain": "no identifier found"}
			}
			f.status(r, "busy")
			f.send(f.shell, r.identity, r, "inspect_reply", map[string]any{"status": "ok", "found": true, "data": data})
			f.status(r, "idle")
		}
	}
	go f.receive(f.control, handle)
	f.receive(f.shell, handle)
}

// receive reads requests from a socket and checks their signatures.
func (f *fake) receive(s zmq4.Socket, handle func(request)) {
	for {
		msg, err := s.Recv()
		if err != nil {
			time.Sleep(longTime) // the socket was closed on purpose
		}
		i := 0
		for !bytes.Equal(msg.Frames[i], []byte("<IDS|MSG>")) {
			i++
		}
		p := msg.Frames[i+1:]
		if string(p[0]) != f.sign(p[1:5]) {
			check(fmt.Errorf("the client signs wrongly"))
		}
		var h struct {
			Type string `json:"msg_type"`
		}
		check(json.Unmarshal(p[1], &h))
		var content struct{ Code string }
		check(json.Unmarshal(p[4], &content))
		handle(request{msg.Frames[0], p[1], h.Type, p[4], content.Code})
	}
}

func (f *fake) sign(parts [][]byte) string {
	mac := hmac.New(sha256.New, f.key)
	mac.Write(bytes.Join(parts, nil))
	return hex.EncodeToString(mac.Sum(nil))
}

// frames returns the frames of an answer to r.
func (f *fake) frames(prefix []byte, r request, msgType string, content any) [][]byte {
	h, err := json.Marshal(
		map[string]any{"msg_id": fmt.Sprint(time.Now().UnixNano()), "msg_type": msgType, "version": "5.3"},
	)
	check(err)
	c, err := json.Marshal(content)
	check(err)
	parts := [][]byte{h, r.header, []byte("{}"), c}
	return append([][]byte{prefix, []byte("<IDS|MSG>"), []byte(f.sign(parts))}, parts...)
}

func (f *fake) send(s zmq4.Socket, identity []byte, r request, msgType string, content any) {
	check(s.SendMulti(zmq4.NewMsgFrom(f.frames(identity, r, msgType, content)...)))
}

func (f *fake) publish(r request, msgType string, content any) {
	f.send(f.iopub, []byte("topic."+msgType), r, msgType, content)
}

func (f *fake) status(r request, state string) {
	f.publish(r, "status", map[string]any{"execution_state": state})
}

func (f *fake) print(r request, text string) {
	f.publish(r, "stream", map[string]any{"name": "stdout", "text": text})
}

func (f *fake) reply(r request, status string) {
	f.send(f.shell, r.identity, r, "execute_reply", map[string]any{
		"status": status, "execution_count": f.count, "ename": "Fake", "evalue": "value", "traceback": []string{"line"},
	})
}

// info answers kernel_info_request.
func (f *fake) info(r request, start string) {
	if start != "no-iopub" && (start != "late-iopub" || f.infos > 2) {
		f.status(r, "busy")
		defer f.status(r, "idle")
	}
	if start == "no-shell" || start == "late-shell" && f.infos <= 2 {
		return
	}
	f.send(f.shell, r.identity, r, "kernel_info_reply", map[string]any{
		"protocol_version": "5.3", "implementation": "fake", "implementation_version": "1.2", "banner": "hello",
		"language_info": map[string]any{"name": "fakish", "version": "0.1", "file_extension": ".fake"},
	})
}

// execute answers execute_request. The first word of the code is the command.
func (f *fake) execute(r request) {
	if bytes.Contains(r.content, []byte(`"silent":true`)) { // the relay's own: see prepare
		f.reply(r, "ok")
		return
	}
	f.count++
	f.status(r, "busy")
	f.publish(r, "execute_input", map[string]any{"code": r.code})
	if expression, ok := strings.CutPrefix(r.code, "%%\nfmt.Println("); ok { // the relay prints a word: see shown
		r.code = strings.TrimSuffix(expression, ")")
	}
	word, rest, _ := strings.Cut(r.code, " ")
	if odd, ok := odd[word]; ok {
		odd(f, r, rest)
		return
	}
	status := "ok"
	if do, ok := plain[word]; ok {
		do(f, r, rest)
	} else {
		f.publish(r, "error", map[string]any{"ename": "Fake", "evalue": "value", "traceback": []string{"line"}})
		status = "error"
	}
	f.reply(r, status)
	f.status(r, "idle")
}

// plain commands do something and are then answered correctly.
var plain = map[string]func(f *fake, r request, rest string){
	"nothing": func(*fake, request, string) {},
	"echo":    func(f *fake, r request, rest string) { f.print(r, rest) },
	"env":     func(f *fake, r request, rest string) { f.print(r, os.Getenv(rest)) },
	"pwd":     func(f *fake, r request, _ string) { dir, _ := os.Getwd(); f.print(r, dir) },
	"args":    func(f *fake, r request, _ string) { f.print(r, strings.Join(os.Args[1:], "|")) },
	"count":   func(f *fake, r request, _ string) { f.print(r, strconv.Itoa(f.count)) },
	"content": func(f *fake, r request, _ string) { f.print(r, string(r.content)) },
	"temp":    func(f *fake, r request, _ string) { check(os.WriteFile(os.TempDir()+"/left", nil, 0o600)) },
	"child":   func(f *fake, r request, _ string) { f.child(false) },
	"!":       func(f *fake, r request, rest string) { f.run(r, "", "/bin/bash", "-c", rest) },
	"%%script": func(f *fake, r request, rest string) { // "..." is one argument
		line, script, _ := strings.Cut(rest, "\n")
		quoted := strings.Split(line, `"`)
		args := append(strings.Fields(quoted[0]), quoted[1])
		f.run(r, script, append(args, strings.Fields(quoted[2])...)...)
	},
	"gopls": func(f *fake, _ request, _ string) { // a process of that name
		name := filepath.Join(os.Getenv("FAKE_DIR"), "gopls")
		check(os.Symlink("/bin/sleep", name))
		check(exec.Command(name, "600").Start())
	},
	"daemon": func(f *fake, r request, _ string) { f.child(true) },
	"shows":  func(f *fake, r request, _ string) { f.shows(r) },
	"stderr": func(f *fake, r request, rest string) { f.stderr(r, rest) },
	"clears": func(f *fake, r request, _ string) {
		f.publish(r, "display_data", map[string]any{"data": map[string]any{clearType: true}})
	},
	"flood": func(f *fake, r request, rest string) {
		n, _ := strconv.Atoi(rest)
		line := strings.Repeat("x", 1<<20-1) + "\n"
		for range n {
			f.print(r, line)
		}
	},
	"wrong-signature": func(f *fake, r request, _ string) {
		for i := range 3 {
			frames := f.frames([]byte("t"), r, "stream", map[string]any{"name": "stdout", "text": "forged"})
			frames[2] = [][]byte{[]byte(strings.Repeat("0", 64)), nil, []byte("short")}[i]
			check(f.iopub.SendMulti(zmq4.NewMsgFrom(frames...)))
		}
		forged := f.frames(r.identity, r, "execute_reply", map[string]any{"status": "ok"})
		forged[6] = []byte(`{"status": "forged"}`)
		check(f.shell.SendMulti(zmq4.NewMsgFrom(forged...)))
		f.print(r, "true")
	},
	"malformed": func(f *fake, r request, _ string) {
		for _, frames := range [][][]byte{
			{[]byte("topic")}, {nil}, {[]byte("<IDS|MSG>")}, {[]byte("a"), []byte("<IDS|MSG>"), []byte("b")},
			f.frames(nil, r, "stream", "not an object"), f.frames(nil, r, "status", 3),
			f.frames(nil, request{header: []byte("not JSON")}, "stream", nil),
		} {
			check(f.iopub.SendMulti(zmq4.NewMsgFrom(frames...)))
		}
		f.print(r, "true")
	},
	"strangers": func(f *fake, r request, _ string) {
		other := request{identity: r.identity, header: []byte(`{"msg_id": "other"}`)}
		f.print(other, "of somebody else")
		f.reply(other, "error")
		f.status(other, "idle")
		none := request{identity: r.identity, header: []byte(`{}`)}
		f.print(none, "of nobody")
		time.Sleep(50 * time.Millisecond)
		f.print(r, "own")
	},
}

func (f *fake) stderr(r request, text string) {
	f.publish(r, "stream", map[string]any{"name": "stderr", "text": text})
}

// run runs a program as GoNB does: its exit code is no error.
func (f *fake) run(r request, input string, argv ...string) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.Output()
	f.print(r, string(out))
	if err != nil {
		f.stderr(r, err.Error()+"\n")
	}
}

// fails answers as GoNB does for a program that printed texts to stderr and failed.
func (f *fake) fails(r request, evalue string, trace, printed []string) {
	for _, text := range append(printed, evalue+"\n") {
		f.stderr(r, text)
	}
	content := map[string]any{"status": "error", "ename": "ERROR", "evalue": evalue, "traceback": trace}
	f.publish(r, "error", content)
	f.send(f.shell, r.identity, r, "execute_reply", content)
	f.status(r, "idle")
}

// odd commands send their own, faulty answers.
var odd = map[string]func(f *fake, r request, rest string){
	"panic": func(f *fake, r request, _ string) {
		f.fails(r, "exit status 2", []string{"exit status 2"}, []string{"warned\npanic: boom\n\n", "goroutine 1\n"})
	},
	"fails": func(f *fake, r request, _ string) {
		f.fails(r, "exit status 3", []string{"exit status 3"}, []string{"warned\n"})
	},
	"compile": func(f *fake, r request, _ string) {
		content := map[string]any{"status": "error", "ename": "ERROR", "evalue": "# gonb_12345678\n./main.go:11:13: bad\n",
			"traceback": []string{"# gonb_12345678", "Cell[1]: Line 2\n\nfunc main() {\nbad", "", "too many errors"}}
		f.publish(r, "error", content)
		f.send(f.shell, r.identity, r, "execute_reply", content)
		f.status(r, "idle")
	},
	"reply-first": func(f *fake, r request, _ string) { f.replyFirst(r) },
	"idle-first":  func(f *fake, r request, _ string) { f.idleFirst(r) },
	"no-idle":     func(f *fake, r request, _ string) { f.print(r, "out"); f.reply(r, "ok") },
	"no-reply":    func(f *fake, r request, _ string) { f.print(r, "out"); f.status(r, "idle") },
	"exit":        func(f *fake, r request, rest string) { f.exit(r, rest) },
	"exit-child":  func(f *fake, r request, rest string) { f.child(false); f.exit(r, rest) },
	"exit-after":  func(f *fake, r request, _ string) { f.reply(r, "ok"); f.status(r, "idle"); f.exit(r, "0") },
	"kill":        func(*fake, request, string) { self, _ := os.FindProcess(os.Getpid()); self.Kill() },
	"hang":        func(*fake, request, string) { time.Sleep(longTime) },
	"wait": func(f *fake, r request, rest string) { // until interrupted that many times
		f.print(r, "waiting")
		n, _ := strconv.Atoi(rest)
		for range n {
			<-f.interrupts
		}
		f.reply(r, "error")
		f.status(r, "idle")
	},
	"input": func(f *fake, r request, _ string) {
		cmd := exec.Command("sleep", "600") // until interrupted
		check(cmd.Start())
		f.send(f.stdin, r.identity, r, "input_request", map[string]any{"prompt": "name?", "password": false})
		_ = cmd.Wait()
		f.reply(r, "error")
		f.status(r, "idle")
	},
}

// replyFirst sends the reply, and later an output and idle.
func (f *fake) replyFirst(r request) {
	f.reply(r, "ok")
	time.Sleep(50 * time.Millisecond)
	f.print(r, "late")
	f.status(r, "idle")
}

// idleFirst sends outputs and idle, and later the reply.
func (f *fake) idleFirst(r request) {
	f.print(r, "early")
	f.status(r, "idle")
	f.print(r, "after idle")
	time.Sleep(50 * time.Millisecond)
	f.reply(r, "ok")
}

func (f *fake) exit(r request, code string) {
	f.print(r, "last words")
	time.Sleep(50 * time.Millisecond) // zmq4's PUB sockets send in the background
	fmt.Fprintln(os.Stderr, "the fake kernel gives up")
	n, _ := strconv.Atoi(code)
	os.Exit(n)
}

// child starts a process that does not end by itself: in the kernel's group, or in its own as gopls is.
func (f *fake) child(own bool) {
	cmd := exec.Command(os.Args[0], "none")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: own}
	cmd.Env = append(os.Environ(), "FAKE_START=child")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr // keeps the kernel's pipes open
	check(cmd.Start())
}

func (f *fake) shows(r request) {
	data := map[string]any{"text/plain": "one", "application/json": map[string]any{"a": 1}}
	meta := map[string]any{"image/png": map[string]any{"width": 3}}
	transient := map[string]any{"display_id": "d1"}
	f.publish(r, "stream", map[string]any{"name": "stderr", "text": "warning\n"})
	f.publish(r, "display_data", map[string]any{"data": data, "metadata": meta, "transient": transient})
	f.publish(r, "comm_open", map[string]any{"comm_id": "x", "target_name": "t",
		"data": map[string]any{"state": map[string]any{"msg_id": ""}}})
	f.publish(r, "update_display_data", map[string]any{"data": data, "metadata": meta, "transient": transient})
	f.publish(r, "clear_output", map[string]any{"wait": true})
	f.publish(r, "execute_result", map[string]any{"data": data, "metadata": meta, "execution_count": 4})
	f.publish(r, "error", map[string]any{"ename": "E", "evalue": "v", "traceback": []string{"a", "b"}})
}
