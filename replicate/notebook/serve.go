package notebook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// Program is the name of the program that answers the calls of cells. `go run ./kernel install` builds it, and puts its
// folder on the PATH of cells.
const Program = "tvps-notebook"

// patient is how long the program may go on after its cell has ended, to finish a step of a run.
const patient = 5 * time.Second

// request is a line from a cell to the program.
type request struct {
	Call string          `json:"call"`
	Args json.RawMessage `json:"args"`
}

// answer is a line from the program to a cell: an output, or the end of a call.
type answer struct {
	ID      string          `json:"id,omitempty"`      // of the output that this one replaces
	Display map[string]any  `json:"display,omitempty"` // an output, by MIME type
	Done    bool            `json:"done,omitempty"`    // the call has ended
	Result  json.RawMessage `json:"result,omitempty"`
	Error   string          `json:"error,omitempty"`
	Stopped bool            `json:"stopped,omitempty"` // the error is that of an interrupt
}

// Call is a function of the program. Its outputs go to the cell that asks, its result as JSON.
type Call func(ctx context.Context, args json.RawMessage) (result any, err error)

// Serve answers the requests of a cell until there are no more. ctx is that of the calls; the end of the cell cancels
// it.
func Serve(ctx context.Context, in io.Reader, out io.Writer, calls map[string]Call) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	to := &lines{out: json.NewEncoder(out)}
	output = to
	requests := make(chan request)
	var late *time.Timer
	go func() {
		decoder := json.NewDecoder(in)
		for {
			var r request
			if decoder.Decode(&r) != nil {
				break
			}
			requests <- r
		}
		cancel()
		late = time.AfterFunc(patient, func() { os.Exit(1) })
		close(requests)
	}()
	for r := range requests {
		to.send(respond(ctx, r, calls))
	}
	late.Stop()
}

func respond(ctx context.Context, r request, calls map[string]Call) answer {
	end := answer{Done: true}
	call, ok := calls[r.Call]
	if !ok {
		end.Error = fmt.Sprintf("%s has no call %q", Program, r.Call)
		return end
	}
	mark(r.Call)
	result, err := call(ctx, r.Args)
	if err == nil {
		end.Result, err = json.Marshal(result)
	}
	if err != nil {
		end.Error, end.Stopped = err.Error(), errors.Is(err, context.Canceled)
	}
	return end
}

// lines is the sink of the program.
type lines struct {
	mutex sync.Mutex
	out   *json.Encoder
}

func (l *lines) send(a answer) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	_ = l.out.Encode(a) // fails when the cell has ended, which ends the program
}

func (l *lines) display(m message) { l.send(answer{ID: m.id, Display: m.data}) }

// peer is the program as a cell sees it.
type peer struct {
	mutex sync.Mutex // one call at a time
	in    *json.Encoder
	out   *json.Decoder
	wait  func() error
}

// program starts the program at the first call of a cell. The end of the cell's context closes its input.
var program = sync.OnceValues(func() (*peer, error) {
	path, err := exec.LookPath(Program)
	if err != nil {
		return nil, fmt.Errorf("this call needs the program %s, which is not on PATH: `go run ./kernel install` builds it, "+
			"and the kernel \"Go (tvps)\" finds it", Program)
	}
	return startPeer(Context(), exec.Command(path))
})

func startPeer(ctx context.Context, cmd *exec.Cmd) (*peer, error) {
	cmd.Env = slices.DeleteFunc(cmd.Environ(), func(v string) bool { return strings.HasPrefix(v, "GONB_") })
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", Program, err)
	}
	context.AfterFunc(ctx, func() { in.Close() })
	return &peer{in: json.NewEncoder(in), out: json.NewDecoder(out), wait: cmd.Wait}, nil
}

// ask calls a function of the program, and shows its outputs. It ends the cell if the call fails.
func ask[T any](call string, args any) T {
	mark(call)
	p := Must(program())
	var result T
	Exit(p.ask(Context(), call, args, &result))
	return result
}

func (p *peer) ask(ctx context.Context, call string, args, result any) error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	text, err := json.Marshal(args)
	if err != nil {
		return fmt.Errorf("cannot pass on the arguments of %s: %w", call, err)
	}
	_ = p.in.Encode(request{call, text}) // if it has ended, reading fails, too
	for {
		var a answer
		if err := p.out.Decode(&a); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("the program %s ended before it answered: %w", Program, cmp.Or(p.wait(), err))
		}
		switch {
		case a.Display != nil:
			output.display(message{a.ID, a.Display})
		case a.Stopped:
			return context.Canceled
		case a.Error != "":
			return errors.New(a.Error)
		case a.Done:
			return json.Unmarshal(a.Result, result)
		}
	}
}
