package jupyter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tvps/data/artifact"

	"github.com/google/uuid"
)

const (
	portTries  = 3
	firstAsk   = 50 * time.Millisecond // until the second kernel_info_request; doubles each time
	slowestAsk = time.Second
)

// Start starts a kernel in a process group and a temporary folder of its own. It returns when the kernel has answered
// on its shell and its iopub socket. If it fails, no process or file is left. If another process takes one of the
// kernel's ports, Start tries again with other ports.
func Start(ctx context.Context, spec Spec, o Options) (*Kernel, error) {
	slow := fmt.Errorf("it did not answer within %v", defaultLimits.start)
	limited, cancel := context.WithTimeoutCause(ctx, defaultLimits.start, slow)
	defer cancel()
	var err error
	for range portTries {
		var k *Kernel
		var taken bool
		if k, taken, err = startOnce(limited, spec, o); err == nil {
			return k, nil
		}
		if !taken {
			break
		}
	}
	return nil, fmt.Errorf("kernel %q did not start: %w", spec.Name, err)
}

// startOnce starts a kernel without another attempt. taken says whether it failed because a port was in use.
func startOnce(ctx context.Context, spec Spec, o Options) (k *Kernel, taken bool, err error) {
	k, c, err := launchKernel(spec, o)
	if err != nil {
		return nil, false, err
	}
	if err = k.connect(ctx, c); err == nil {
		go k.supervise()
		err = k.greet(ctx)
	} else {
		close(k.gone) // supervise, which closes it otherwise, does not run
	}
	if err == nil {
		return k, false, nil
	}
	select { // the sockets of a dying process close shortly before it ends
	case <-k.process.exited:
	case <-ctx.Done():
	case <-time.After(k.limits.sockets):
	}
	exited := !k.process.alive()
	if exited {
		err = k.died()
	} else {
		err = fmt.Errorf("%w%s", err, k.log.lastLines())
	}
	taken = exited && strings.Contains(strings.ToLower(k.log.lastLines()), "address already in use")
	return nil, taken, errors.Join(err, k.Close())
}

// launchKernel writes the kernel's files and starts its process.
func launchKernel(spec Spec, o Options) (*Kernel, connection, error) {
	s := session{id: uuid.NewString(), key: []byte(uuid.NewString())}
	c, err := newConnection(spec.Name, s)
	if err != nil {
		return nil, connection{}, err
	}
	dir, remove, err := artifact.TempFolder("tvps-kernel-")
	if err != nil {
		return nil, connection{}, fmt.Errorf("cannot create a temporary folder: %w", err)
	}
	k := &Kernel{
		spec: spec, limits: defaultLimits, log: &log{}, dir: dir, remove: remove, session: s,
		gone: make(chan struct{}), inboxes: map[string]*inbox{},
	}
	file, tmp := filepath.Join(dir, "kernel-"+s.id+".json"), filepath.Join(dir, "tmp")
	cmd, err := command(spec, o, file, tmp)
	if err = errors.Join(err, c.write(file), os.Mkdir(tmp, 0o700)); err == nil {
		k.process, err = launch(cmd, k.log, artifact.OwnGroup)
	}
	if err != nil {
		return nil, connection{}, errors.Join(err, remove())
	}
	return k, c, nil
}

// connect opens the sockets. All use the same identity, because some kernels answer a request on another socket
// than the one it came from.
func (k *Kernel) connect(ctx context.Context, c connection) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-k.process.exited:
			cancel(ErrKernelDied)
		case <-ctx.Done():
		}
	}()
	for i, ch := range channels[:4] {
		s, err := dial(ctx, ch.name, c, *c.ports()[i], ch.client, k.session.id)
		if err != nil {
			return err
		}
		k.sockets = append(k.sockets, s)
		go s.receive(k.deliver)
	}
	k.shell, k.iopub, k.stdin, k.control = k.sockets[0], k.sockets[1], k.sockets[2], k.sockets[3]
	return k.iopub.send([]byte{1}) // subscribe to everything
}

// greet sends kernel_info_requests until both shell and iopub have answered. Several may be needed: messages that
// the kernel publishes before it knows of the subscription are lost.
func (k *Kernel) greet(ctx context.Context) error {
	in := newInbox()
	defer k.close(in)
	replied, published := false, false
	ask := time.NewTimer(0)
	for wait := firstAsk; !replied || !published; {
		select {
		case <-ask.C:
			if err := k.request(k.shell, "kernel_info_request", struct{}{}, in); err != nil {
				return err
			}
			ask.Reset(wait)
			wait = min(2*wait, slowestAsk)
		case m := <-in.messages:
			switch m.header.Type {
			case "kernel_info_reply":
				replied = true
				_ = json.Unmarshal(m.content, &k.info) // missing fields stay empty
			case "status":
				published = true
			}
		case <-k.gone:
			return k.died()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
