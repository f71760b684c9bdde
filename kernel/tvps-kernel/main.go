// Command tvps-kernel stands between Jupyter and GoNB: `kernel install` writes a kernelspec that starts it. It answers
// the requests that GoNB does not, and ends GoNB with its client. See jupyter.Relay.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime"

	"tvps/data/artifact"
	"tvps/kernel/jupyter"
	"tvps/kernel/nbformat"
)

func init() { runtime.LockOSThread() } // for jupyter.Relay

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: tvps-kernel CONNECTION-FILE GONB [ARGUMENT...]")
		os.Exit(2)
	}
	var log io.Writer = os.Stderr
	if !artifact.IsTerminal(log) {
		log = nbformat.PlainWriter{To: log}
	}
	code, err := jupyter.Relay(os.Args[1], os.Args[2:], log)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tvps-kernel:", err)
		code = 1
	}
	os.Exit(code)
}
