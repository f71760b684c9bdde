//go:build unix

package backend

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestAddressSpace: with a limit that is too small the backends return an error, where the plugin would end the process.
// The limit is that of a process of its own.
func TestAddressSpace(t *testing.T) {
	const names = "BACKEND_TEST_LIMITED"
	if os.Getenv(names) != "" {
		for _, name := range []string{Default, XLACPU} {
			if _, err := Open(t.Context(), name, Options{NoFetch: true}); err != nil {
				t.Log(err)
			}
		}
		return
	}
	cmd := exec.Command("sh", "-c", `ulimit -v 3000000; exec "$0" -test.run TestAddressSpace -test.v`, os.Args[0])
	cmd.Env = append(os.Environ(), names+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b, err := Open(t.Context(), XLACPU, Options{NoFetch: true})
	if err != nil {
		t.Skip("no plugin here: ", err)
	}
	b.Finalize()
	if strings.Count(string(out), "is limited to 3.1 GB, but this backend needs at least 4.3 GB") != 2 {
		t.Errorf("%s", out)
	}
}
