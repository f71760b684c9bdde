package jupyter

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"tvps/data/artifact"
)

// Variables of a relay: the process id of its guard, and the temporary folder that the guard has made.
const (
	guarded     = "TVPS_KERNEL_GUARD"
	guardFolder = "TVPS_KERNEL_FOLDER"
)

// guardRelay runs this program again, as the relay, in a process group of its own, and returns its exit code. A client
// may kill the guard at any time: then the relay, which nobody kills, ends the kernel and its processes. The guard ends
// the relay at a signal, and when the process that started it is gone. Of a relay that is killed it ends the processes.
func guardRelay(signals <-chan os.Signal, l *log) (code int, err error) {
	parent := os.Getppid()
	gone := func() bool { return os.Getppid() != parent } // when a parent ends, its children get another one
	program, err := os.Executable()
	if err != nil {
		return 0, err
	}
	dir, remove, err := artifact.TempFolder("tvps-relay-")
	if err != nil {
		return 0, fmt.Errorf("cannot create a temporary folder: %w", err)
	}
	defer func() { _ = remove() }()
	cmd := exec.Command(program, os.Args[1:]...)
	cmd.Env = append(os.Environ(), guarded+"="+strconv.Itoa(os.Getpid()), guardFolder+"="+dir)
	p, err := launch(cmd, l, artifact.OwnGroup)
	if err != nil {
		return 0, err
	}
	p.wait(signals, gone, 5*termTime, p.interrupt)
	killAdopted()
	return p.code(), nil
}
