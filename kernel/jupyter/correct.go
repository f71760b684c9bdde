package jupyter

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// request is a client's message as the kernel gets it; nil if it is not for the kernel, or if it waits in the queue.
// Relay's own requests are answered here: a client that does not read must not hold up its own requests, so each answer
// has a goroutine.
func (r *relay) request(client, kernel *socket, frames [][]byte) [][]byte {
	m, err := r.session.decode(frames)
	if err != nil {
		r.log.reject(err)
		return nil
	}
	if answer := answers[m.header.Type]; answer != nil {
		if content := answer(r, m); content != nil {
			r.clients.Go(func() { r.answer(client, m, frames, content) })
			return nil
		}
	}
	if m.header.Type == "execute_request" {
		if e := r.execution(m, frames); e != nil {
			e.client, e.kernel = client, kernel
			r.queue.add(e)
		}
		return nil
	}
	if needed[m.header.Type] == nil {
		return frames
	}
	content := contentOf(m)
	if at := cursorAt(m); at.Code != "" {
		content["code"] = inUnits(at.Code, at.Pos)
	}
	return r.session.changed(frames, m.header, content)
}

// needed are the fields without which, or with values of another type, GoNB ends at a request: with the protocol's
// defaults, or else with what does nothing.
var needed = map[string]map[string]any{
	"execute_request":  {"silent": false, "store_history": true, "allow_stdin": true},
	"inspect_request":  {"code": "", "cursor_pos": 0.0, "detail_level": 0.0},
	"complete_request": {"code": "", "cursor_pos": 0.0},
	"input_reply":      {"value": ""},
}

// contentOf is the content of a request, with the fields that GoNB needs.
func contentOf(m message) map[string]any {
	var content map[string]any
	if _ = json.Unmarshal(m.content, &content); content == nil {
		content = map[string]any{}
	}
	for name, value := range needed[m.header.Type] {
		if reflect.TypeOf(content[name]) != reflect.TypeOf(value) {
			content[name] = value
		}
	}
	return content
}

// answer replies to a client's request.
func (r *relay) answer(client *socket, m message, frames [][]byte, content any) {
	reply := r.session.newHeader(strings.TrimSuffix(m.header.Type, "_request") + "_reply")
	_ = client.send(slices.Concat(routing(frames), r.session.encode(reply, &m.header, content))...)
	r.publishing.Lock()
	defer r.publishing.Unlock()
	r.publish(m.header, "status", map[string]string{"execution_state": "busy"})
	r.publish(m.header, "status", map[string]string{"execution_state": "idle"})
}

// pageUser marks a request for a page: GoNB copies the name of the user to the reply.
const pageUser = "tvps-page"

// asked matches a cell that asks for a page about a name, as in IPython.
var asked = regexp.MustCompile(`^\s*(?:\?\s*([\w.]+)|([\w.]+)\?)\s*$`)

// execution is an execute_request for GoNB. A cell such as ?fmt.Println becomes an inspect_request, whose reply
// becomes that to the cell. Line ends become those of Go. Commands of the shell have no input. Scripts write their exit
// code to a file. A last line that is an expression is printed.
func (r *relay) execution(m message, frames [][]byte) *execution {
	content := contentOf(m)
	code, ok := content["code"].(string)
	if !ok {
		return nil // GoNB would end
	}
	e := &execution{message: m, code: code, idle: make(chan struct{}), ended: make(chan struct{})}
	e.stops, e.asks = content["stop_on_error"] != false && content["silent"] != true, content["allow_stdin"] != false
	if name := asked.FindStringSubmatch(code); name != nil {
		code = "%%\n" + name[1] + name[2]
		m.header.Type, m.header.Username = "inspect_request", pageUser
		e.frames = r.session.changed(frames, m.header, map[string]any{
			"code": code, "cursor_pos": len(code) - 1, "detail_level": 0})
		return e
	}
	code = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(code)
	if first := script.FindStringSubmatch(code); first != nil {
		e.exit = filepath.Join(r.dir, uuid.NewString())
		code = fmt.Sprintf(scriptCommand, e.exit) + first[1] + first[2] + code[len(first[0]):]
	}
	content["code"] = shown(withoutInput(code))
	e.frames = r.session.changed(frames, m.header, content)
	return e
}

// script matches the first line of a cell that is input for a program.
var script = regexp.MustCompile(`(?m)\A(?://gonb:)?%%(?:script[ \t]+(.*)|(bash|sh)[ \t]*)$`)

// scriptCommand runs the program of such a cell, which GoNB does not let fail, and writes its exit code to a file.
const scriptCommand = `%%%%script /bin/bash -c "set -f; IFS=; $@; echo $? >'%s'" - `

// exitCode is that of a script that has ended; 0 also for other cells.
func (e *execution) exitCode() string {
	code, _ := os.ReadFile(e.exit)
	return cmp.Or(strings.TrimSpace(string(code)), "0")
}

// noInput ends the input of a command of the shell: GoNB gives it a pipe that nobody writes to.
const noInput = "exec </dev/null; "

var (
	shellCommand = regexp.MustCompile(`^(?://gonb:)?!\s*\*?`)
	asksInput    = regexp.MustCompile(`\bRequestInput\b|(?m:^(?://gonb:)?%with_(inputs|password)\b)`)
	readsInput   = regexp.MustCompile(`\bos\.Stdin\b|\bfmt\.Scan`)
	notGo        = regexp.MustCompile(`^(?://gonb:)?%%[a-z]`)
)

func withoutInput(code string) string {
	if asksInput.MatchString(code) || notGo.MatchString(code) {
		return code
	}
	return commands.ReplaceAllStringFunc(code, func(command string) string {
		begin := shellCommand.FindString(command)
		if begin == "" {
			return command
		}
		return begin + noInput + command[len(begin):]
	})
}

// changed is a message with another header and content.
func (s session) changed(frames [][]byte, h header, content any) [][]byte {
	encoded := s.encode(h, nil, content)
	n := len(routing(frames))
	frames = slices.Clone(frames)
	frames[n+2], frames[n+5] = encoded[2], encoded[5]
	frames[n+1] = s.sign(frames[n+2 : n+6])
	return frames
}

// reply passes a message of the kernel's shell, control or stdin channel to the client. The reply to a cell comes after
// all outputs: these say whether it failed. Then the queue continues.
func (r *relay) reply(client *socket, frames [][]byte) {
	m, err := r.session.decode(frames)
	e := r.queue.running(m.parent.ID)
	if e != nil && !e.asks && m.header.Type == "input_request" {
		r.refuse(e, noClientInput)
		return
	}
	if err != nil || e == nil || !strings.HasSuffix(m.header.Type, "_reply") {
		_ = client.send(r.corrected(frames, nil)...)
		return
	}
	var content Reply
	_ = json.Unmarshal(m.content, &content)
	var why failure
	select {
	case <-e.idle:
		why = e.why
	case <-time.After(defaultLimits.sockets):
	}
	var waiting []*execution
	if e.stops && (why != nil || content.Status == "error") {
		_, waiting = r.queue.stop() // not what the client sends after the reply
	}
	_ = client.send(r.corrected(frames, why)...)
	_ = os.Remove(e.exit)
	r.queue.next()
	r.abort(waiting)
}

// corrected is a message of the kernel as the client gets it. why says why a cell failed.
func (r *relay) corrected(frames [][]byte, why failure) [][]byte {
	m, err := r.session.decode(frames)
	var content map[string]any
	if err != nil || json.Unmarshal(m.content, &content) != nil {
		return frames
	}
	switch m.header.Type {
	case "kernel_info_reply":
		if info, ok := content["language_info"].(map[string]any); ok {
			info["pygments_lexer"] = "go" // nbconvert takes another language otherwise
		}
	case "inspect_reply":
		data, _ := content["data"].(map[string]any)
		text, _ := data["text/plain"].(string)
		if data["text/markdown"] == "" || data["text/markdown"] == nil && !strings.HasPrefix(text, "## GoNB") {
			content, data = notFound, unknown // the text is an error
		} else if data["text/markdown"] != nil {
			data["text/plain"] = data["text/markdown"] // the protocol demands it, and consoles show nothing else
		}
		if m.parent.Username == pageUser {
			m.header.Type = "execute_reply"
			content = map[string]any{"status": "ok", "execution_count": r.count.Load(), "user_expressions": struct{}{},
				"payload": []any{map[string]any{"source": "page", "start": 0, "data": data}}}
		}
	case "execute_reply":
		if why == nil {
			return frames
		}
		content["status"] = "error"
		maps.Copy(content, why)
	default:
		return frames
	}
	return r.session.changed(frames, m.header, content)
}

// unknown is the page about a name that gopls does not explain.
var unknown = map[string]any{"text/plain": "gopls knows nothing of this name, or has not yet loaded its package.\n"}

// failure is why a cell failed: the fields ename, evalue and traceback of error and execute_reply.
type failure = map[string]any

// crash is what a cell's program printed when it ended with an error. GoNB publishes it as text of stderr, its own
// message about the exit code, and then an error that is that message alone. The clients get one error.
type crash struct {
	frames [][][]byte
	text   string
}

var (
	panics = regexp.MustCompile(`(?m)^(panic: |fatal error: |runtime: )`)
	exits  = regexp.MustCompile(`^(\^C\n)?(exit status \d+|signal: [a-z ]+)( \(core dumped\))?\n$`)
)

// unknownCommand matches what GoNB prints instead of failing.
var unknownCommand = regexp.MustCompile(`^"(%.*)" unknown or not implemented yet\.$`)

// noClientInput is for cells that ask where the client says that it cannot.
const noClientInput = "the cell asks for input, which its client does not give: run it in JupyterLab or a console, " +
	"or put the input into the cell"

// clearType is the MIME type of an output that clears the others: the message clear_output, which GoNB lacks. Its value
// says whether to wait for the next output.
const clearType = "application/vnd.tvps.clear+json"

// inputSentence is for cells whose program reads standard input without asking for it: it is at its end.
const inputSentence = "Standard input is empty in notebooks. Ask with gonbui.RequestInput(\"text\", false), " +
	"then read os.Stdin.\n"

// publication passes what the kernel publishes to all clients, corrected.
func (r *relay) publication(frames [][]byte) {
	r.publishing.Lock()
	defer r.publishing.Unlock()
	m, err := r.session.decode(frames)
	var content map[string]any
	if err != nil || json.Unmarshal(m.content, &content) != nil {
		return
	}
	data, _ := content["data"].(map[string]any)
	e := r.queue.running(m.parent.ID)
	switch m.header.Type {
	case "stream":
		text, _ := content["text"].(string)
		if name := unknownCommand.FindStringSubmatch(text); name != nil && e != nil {
			r.refuse(e, name[1]+" is no command of GoNB: see %help")
			return
		}
		if content["name"] == "stderr" && r.held(frames, m.header, content) {
			return
		}
	case "error":
		content = r.explain(content, e)
		frames = r.session.changed(frames, m.header, content)
		if e != nil {
			e.why = content
		}
	case "status":
		r.status(m, content["execution_state"], e)
	case "display_data", "update_display_data":
		if wait, ok := data[clearType]; ok {
			m.header.Type, content = "clear_output", map[string]any{"wait": wait == true}
			frames = r.session.changed(frames, m.header, content)
		} else if script, ok := data["text/html"].(string); ok && strings.Contains(script, "gonb_comm") {
			data["text/html"] = socketScript.Replace(script)
			frames = r.session.changed(frames, m.header, content)
		}
	case "execute_input":
		code, _ := content["code"].(string)
		count, _ := content["execution_count"].(float64)
		r.count.Store(int64(count))
		if e != nil {
			content["code"] = e.code
		}
		r.toAll(r.session.changed(frames, m.header, content))
		if readsInput.MatchString(code) && !asksInput.MatchString(code) {
			r.publish(m.parent, "stream", map[string]string{"name": "stderr", "text": inputSentence})
		}
		return
	}
	r.toAll(frames)
}

// status ends the outputs of a cell. What was held back for an error is then an output like others. GoNB lets no cell
// fail whose script failed, whose command of the shell was interrupted, or whose command is unknown.
func (r *relay) status(m message, state any, e *execution) {
	held := r.crash
	r.crash = crash{}
	ended := state == "idle" && e != nil
	var why failure
	switch {
	case !ended || e.why != nil: // GoNB has sent an error
	case e.refused.Load() != nil:
		why, held.frames = *e.refused.Load(), nil
	case e.interrupted.Load() && held.text != "":
		why, held.frames = failed("Interrupted", "the cell was interrupted"), nil
	case e.exitCode() != "0":
		why = failed("ERROR", "exit status "+e.exitCode())
	}
	for _, frames := range held.frames {
		r.toAll(frames)
	}
	if why != nil {
		e.why = why
		r.publish(m.parent, "error", why)
	}
	if ended {
		e.published.Do(func() { close(e.idle) })
	}
}

// held tells whether text on stderr belongs to a crash, and keeps it for the error that follows. It passes what comes
// before the crash.
func (r *relay) held(frames [][]byte, h header, content map[string]any) bool {
	text, _ := content["text"].(string)
	if begin := panics.FindStringIndex(text); begin != nil && begin[0] > 0 && r.crash.text == "" {
		content["text"] = text[:begin[0]]
		r.toAll(r.session.changed(frames, h, content))
		text = text[begin[0]:]
		content["text"] = text
		frames = r.session.changed(frames, h, content)
	}
	if r.crash.text == "" && !panics.MatchString(text) && !exits.MatchString(text) {
		return false
	}
	r.crash.frames, r.crash.text = append(r.crash.frames, frames), r.crash.text+text
	return true
}

// socketScript corrects GoNB's script that connects the page with the kernel. The address is that of the page's
// server, whatever its base URL, and encrypted if the page is. A lost acknowledgement is asked for again. On pages
// without https there is no crypto.randomUUID.
var socketScript = strings.NewReplacer(
	`"ws://" + document.location.host + "/api/kernels/`, `new URL((
            JSON.parse(document.getElementById("jupyter-config-data")?.textContent || "{}").baseUrl ||
            document.body.dataset.baseUrl || "/") + "api/kernels/`,
	`/channels",`, `/channels", document.location.origin).href.replace(/^http/, "ws"),`,
	`let err = this._send(msg);
            await this._wait_open_ack();`, `for (let tries = 1; ; tries++) {
                this._send(msg);
                try { await this._wait_open_ack(); break; } catch (err) { if (tries == 20) throw err; }
            }`,
	`crypto.randomUUID()`, `(crypto.randomUUID?.() ?? Math.random().toString(16).slice(2))`,
)
