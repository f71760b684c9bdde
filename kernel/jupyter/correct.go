package jupyter

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"
)

// request is a client's message as the kernel gets it; nil if it is not for the kernel. Relay's own requests are
// answered here: a client that does not read must not hold up its own requests, so each answer has a goroutine.
func (r *relay) request(client *socket, frames [][]byte) [][]byte {
	m, err := r.session.decode(frames)
	if err != nil {
		r.log.reject(err)
		return nil
	}
	if answer := answers[m.header.Type]; answer != nil {
		if content := answer(r, m); content != nil {
			r.clients.Go(func() {
				reply := r.session.newHeader(strings.TrimSuffix(m.header.Type, "_request") + "_reply")
				if answer, err := r.session.encode(reply, &m.header, content); err == nil {
					_ = client.send(append(slices.Clone(routing(frames)), answer...)...)
				}
				r.publishing.Lock()
				defer r.publishing.Unlock()
				r.publish(m.header, "status", map[string]string{"execution_state": "busy"})
				r.publish(m.header, "status", map[string]string{"execution_state": "idle"})
			})
			return nil
		}
	}
	if m.header.Type == "execute_request" {
		return r.execution(m, frames)
	}
	return frames
}

// pageUser marks a request for a page: GoNB copies the name of the user to the reply.
const pageUser = "tvps-page"

// asked matches a cell that asks for a page about a name, as in IPython.
var asked = regexp.MustCompile(`^\s*(?:\?\s*([\w.]+)|([\w.]+)\?)\s*$`)

// execution is an execute_request for GoNB. A cell such as ?fmt.Println becomes an inspect_request, whose reply
// becomes that to the cell. Line ends become those of Go. Commands of the shell have no input.
func (r *relay) execution(m message, frames [][]byte) [][]byte {
	var content map[string]any
	_ = json.Unmarshal(m.content, &content)
	code, ok := content["code"].(string)
	if !ok {
		return nil // GoNB would end
	}
	if name := asked.FindStringSubmatch(code); name != nil {
		code = "%%\n" + name[1] + name[2]
		m.header.Type, m.header.Username = "inspect_request", pageUser
		return r.session.changed(frames, m.header, map[string]any{
			"code": code, "cursor_pos": len(code) - 1, "detail_level": 0})
	}
	content["code"] = withoutInput(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(code))
	return r.session.changed(frames, m.header, content)
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

// changed is a message with another header and content. A content that cannot be encoded leaves it as it was.
func (s session) changed(frames [][]byte, h header, content any) [][]byte {
	encoded, err := s.encode(h, nil, content)
	if err != nil {
		return frames
	}
	n := len(routing(frames))
	frames = slices.Clone(frames)
	frames[n+2], frames[n+5] = encoded[2], encoded[5]
	frames[n+1] = s.sign(frames[n+2 : n+6])
	return frames
}

// reply is a message of the kernel's shell, control or stdin channel as the client gets it.
func (r *relay) reply(frames [][]byte) [][]byte {
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
		if content["status"] != "error" {
			return frames
		}
		for key, value := range r.failure(m.parent.ID) {
			content[key] = value
		}
	default:
		return frames
	}
	return r.session.changed(frames, m.header, content)
}

// unknown is the page about a name that gopls does not explain.
var unknown = map[string]any{"text/plain": "gopls knows nothing of this name, or has not yet loaded its package.\n"}

// failure is why a cell failed, for the fields ename, evalue and traceback of error and execute_reply.
type failure = map[string]any

// failure waits for the message error of a cell, which GoNB sends before its reply, but on another channel.
func (r *relay) failure(id string) failure {
	for end := time.Now().Add(defaultLimits.sockets); ; time.Sleep(time.Millisecond) {
		r.mu.Lock()
		f := r.failed[id]
		delete(r.failed, id)
		r.mu.Unlock()
		if f != nil || time.Now().After(end) {
			return f
		}
	}
}

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
	switch m.header.Type {
	case "stream":
		if content["name"] == "stderr" && r.held(frames, m.header, content) {
			return
		}
	case "error":
		content = r.crash.explain(content)
		r.crash = crash{}
		r.mu.Lock()
		r.failed[m.parent.ID] = content
		r.mu.Unlock()
		frames = r.session.changed(frames, m.header, content)
	case "status": // no error follows
		for _, held := range r.crash.frames {
			r.toAll(held)
		}
		r.crash = crash{}
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
		content["code"] = strings.ReplaceAll(code, noInput, "")
		r.toAll(r.session.changed(frames, m.header, content))
		if readsInput.MatchString(code) && !asksInput.MatchString(code) {
			r.publish(m.parent, "stream", map[string]string{"name": "stderr", "text": inputSentence})
		}
		return
	}
	r.toAll(frames)
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

// explain makes GoNB's error that of the program: a panic's first line, and all that it printed. For the compiler's
// errors, GoNB gives their lines in its own file; the lines of the cell are in the traceback.
func (c *crash) explain(content failure) failure {
	if panics.MatchString(c.text) {
		content["evalue"], _, _ = strings.Cut(c.text, "\n")
		content["traceback"] = strings.Split(strings.TrimRight(c.text, "\n"), "\n")
		return content
	}
	var reasons []string
	trace, _ := content["traceback"].([]any)
	for _, item := range trace {
		text, _ := item.(string)
		if lines := strings.Split(text, "\n"); strings.HasPrefix(text, "Cell") && len(lines) > 1 {
			reasons = append(reasons, lines[0]+": "+lines[len(lines)-1])
		}
	}
	if len(reasons) > 0 {
		content["evalue"] = strings.Join(reasons, "\n")
	}
	return content
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
