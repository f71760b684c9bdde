package jupyter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
)

// A kernel starts that answers late, or after another process took one of its ports.
func TestInfo(t *testing.T) {
	for _, start := range []string{"well", "late-iopub", "late-shell", "port"} {
		t.Run(start, func(t *testing.T) {
			k := startFake(t, fakeSpec(t, start), Options{})
			demand.Words(t, string(k.Language()), `"file_extension":".fake"`)
			prints(t, k, "echo hello", "hello")
		})
	}
}

func TestStartFails(t *testing.T) {
	tests := []struct {
		start    string
		died     bool
		timeout  time.Duration
		messages []string
	}{
		{"exit", true, time.Minute, []string{`kernel "fake" did not start`, "exit status 7", "does not want to"}},
		{"exit-later", true, time.Minute, []string{"exit status 8"}},
		{"mute", false, 2 * time.Second, []string{"did not answer within 2s", "the fake kernel stays mute"}},
		{"no-iopub", false, 500 * time.Millisecond, []string{"did not answer within 500ms"}},
		{"no-shell", false, 500 * time.Millisecond, []string{"did not answer within 500ms"}},
	}
	for _, test := range tests {
		t.Run(test.start, func(t *testing.T) {
			noLeftovers(t)
			defaultLimits.start = test.timeout
			defer func() { defaultLimits.start = time.Minute }()
			_, err := Start(context.Background(), fakeSpec(t, test.start), Options{})
			if err == nil || errors.Is(err, ErrKernelDied) != test.died {
				t.Fatalf("got %v", err)
			}
			demand.Words(t, err.Error(), test.messages...)
		})
	}
}

func TestNoProgram(t *testing.T) {
	for _, c := range []struct{ argv, root, want string }{
		{"no-such-program", "", `its program "no-such-program" is not on its PATH; install the program`},
		{"/no/such/program", "", "its program /no/such/program is missing; install the kernel again"},
		{"self relay {connection_file} /no/gonb", "", "no/gonb: no such file or directory): run `go run ./kernel install`"},
		{"self relay {connection_file}", "/no/checkout",
			"the checkout /no/checkout is gone: run `go run ./kernel install` in the new one"},
	} {
		noLeftovers(t)
		spec := fakeSpec(t, "well")
		spec.Env["TVPS_ROOT"] = c.root
		spec.Argv = strings.Fields(strings.Replace(c.argv, "self", os.Args[0], 1))
		_, err := Start(context.Background(), spec, Options{})
		demand.Words(t, fmt.Sprint(err), `kernel "fake"`, c.want)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("OUTER", "outer value")
	spec := fakeSpec(t, "well")
	spec.Argv = append(spec.Argv[:1], "{resource_dir}/x", "{connection_file}")
	spec.Env["INNER"] = "${OUTER}/${NOT_SET_ANYWHERE}/$OUTER/$$"
	spec.Env["BOTH"] = "spec"
	dir := t.TempDir()
	k := startFake(t, spec, Options{Dir: dir, Env: []string{"BOTH=options"}})
	tests := map[string]string{
		"env INNER":  "outer value/${NOT_SET_ANYWHERE}/outer value/$",
		"env BOTH":   "options",
		"env OUTER":  "outer value",
		"pwd":        dir,
		"env TMPDIR": filepath.Join(k.dir, "tmp"),
		"temp":       "", // leaves a file there, which goes with the kernel
	}
	for code, want := range tests {
		prints(t, k, code, want)
	}
	args, _ := execute(t, k, "args")
	resource, file, _ := strings.Cut(args, "|")
	if resource != spec.Dir+"/x" {
		t.Errorf("resource dir %q, want %q", resource, spec.Dir)
	}
	stat, err := os.Stat(file)
	if err != nil || stat.Mode().Perm() != 0o600 {
		t.Errorf("connection file %v, %v", stat, err)
	}
}

func TestClose(t *testing.T) {
	for _, start := range []string{"well", "stubborn"} {
		t.Run(start, func(t *testing.T) {
			k := startFake(t, fakeSpec(t, start), Options{})
			k.limits.shutdown = min(k.limits.shutdown, 300*time.Millisecond)
			execute(t, k, "child")
			for range 2 {
				demand.NoError(t, k.Close())
			}
			if left := fakeProcesses(t); len(left) > 0 {
				t.Errorf("processes %v are left", left)
			}
			if _, _, err := executeWith(context.Background(), k, "nothing"); !errors.Is(err, ErrKernelDied) {
				t.Errorf("a cell after Close: %v", err)
			}
		})
	}
}
