//go:build !linux

package jupyter

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// Only Linux lets a process adopt its orphaned descendants: elsewhere only the kernel itself is ended, and it ends
// its own processes.

func adopt() {}

func killAdopted() {}

// processes lists the children of each process.
func processes() map[int][]child {
	children := map[int][]child{}
	list, _ := exec.Command("ps", "-A", "-o", "pid=", "-o", "ppid=", "-o", "comm=").Output()
	for line := range strings.Lines(string(list)) {
		var pid, parent int
		var name string
		if _, err := fmt.Sscan(line, &pid, &parent, &name); err == nil {
			children[parent] = append(children[parent], child{pid, parent, filepath.Base(name)})
		}
	}
	return children
}
