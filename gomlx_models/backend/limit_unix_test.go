//go:build unix

package backend

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestAddressSpace: with a limit that is too small the backends return an error, where the plugin would end the
// process. The limit is that of a process of its own.
func TestAddressSpace(t *testing.T) {
	const variable = "BACKEND_TEST_LIMITED"
	if os.Getenv(variable) != "" {
		for _, name := range strings.Split(os.Getenv(variable), ",") {
			if _, err := Open(t.Context(), name, Options{NoFetch: true}); err != nil {
				t.Log(err)
			}
		}
		return
	}
	limited := func(kilobytes, names string) string {
		cmd := exec.Command("sh", "-c", "ulimit -v "+kilobytes+`; exec "$0" -test.run TestAddressSpace -test.v`, os.Args[0])
		cmd.Env = append(os.Environ(), variable+"="+names)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	if out := limited("1000000", Go); !strings.Contains(out, "limited to 1.0 GB, but this backend needs at least 1.1 GB") {
		t.Error(out)
	}
	b, err := Open(t.Context(), XLACPU, Options{NoFetch: true})
	if err != nil {
		t.Skip("no plugin here: ", err)
	}
	b.Finalize()
	out := limited("3000000", Default+","+XLACPU)
	if strings.Count(out, "is limited to 3.1 GB, but this backend needs at least 4.3 GB") != 2 {
		t.Error(out)
	}
}
