package notebook

import (
	"encoding/gob"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"os"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// MIME types of outputs.
const (
	PlainMIME = "text/plain"
	HTMLMIME  = "text/html"
	PNGMIME   = "image/png"
	SVGMIME   = "image/svg+xml"

	// ValuesMIME marks numbers for `go run ./kernel check`: {"values": {name: number}}, and "from": "gallery" in a cell
	// that computes no figure and shows one of the gallery.
	ValuesMIME = "application/vnd.tvps.values+json"
)

// message is one output of a cell: the same content in several MIME types, always including text/plain.
type message struct {
	id   string // if not empty, the message replaces the last one with this id
	data map[string]any
}

// Show displays the same content as HTML and as text, with numbers for the check unless they are nil.
func Show(html, text string, values map[string]float64) {
	data := map[string]any{HTMLMIME: html, PlainMIME: text}
	if values != nil {
		data[ValuesMIME] = valuesOf(values)
	}
	output.display(message{data: data})
}

// Display displays the same content in several MIME types; one is text/plain.
func Display(data map[string]any) { output.display(message{data: data}) }

// Say displays a sentence in small letters.
func Say(text string) { output.display(small("", text)) }

// Folded is HTML below a title that a click unfolds.
func Folded(title, content string) string {
	return "<details><summary>" + html.EscapeString(title) + "</summary>\n" + content + "\n</details>"
}

// small is a sentence in small letters, in place of the output with the same id if that is not empty.
func small(id, text string) message {
	return message{id, map[string]any{HTMLMIME: "<small>" + html.EscapeString(text) + "</small>", PlainMIME: text}}
}

// sink receives the outputs of a cell.
type sink interface{ display(message) }

// output is the sink of this program. Tests replace it.
var output sink = plain{os.Stdout}

func init() {
	if gonbui.IsNotebook {
		output = cell{}
	}
	gob.Register(map[string]any{}) // GoNB's pipe uses gob, and some values are nested maps
}

// cell sends messages to GoNB, which forwards them to the front end.
type cell struct{}

func (cell) display(m message) {
	if _, err := json.Marshal(m.data); err != nil { // GoNB would drop the output and say nothing
		Exit(fmt.Errorf("an output cannot be shown: %w", err))
	}
	data := make(map[protocol.MIMEType]any, len(m.data))
	for mime, content := range m.data {
		data[protocol.MIMEType(mime)] = content
	}
	gonbui.SendData(&protocol.DisplayData{Data: data, DisplayID: m.id})
	flush(gonbui.Sync)
}

// flush waits until GoNB has received the messages, because GoNB closes the pipe when the program ends.
func flush(sync func()) {
	done := make(chan struct{})
	go func() { sync(); close(done) }()
	select {
	case <-done:
	case <-time.After(2 * time.Second): // GoNB has ended, or is about to kill this program
	}
}

// plain prints the text of messages. It omits messages with an id: printed lines cannot be replaced.
type plain struct{ out io.Writer }

func (p plain) display(m message) {
	if m.id == "" {
		fmt.Fprintln(p.out, m.data[PlainMIME])
	}
}
