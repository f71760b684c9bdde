package demand

import (
	"bytes"
	"os"
	"path/filepath"
)

// Processes returns the numbers of the running processes that have the environment variable
// name with this value: those that a test marked in this way, and their descendants. Without
// /proc it returns none.
func Processes(name, value string) []string {
	var found []string
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		env, _ := os.ReadFile(file)
		if bytes.Contains(append([]byte{0}, env...), []byte("\x00"+name+"="+value+"\x00")) {
			found = append(found, filepath.Base(filepath.Dir(file)))
		}
	}
	return found
}
