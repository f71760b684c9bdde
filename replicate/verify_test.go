package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"tvps/ci/demand"
	"tvps/replicate/claims"
)

// sameRuns are the arguments of a command for all figures that reads the runs of miniature.
func (s *sandbox) sameRuns(command string, more ...string) []string {
	args := append([]string{command, "--results", s.results, "--backend", "go"}, more...)
	for i := 0; i < len(miniature); i += 2 {
		switch miniature[i] {
		case "--panel":
		case "--stride":
			args = append(args, "--set", "stride="+miniature[i+1])
		default:
			args = append(args, miniature[i:i+2]...)
		}
	}
	return args
}

// TestVerify: verify prints the table of the runs of fig1 in every form. The exit code is 0,
// though one seed decides nothing.
func TestVerify(t *testing.T) {
	s := newSandbox(t)
	file := filepath.Join(t.TempDir(), "new", "verify.json")
	demand.NoError(t, os.Mkdir(s.results, 0o755))
	stdout := s.quiet(t, s.sameRuns("verify", "--out", file)...)
	demand.Words(t, stdout, "No run is stored", "--tables figures/gallery")
	s.succeed(t, fig1(miniature)...)
	stdout = s.quiet(t, s.sameRuns("verify", "--out", file)...)
	demand.Words(t, stdout, "The scale tiny checks the program, not the paper", "4 of 18 runs stored, seeds 0",
		"  ? undecided    ", "  On the Gaussian, Ours is better than Everything (Section 3.1.2)",
		"the paper: \"performs much better", "one seed, so no interval",
		" --set g-batch=16 --results "+s.results+" --backend go\n", "Table: "+file)
	written := demand.Read(t, file)
	stdout = s.quiet(t, s.sameRuns("verify", "--out", file, "--json")...)
	var v claims.Verification
	if err := json.Unmarshal([]byte(stdout), &v); err != nil || v.Figures[0].Stored != 4 {
		t.Fatalf("--json: %v, %s", err, stdout)
	}
	if string(written) != stdout {
		t.Error("--json prints other text than it writes")
	}
}
