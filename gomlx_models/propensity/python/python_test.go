package python

import (
	"archive/zip"
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
)

// root is that of the checkout.
const root = "../../.."

// packages are those that the tests of all frames, estimators, plots and trainers need.
var packages = []string{"pandas", "polars", "scikit-learn", "matplotlib", "lightgbm", "mypy"}

// TestPython builds the wheel, with the platform that auditwheel finds. It installs the wheel
// where there is no Go, and runs the tests of folder tests, with what it depends on and with all packages. It leaves
// nothing in the checkout.
func TestPython(t *testing.T) {
	python := os.Getenv("TVPS_PYTHON")
	if python == "" {
		t.Skip("TVPS_PYTHON is not set")
	}
	dir, before := t.TempDir(), files(t)
	run := func(env []string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Env = append(os.Environ(), append(env, "PYTHONDONTWRITEBYTECODE=1", "OMP_NUM_THREADS=1")...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	must := func(env []string, args ...string) string {
		t.Helper()
		out, err := run(env, args...)
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
		return out
	}
	if out, err := run(nil, python, "-m", "venv", dir); err != nil {
		t.Skipf("cannot create a virtual environment; on Debian, `apt-get install python3-venv` may help: %v\n%s", err, out)
	}
	inside := filepath.Join(dir, "bin", "python")
	install := func(packages ...string) {
		args := append([]string{inside, "-m", "pip", "install", "-q", "-c", "constraints.txt"}, packages...)
		if out, err := run(nil, args...); err != nil {
			t.Skipf("cannot install %s: %v\n%s", strings.Join(packages, ", "), err, out)
		}
	}
	install("build", "auditwheel", "numpy", "pyarrow", "hatchling==1.33.0")
	dist := filepath.Join(dir, "dist")
	must(nil, inside, "-m", "build", "--wheel", "--outdir", dist, ".")
	wheels, err := filepath.Glob(filepath.Join(dist, "*.whl"))
	if err != nil || len(wheels) != 1 {
		t.Fatalf("wheels %q, error %v", wheels, err)
	}
	archive, err := zip.OpenReader(wheels[0])
	demand.NoError(t, err)
	defer archive.Close()
	if runtime.GOOS == "linux" {
		_, platform, _ := strings.Cut(strings.TrimSuffix(filepath.Base(wheels[0]), ".whl"), "-none-")
		if out := must(nil, inside, "-m", "auditwheel", "show", wheels[0]); !strings.Contains(out, `"`+platform+`"`) {
			t.Errorf("the wheel is for %s, but auditwheel says: %s", platform, out)
		}
	}
	wheelFiles(t, archive)
	sh, err := exec.LookPath("sh") // for trainers; nothing else is on PATH
	demand.NoError(t, err)
	bin := filepath.Join(dir, "empty")
	demand.NoError(t, errors.Join(os.Mkdir(bin, 0o755), os.Symlink(sh, filepath.Join(bin, "sh"))))
	noGo := []string{"TVPS_BINARY=", "PATH=" + bin}
	must(noGo, inside, "-m", "pip", "install", "-q", "--no-index", wheels[0])
	program := strings.TrimSpace(must(noGo, inside, "-c", "import tvps; print(tvps.binary())"))
	if filepath.Base(filepath.Dir(filepath.Dir(program))) != "site-packages" {
		t.Errorf("the program is %s, not that of the wheel", program)
	}
	suite := func(t *testing.T) string {
		out := must(noGo, inside, "-m", "unittest", "discover", "-s", "tests")
		return out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:]
	}
	t.Run("Alone", func(t *testing.T) { t.Log(suite(t)) })
	t.Run("AllPackages", func(t *testing.T) {
		install(packages...)
		if out := suite(t); out != "OK\n" && out != "OK (skipped=1)\n" { // one test needs root
			t.Errorf("not all tests ran: %s", out)
		}
	})
	t.Run("Documents", func(t *testing.T) { documents(t, inside, program) })
	if after := files(t); !slices.Equal(before, after) {
		t.Errorf("the tests left files: before %q, after %q", before, after)
	}
}

// documents runs, as they stand, the Python blocks of the documents for users, those of one document as one script, and
// the commands on tables in their blocks of shell commands.
func documents(t *testing.T, python, program string) {
	block := regexp.MustCompile("(?ms)^```(python)?\n(.*?)^```")
	command := regexp.MustCompile(`(?m)^(?:\./tvps|go run \./replicate) ((?:drift|backtest|weights) .*)$`)
	for _, name := range []string{"README.md", "replicate/TABLES.md", "gomlx_models/propensity/python/README.md"} {
		dir, script, commands := t.TempDir(), "", 0
		for _, part := range []string{"data", "gomlx_models"} {
			source, err := filepath.Abs(filepath.Join(root, part))
			demand.NoError(t, errors.Join(err, os.Symlink(source, filepath.Join(dir, part))))
		}
		run := func(args ...string) {
			cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "MPLBACKEND=agg", "TVPS_BINARY="+program)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %q: %v\n%s", name, args, err, out)
			}
		}
		for _, m := range block.FindAllStringSubmatch(string(demand.Read(t, filepath.Join(root, name))), -1) {
			if m[1] == "python" {
				script += m[2]
				continue
			}
			for _, line := range command.FindAllStringSubmatch(m[2], -1) {
				run(append([]string{program}, strings.Fields(line[1])...)...)
				commands++
			}
		}
		if script != "" {
			demand.Write(t, filepath.Join(dir, "script.py"), script)
			run(python, "script.py")
		}
		if script == "" && commands == 0 {
			t.Errorf("%s has nothing to run", name)
		}
	}
}

// TestWheels: the programs in the wheels of `make wheel` need no later glibc than 2.28, as their names say, are of
// their machines, and come with licences. TVPS_WHEELS=1 says that there are such wheels.
func TestWheels(t *testing.T) {
	if os.Getenv("TVPS_WHEELS") != "1" {
		t.Skip("TVPS_WHEELS is not 1: no wheels are tested")
	}
	for machine, want := range map[string]elf.Machine{"x86_64": elf.EM_X86_64, "aarch64": elf.EM_AARCH64} {
		wheels, err := filepath.Glob("dist/tvps-*_" + machine + ".whl")
		if err != nil || len(wheels) != 1 {
			t.Fatalf("wheels of %s: %q, %v", machine, wheels, err)
		}
		archive, err := zip.OpenReader(wheels[0])
		demand.NoError(t, err)
		defer archive.Close()
		wheelFiles(t, archive)
		packed, err := archive.Open("tvps/tvps")
		demand.NoError(t, err)
		content, err := io.ReadAll(packed)
		demand.NoError(t, err)
		program, err := elf.NewFile(bytes.NewReader(content))
		demand.NoError(t, err)
		demand.Equal(t, program.Machine, want, "the machine of the program of %s", wheels[0])
		versions, err := program.DynamicVersionNeeds()
		demand.NoError(t, err)
		newest := 0
		for _, library := range versions {
			for _, version := range library.Needs {
				var minor int
				if _, err := fmt.Sscanf(version.Dep, "GLIBC_2.%d", &minor); err == nil {
					newest = max(newest, minor)
				}
			}
		}
		if name := fmt.Sprintf("manylinux_2_%d_", max(newest, 17)); newest == 0 || newest > 28 || !strings.Contains(wheels[0], name) {
			t.Errorf("%s needs glibc 2.%d, want %s and at most 2.28", wheels[0], newest, name)
		}
	}
}

// wheelFiles fails the test unless a wheel has the licences.
func wheelFiles(t *testing.T, archive *zip.ReadCloser) {
	t.Helper()
	for _, member := range []string{"tvps/LICENSE", "tvps/licences/go/LICENSE", "tvps/licences/gonum.org/v1/gonum/LICENSE",
		"tvps/licences/github.com/apache/arrow-go/v18/NOTICE.txt", "tvps/figures/echarts/NOTICE", "tvps/py.typed"} {
		if _, err := archive.Open(member); err != nil {
			t.Errorf("the wheel has no %s", member)
		}
	}
}

// files lists the files of the package and of the examples.
func files(t *testing.T) (out []string) {
	for _, dir := range []string{".", filepath.Join(root, "data", "table", "examples")} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			out = append(out, path)
			return err
		})
		demand.NoError(t, err)
	}
	return out
}

// TestPinned: THIRD_PARTY.md names each package and version that is installed to build or test the package.
func TestPinned(t *testing.T) {
	read := func(path string) string {
		return string(demand.Read(t, path))
	}
	pins := regexp.MustCompile(`([\w-]+) ?==([\d.]+)`)
	list := read("constraints.txt") + read("pyproject.toml") + read(filepath.Join(root, "kernel/papermill/pyproject.toml"))
	third, all := read(filepath.Join(root, "THIRD_PARTY.md")), pins.FindAllStringSubmatch(list, -1)
	for _, pin := range all {
		name, version := regexp.QuoteMeta(pin[1]), regexp.QuoteMeta(pin[2])
		if !regexp.MustCompile("(?m)^\\| .*`" + name + "`.*\\b" + version + "\\b").MatchString(third) {
			t.Errorf("THIRD_PARTY.md has no %s %s", pin[1], pin[2])
		}
	}
	for _, name := range packages {
		if !slices.ContainsFunc(all, func(pin []string) bool { return pin[1] == name }) {
			t.Errorf("constraints.txt has no version of %s", name)
		}
	}
}

// TestVersion: the package has the version of the newest numbered release, 0.0.0 without one.
func TestVersion(t *testing.T) {
	read := func(path, pattern string) string {
		text := demand.Read(t, path)
		if m := regexp.MustCompile(pattern).FindSubmatch(text); m != nil {
			return string(m[1])
		}
		return "0.0.0"
	}
	want := read(filepath.Join(root, "CHANGELOG.md"), `(?m)^## \[?v?(\d+\.\d+\.\d+)\b`)
	demand.Equal(t, read("pyproject.toml", `(?m)^version = "(.*)"$`), want, "pyproject.toml has version")
}
