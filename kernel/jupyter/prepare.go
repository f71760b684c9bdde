package jupyter

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
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

// prepare runs a silent cell, with which GoNB writes stdinFile into its folder, and makes gopls load its packages.
// Requests for gopls are answered with nothing until that is done and GoNB is connected: at a first request to a
// gopls that has loaded nothing GoNB would wait 8 s, in which no cell runs.
func (r *relay) prepare(ctx context.Context, dir string) {
	kernel, err := dial(ctx, "shell", r.inner, r.inner.Shell, zmq4.Dealer, r.session.id)
	if err != nil {
		return
	}
	defer kernel.conn.Close()
	where := filepath.Join(dir, "where")
	code := fmt.Sprintf("!*printf '%s' >a_tvps_stdin.go && pwd >'%s'", strings.ReplaceAll(stdinFile, "\n", `\n`),
		strings.ReplaceAll(where, "'", `'\''`))
	request, err := r.session.encode(r.session.newHeader("execute_request"), nil, executeRequest{Code: code, Silent: true})
	if err != nil || kernel.send(request...) != nil {
		return
	}
	if _, err := kernel.next(); err != nil {
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

// loadPackages asks the gopls that GoNB started in dir for a name, as an editor, and waits for the answer: gopls has
// then loaded the module and this checkout. Without gopls it returns after a while.
func loadPackages(ctx context.Context, dir string) {
	var conn net.Conn
	for range 100 {
		var err error
		if conn, err = (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(dir, "gopls_socket")); err == nil {
			break
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
	if conn == nil {
		return
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	send := func(message string) {
		fmt.Fprintf(conn, "Content-Length: %d\r\n\r\n%s", len(message), message)
	}
	folder := (&url.URL{Scheme: "file", Path: dir}).String()
	send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"rootUri":%q}}`, folder))
	send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
	send(`{"jsonrpc":"2.0","id":2,"method":"workspace/symbol","params":{"query":"main"}}`)
	in := bufio.NewReader(conn)
	for {
		head, err := textproto.NewReader(in).ReadMIMEHeader()
		size, _ := strconv.Atoi(head.Get("Content-Length"))
		body := make([]byte, size)
		if err == nil {
			_, err = io.ReadFull(in, body)
		}
		var message struct {
			ID     int
			Method string
		}
		if err != nil || json.Unmarshal(body, &message) == nil && message.ID == 2 && message.Method == "" {
			return
		}
		if message.Method != "" && message.ID != 0 {
			send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":null}`, message.ID))
		}
	}
}
