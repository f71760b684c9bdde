package notebook

import (
	"context"
	"errors"
	"fmt"
	"html"
	"math"
	"os"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/comms"
	"github.com/janpfeifer/gonb/gonbui/dom"
	"github.com/janpfeifer/gonb/gonbui/widgets"
)

// patience is how long [Live] waits for the front end. Without one, as in `go run ./kernel run`, no answer comes.
const patience = time.Minute

// Control is a slider or a list above outputs that change with it: see [Live].
type Control struct {
	label     string
	low, step float64
	last      int      // the largest position; the smallest is 0
	choices   []string // of a list; nil for a slider

	mutex    sync.Mutex
	position int
}

// Slider returns a slider from low to high in equal steps, at the closest step to value.
func Slider(label string, low, high, step, value float64) *Control {
	last := int(math.Round((high - low) / step))
	at := min(last, max(0, int(math.Round((value-low)/step))))
	return &Control{label: label, low: low, step: step, last: last, position: at}
}

// Choice returns a list of choices; the first is selected.
func Choice(label string, choices ...string) *Control {
	return &Control{label: label, step: 1, last: len(choices) - 1, choices: choices}
}

// Value is the value of a slider, or the number of a choice, counted from 0.
func (c *Control) Value() float64 {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return math.Round((c.low+float64(c.position)*c.step)*1e9) / 1e9 // 0.3, not 0.30000000000000004
}

// Text is the selected choice, or the value of a slider.
func (c *Control) Text() string {
	if c.choices != nil {
		return c.choices[int(c.Value())]
	}
	return fmt.Sprint(c.Value())
}

// set moves the control. Positions out of range are ignored: they come from a page.
func (c *Control) set(position int) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if position < 0 || position > c.last || position == c.position {
		return false
	}
	c.position = position
	return true
}

// Live calls draw, and again after each change of a control, until the cell is interrupted. The outputs of a call
// replace those of the call before. Without a front end that answers, or with TVPS_LIVE=off, as in `go run ./kernel
// run`, the cell shows the outputs for the first values of the controls and ends.
func Live(draw func(), controls ...*Control) { live(Context(), draw, controls, connect) }

// connector shows controls in the output with the given id, and sends to changed after each change. It returns when
// the front end has answered, and fails if it does not.
type connector func(ctx context.Context, id string, controls []*Control, changed chan<- struct{}) error

func live(ctx context.Context, draw func(), controls []*Control, connect connector) {
	unique := gonbui.UniqueId()
	before := output
	defer func() { output = before }()
	say := func(text string) { before.display(small("controls-"+unique, text)) }
	say("The controls appear when JupyterLab answers.")
	page := &replaced{out: before, id: "live-" + unique}
	output = page
	draw()
	changed := make(chan struct{}, 1)
	if err := connect(ctx, "controls-"+unique, controls, changed); err != nil {
		say("The controls need JupyterLab. These outputs are for their first values.")
		return
	}
	for {
		select {
		case <-ctx.Done():
			page.finish()
			say("Stopped. Run the cell again to move the controls.")
			return
		case <-changed:
			page.restart()
			draw()
		}
	}
}

// replaced is a sink whose outputs replace those of the draw before, by their order. Pictures are kept back after the
// first draw, because the charts hide them: finish shows the last ones, which are then saved with the notebook.
type replaced struct {
	out      sink
	id       string
	count    int
	again    bool
	pictures []message
}

func (r *replaced) display(m message) {
	m.id = fmt.Sprintf("%s-%d", r.id, r.count)
	r.count++
	if m.data[PNGMIME] != nil && r.again {
		r.pictures = append(r.pictures, m)
		return
	}
	r.out.display(m)
}

func (r *replaced) restart() { r.count, r.again, r.pictures = 0, true, nil }

func (r *replaced) finish() {
	for _, m := range r.pictures {
		r.out.display(m)
	}
}

// connect is the connector for GoNB's widgets.
func connect(ctx context.Context, id string, controls []*Control, changed chan<- struct{}) error {
	if !gonbui.IsNotebook || os.Getenv("TVPS_LIVE") == "off" { // GoNB's script would stay in the notebook
		return errors.New("there is no front end")
	}
	ready := make(chan struct{})
	go func() {
		defer close(ready)
		comms.Start()
		frame := "gonb_controls_" + gonbui.UniqueId()
		content := fmt.Sprintf("<div id=%q style=\"display:grid;grid-template-columns:max-content 16em max-content;"+
			"gap:4px 12px;align-items:center\"></div>", frame)
		cell{}.display(message{id, map[string]any{HTMLMIME: content, PlainMIME: "controls"}})
		for _, c := range controls {
			c.show(frame, changed)
		}
		// Otherwise JupyterLab takes the arrow keys and letters that a control gets for its own shortcuts.
		dom.TransientJavascript(fmt.Sprintf("document.querySelectorAll('#%s input, #%[1]s select')."+
			"forEach(e => { e.dataset.lmSuppressShortcuts = '' })", frame))
	}()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// show adds a control to the element with the given id, and returns when the front end has answered.
func (c *Control) show(frame string, changed chan<- struct{}) {
	dom.Append(frame, "<span>"+html.EscapeString(c.label)+"</span>")
	var positions <-chan int
	var value string // id of the element that shows the value
	if c.choices != nil {
		var escaped []string
		for _, choice := range c.choices {
			escaped = append(escaped, html.EscapeString(choice))
		}
		positions = widgets.Select(escaped).SetDefault(c.position).AppendTo(frame).Done().Listen().C
		dom.Append(frame, "<span></span>")
	} else {
		positions = widgets.Slider(0, c.last, c.position).AppendTo(frame).Done().Listen().C
		value = "gonb_value_" + gonbui.UniqueId()
		dom.Append(frame, fmt.Sprintf("<span id=%q>%s</span>", value, c.Text()))
	}
	go func() {
		for position := range positions {
			if !c.set(position) {
				continue
			}
			if value != "" {
				dom.SetInnerText(value, c.Text())
			}
			select {
			case changed <- struct{}{}:
			default: // a change is waiting already
			}
		}
	}()
}
