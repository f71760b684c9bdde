package backend

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"tvps/ci/demand"
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
	// One processor, as the Go runtime needs addresses for each: with too few it ends the program before this test.
	limited := func(kilobytes, names string) string {
		cmd := exec.Command("sh", "-c", "ulimit -v "+kilobytes+`; exec "$0" -test.run TestAddressSpace -test.v`, os.Args[0])
		cmd.Env = append(os.Environ(), variable+"="+names, "GOMAXPROCS=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	sentence := func(limit string, least int) string {
		least += perProcessor * runtime.NumCPU()
		return fmt.Sprintf("is limited to %s GB, but this backend needs at least %.1f GB", limit, float64(least)/1e9)
	}
	demand.Words(t, limited("1850000", Go), sentence("1.9", leastForGo))
	b, err := Open(t.Context(), XLACPU, Options{NoFetch: true})
	if err != nil {
		t.Skip("no plugin here: ", err)
	}
	b.Finalize()
	out := limited("3000000", Default+","+XLACPU)
	if strings.Count(out, sentence("3.1", leastForXLA)) != 2 {
		t.Error(out)
	}
}
