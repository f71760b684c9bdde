package jupyter

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-zeromq/zmq4"
)

// stdinFile is a file of each cell's program that makes its standard input empty. It has no character that has a
// meaning within the quotes of printf.
//
//go:embed stdin.txt
var stdinFile string

// connectTime is GoNB's wait until it connects with gopls, with a second for the connection. A request for gopls that
// comes earlier would hold up all cells until then.
const connectTime = 13 * time.Second

// prepare asks the kernel until an answer on iopub shows that nothing is lost there. It then runs a silent cell, with
// which GoNB writes stdinFile into its folder, and makes gopls load its packages. Requests for gopls are answered with
// nothing until that is done and GoNB is connected: at a first request to a gopls that has loaded nothing GoNB would
// wait 8 s, in which no cell runs.
func (r *relay) prepare(ctx context.Context) {
	kernel, err := dial(ctx, "shell", r.inner, r.inner.Shell, zmq4.Dealer, r.session.id)
	if err != nil {
		return
	}
	defer kernel.conn.Close()
	answered := func(msgType string, content any) bool {
		if kernel.send(r.session.encode(r.session.newHeader(msgType), nil, content)...) != nil {
			return false
		}
		_, err := kernel.next()
		return err == nil
	}
	for connected := false; !connected; {
		if !answered("kernel_info_request", struct{}{}) {
			return
		}
		select {
		case <-r.ready:
			connected = true
		case <-time.After(firstAsk):
		}
	}
	where := filepath.Join(r.dir, "gonb-folder") // a file with the path of GoNB's folder
	code := fmt.Sprintf("!*printf '%s' >a_tvps_stdin.go && pwd >'%s'", strings.ReplaceAll(stdinFile, "\n", `\n`),
		strings.ReplaceAll(where, "'", `'\''`))
	if !answered("execute_request", executeRequest(code, true)) {
		return
	}
	connected := time.After(connectTime)
	if folder, err := os.ReadFile(where); err == nil {
		loadPackages(ctx, strings.TrimSpace(string(folder)))
	}
	select {
	case <-connected:
		r.explains.Store(true)
	case <-ctx.Done():
	}
}

// loadPackages asks the gopls that GoNB started in dir for a name: then it has loaded the module and this checkout. It
// listens some time after its start. Without gopls there is nothing to wait for.
func loadPackages(ctx context.Context, dir string) {
	for range 100 {
		socket := filepath.Join(dir, "gopls_socket")
		cmd := exec.CommandContext(ctx, "gopls", "-remote=unix;"+socket, "workspace_symbol", "main")
		cmd.Dir = dir
		if err := cmd.Run(); err == nil || errors.Is(err, exec.ErrNotFound) || ctx.Err() != nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}
