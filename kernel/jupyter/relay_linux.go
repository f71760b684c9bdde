package jupyter

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER, which package syscall lacks

// adopt makes this process the parent of its descendants whose own parent ends, so that killAdopted finds them. It
// also takes back our parent's request that we are killed with it (see artifact.Start): we have a kernel to end. That
// request belongs to the main thread.
func adopt() {
	syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
	syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_PDEATHSIG, 0, 0)
}

// killAdopted kills all descendants of this process.
func killAdopted() {
	for end := time.Now().Add(defaultLimits.sockets); time.Now().Before(end); time.Sleep(time.Millisecond) {
		all := processes()[os.Getpid()]
		if len(all) == 0 {
			return
		}
		for _, c := range all {
			syscall.Kill(c.pid, syscall.SIGKILL)
			syscall.Wait4(c.pid, nil, syscall.WNOHANG, nil)
		}
	}
}

// processes lists the children of each process.
func processes() map[int][]child {
	children := map[int][]child{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, _ := os.ReadFile(file) // such as: 12 (bash) S 1
		begin, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
		if begin < 0 || end < begin {
			continue // it has ended
		}
		var state string
		var parent int
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if _, err := fmt.Sscan(string(text[end+1:]), &state, &parent); err == nil {
			children[parent] = append(children[parent], child{pid, parent, string(text[begin+1 : end])})
		}
	}
	return children
}
