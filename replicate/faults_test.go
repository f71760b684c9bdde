//go:build linux

package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/data/artifact"
	"tvps/gomlx_models/backend"

	"github.com/klauspost/compress/zstd"
)

// faulty is a kind of run that is disturbed.
type faulty struct {
	name string
	args []string // RESULTS and OUT stand for paths
	env  []string

	reports bool // it ends with exit code 1 where it finds damage, and mends it: the next call succeeds

	want map[string]string // what an undisturbed run leaves
	took time.Duration     // of it
}

// TestFaults: real runs of every kind are killed, stopped and refused space, and their files cut and altered, at
// random. A last undisturbed call then leaves the same bytes as one that was never disturbed, and no other files but
// temporary ones, which go after an hour.
//
//	TVPS_FAULTS=100 TVPS_FAULTS_SEED=1 go test ./replicate -run Faults -v -timeout 1h
//
// The seed chooses kinds and the order of the faults; when exactly a signal arrives is up to the machine. The default
// is each fault once, for three kinds of run, with a new seed, which is printed.
func TestFaults(t *testing.T) {
	if os.Getenv("TVPS_NIGHTLY") != "1" && os.Getenv("TVPS_FAULTS") == "" {
		t.Skip("starts dozens of programs: set TVPS_NIGHTLY=1")
	}
	seed := uint64(number(t, "TVPS_FAULTS_SEED", int(time.Now().Unix())))
	faults := number(t, "TVPS_FAULTS", len(allFaults))
	t.Logf("TVPS_FAULTS_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	kinds := faultyKinds(t)
	rng.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	kinds = kinds[:min(len(kinds), max(1, faults/4))]
	var list []fault
	for len(list) < faults {
		for _, i := range rng.Perm(len(allFaults)) {
			list = append(list, allFaults[i])
		}
	}
	for i, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			k.disturb(t, rng, list[i*faults/len(kinds):(i+1)*faults/len(kinds)])
		})
	}
}

// disturb compares an undisturbed run with runs that suffered some of the faults.
func (k *faulty) disturb(t *testing.T, rng *rand.Rand, faults []fault) {
	s, begin := newSandbox(t), time.Now()
	if out, err := s.faulty(k).CombinedOutput(); err != nil {
		t.Fatalf("undisturbed: %v\n%s", err, out)
	}
	k.took, k.want = time.Since(begin), s.left(t)
	if left, err := os.ReadDir(s.tmp); err != nil || len(left) > 0 {
		t.Errorf("undisturbed: $TMPDIR has %v, error %v", left, err)
	}
	t.Logf("undisturbed: %d files in %v", len(k.want), k.took.Round(time.Millisecond))
	for len(faults) > 0 {
		s := newSandbox(t)
		var log []string
		for range min(1+rng.IntN(4), len(faults)) {
			did, out := faults[0](s, t, k, rng)
			log, faults = append(log, did), faults[1:]
			if bytes.Contains(out, []byte("goroutine ")) {
				t.Errorf("after %q: it crashed:\n%s", log, out)
			}
		}
		out, err := s.faulty(k).CombinedOutput()
		if err != nil && k.reports {
			out, err = s.faulty(k).CombinedOutput()
		}
		if err != nil {
			t.Errorf("after %q: %v\n%s", log, err, out)
			continue
		}
		got := s.left(t)
		for _, name := range slices.Sorted(maps.Keys(k.want)) {
			if got[name] != k.want[name] {
				t.Errorf("after %q: %s differs: %d bytes instead of %d", log, name, len(got[name]), len(k.want[name]))
			}
		}
		for name := range got {
			if _, ok := k.want[name]; !ok {
				t.Errorf("after %q: %s is left", log, name)
			}
		}
		t.Logf("after %q: the same %d files", log, len(got))
	}
}

// number reads a variable of the environment.
func number(t *testing.T, name string, preset int) int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv(name), strconv.Itoa(preset)))
	if err != nil || n < 0 {
		t.Fatalf("%s is no number", name)
	}
	return n
}

// faultyKinds are the kinds of run that this machine can compute: images need XLA, robots MuJoCo.
func faultyKinds(t *testing.T) []*faulty {
	table, source := filepath.Join(t.TempDir(), "table.csv"), newSandbox(t)
	demand.Write(t, table, good("", ""))
	source.succeed(t, fig1(miniature)...)
	onGo := []string{"--backend", "go"}
	own := []string{table, "--time", "day", "--label", "y", "--updates", "5"}
	figure := func(name string, args ...string) []string {
		return slices.Concat([]string{name}, args, []string{"--results", "RESULTS", "--out", "OUT"})
	}
	kinds := []*faulty{
		{name: "vectors", args: figure("fig1", slices.Concat(miniature, onGo, []string{"--stride", "1", "--seeds", "0,1"})...)},
		{name: "back test", args: slices.Concat([]string{"backtest"}, own, []string{"--results", "RESULTS", "--out", "OUT",
			"--kinds", "none", "--last", "4"})},
		{name: "weights", args: slices.Concat([]string{"weights"}, own, []string{"--kind", "joint", "--permutations", "0",
			"--out", "OUT/w.csv"})},
	}
	if number(t, "TVPS_FAULTS", len(allFaults)) < 50 {
		return kinds // without those that take minutes
	}
	b, err := backend.Open(t.Context(), backend.XLACPU, backend.Options{NoFetch: true})
	if err != nil {
		t.Logf("no images: %v", err)
	} else {
		kinds = append(kinds, &faulty{name: "images", env: []string{backend.PluginPathEnv + "=" + b.Info.PluginPath},
			args: figure("fig1", "--backend", backend.XLACPU, "--panel", "c", "--scale", "tiny", "--seeds", "0",
				"--series", "everything,recent", "--set", "max-updates=2", "--set", "batch=16", "--set", "test-n=50")})
		b.Finalize()
	}
	cache, err := artifact.CacheDir()
	demand.NoError(t, err)
	library, _ := filepath.Glob(filepath.Join(cache, "mujoco", "*", "libmujoco.*"))
	if len(library) != 1 {
		t.Logf("no robots: the cache has libraries %q", library)
		return kinds
	}
	return append(kinds, &faulty{name: "agents", env: []string{"TVPS_MUJOCO=" + library[0], "MODELS=" + cache},
		args: figure("fig10", slices.Concat(onGo, []string{"--panel", "a", "--scale", "tiny", "--seeds", "0,1",
			"--series", "sac,sac-omega", "--set", "episodes=4", "--set", "every=2", "--set", "horizon=10", "--set", "burn-in=20",
			"--set", "hidden=8", "--set", "batch=8", "--set", "g-batch=8"})...)})
}

// faulty prepares a call of the kind in the sandbox.
func (s *sandbox) faulty(k *faulty) *exec.Cmd {
	args := slices.Clone(k.args)
	for i, arg := range args {
		args[i] = strings.NewReplacer("RESULTS", s.results, "OUT", s.out).Replace(arg)
	}
	s.env = k.env
	for _, v := range k.env {
		if models, ok := strings.CutPrefix(v, "MODELS="); ok {
			os.MkdirAll(s.cache, 0o755)
			os.Symlink(filepath.Join(models, "env"), filepath.Join(s.cache, "env"))
		}
	}
	cmd, _, _ := s.command(args...)
	cmd.Stdout, cmd.Stderr = nil, nil
	return cmd
}

// temporary matches the names of files that artifact.Create makes.
var temporary = regexp.MustCompile(`^\..+\d+$`)

// left returns the contents of all files that a run leaves and that do not depend on when it ran: results without their
// provenance, tables, weights.
func (s *sandbox) left(t *testing.T) map[string]string {
	decoder, err := zstd.NewReader(nil)
	demand.NoError(t, err)
	defer decoder.Close()
	out := map[string]string{}
	for _, dir := range []string{s.results, s.out} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case d.IsDir() || temporary.MatchString(d.Name()):
				return nil
			}
			text, err := os.ReadFile(path)
			name := filepath.Base(dir) + strings.TrimPrefix(path, dir)
			if strings.HasSuffix(name, ".jsonl.zst") && err == nil {
				if text, err = decoder.DecodeAll(text, nil); err == nil {
					_, text, _ = bytes.Cut(text, []byte("\n"))
				}
			} else if dir == s.out && !slices.Contains([]string{".csv", ".model"}, filepath.Ext(name)) {
				text = nil // it tells the time or the commit
			}
			out[name] = string(text)
			return err
		})
		demand.NoError(t, err)
	}
	return out
}

// fault disturbs a sandbox. It says what it did, and returns the output of the call that was disturbed.
type fault func(*sandbox, *testing.T, *faulty, *rand.Rand) (did string, out []byte)

var allFaults = []fault{
	signals(syscall.SIGKILL),
	signals(syscall.SIGTERM),
	signals(syscall.SIGINT),
	signals(syscall.SIGINT, syscall.SIGINT),
	signals(syscall.SIGHUP),
	signals(syscall.SIGSTOP, syscall.SIGCONT, syscall.SIGKILL),
	alter("cut", func(r *rand.Rand, b []byte) []byte { return b[:r.IntN(len(b))] }),
	alter("flipped", func(r *rand.Rand, b []byte) []byte { b[r.IntN(len(b))] ^= 1 << r.IntN(8); return b }),
	(*sandbox).fill,
	(*sandbox).killAtCall,
	(*sandbox).hangUp,
}

// signals returns the fault of a call that gets signals, the first one at a random time.
func signals(list ...syscall.Signal) fault {
	return func(s *sandbox, t *testing.T, k *faulty, r *rand.Rand) (string, []byte) {
		cmd := s.faulty(k)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		wait := time.Duration(r.Float64() * float64(k.took))
		demand.NoError(t, cmd.Start())
		for i, signal := range list {
			if i > 0 {
				wait = time.Duration(r.IntN(100)) * time.Millisecond
			}
			time.Sleep(wait)
			cmd.Process.Signal(signal) // it may have ended
		}
		cmd.Wait()
		// -1: ended by a signal, which an interrupt does before Main listens, or the second time
		if code := cmd.ProcessState.ExitCode(); !slices.Contains([]int{0, 130, -1}, code) &&
			!(k.reports && code == 1) {
			t.Errorf("%s, %v after %v: exit code %d\n%s", k.name, list, wait, code, out.String())
		}
		return fmt.Sprint(list), out.Bytes()
	}
}

// alter returns the fault of a random file of the results or of the cache that changes.
func alter(did string, change func(*rand.Rand, []byte) []byte) fault {
	return func(s *sandbox, t *testing.T, _ *faulty, r *rand.Rand) (string, []byte) {
		var paths []string
		for _, dir := range []string{s.results, s.cache} {
			filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err != nil || !d.Type().IsRegular() {
					return nil
				}
				if info, err := d.Info(); err == nil && info.Size() > 0 {
					paths = append(paths, path)
				}
				return nil
			})
		}
		if len(paths) == 0 {
			return did + " no file", nil
		}
		path := paths[r.IntN(len(paths))]
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, change(r, text), 0o644)
		}
		demand.NoError(t, err)
		return did + " " + filepath.Base(path), nil
	}
}

// fill makes a call in which no file can grow beyond a random size, as on a disk that fills up.
func (s *sandbox) fill(t *testing.T, k *faulty, r *rand.Rand) (string, []byte) {
	cmd := s.faulty(k)
	blocks := r.IntN(40) // of 512 bytes
	limited := exec.Command("sh", append([]string{"-c", fmt.Sprintf(`trap "" XFSZ; ulimit -f %d; exec "$0" "$@"`, blocks)},
		cmd.Args...)...)
	limited.Env = cmd.Env
	var out bytes.Buffer
	limited.Stdout, limited.Stderr = &out, &out
	limited.Run()
	if code := limited.ProcessState.ExitCode(); code != 0 && code != 1 {
		t.Errorf("%s with files of at most %d blocks: exit code %d\n%s", k.name, blocks, code, out.String())
	}
	return fmt.Sprintf("full at %d blocks", blocks), out.Bytes()
}

// killAtCall kills a call where it is about to sync or to rename a file, or a folder: between a write and what makes it
// last. strace does that; without it nothing is disturbed.
func (s *sandbox) killAtCall(t *testing.T, k *faulty, r *rand.Rand) (string, []byte) {
	cmd := s.faulty(k)
	call := []string{"fsync", "renameat"}[r.IntN(2)]
	at := fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, 1+r.IntN(8)) // counted for each thread
	traced := exec.Command("strace", append([]string{"-f", "-qq", "-o", "/dev/null", "-e", "trace=" + call, "-e", at},
		cmd.Args...)...)
	traced.Env = cmd.Env
	out, err := traced.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return "no strace", nil
	}
	return at, out
}

// hangUp makes a call whose output nobody reads: it dies of SIGPIPE at its first line, wherever it is.
func (s *sandbox) hangUp(t *testing.T, k *faulty, _ *rand.Rand) (string, []byte) {
	cmd := s.faulty(k)
	reader, writer, err := os.Pipe()
	demand.NoError(t, err)
	reader.Close()
	defer writer.Close()
	cmd.Stdout, cmd.Stderr = writer, writer
	cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != 0 && code != 1 && code != -1 {
		t.Errorf("%s without a reader: exit code %d", k.name, code)
	}
	return "no reader", nil
}
