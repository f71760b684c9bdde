package python

import (
	"archive/zip"
	"errors"
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
var packages = []string{"pandas", "pyarrow", "polars", "scikit-learn", "matplotlib", "lightgbm", "mypy"}

// TestPython builds the sdist, and from it the wheel, with the platform that auditwheel finds. It installs the wheel
// where there is no Go, and runs the tests of folder tests, with NumPy alone and with all packages. It leaves nothing
// in the checkout.
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
	install("build", "auditwheel", "numpy")
	dist := filepath.Join(dir, "dist")
	must(nil, inside, "-m", "build", "--outdir", dist, ".")
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
	for _, member := range []string{"tvps/LICENSE", "tvps/licences/go/LICENSE", "tvps/licences/gonum.org/v1/gonum/LICENSE",
		"tvps/licences/github.com/apache/arrow-go/v18/NOTICE.txt", "tvps/figures/echarts/NOTICE"} {
		if _, err := archive.Open(member); err != nil {
			t.Errorf("the wheel has no %s", member)
		}
	}
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
	t.Run("NumPy", func(t *testing.T) { t.Log(suite(t)) })
	t.Run("AllPackages", func(t *testing.T) {
		install(packages...)
		if out := suite(t); out != "OK\n" && out != "OK (skipped=1)\n" { // one test needs root
			t.Errorf("not all tests ran: %s", out)
		}
	})
	if after := files(t); !slices.Equal(before, after) {
		t.Errorf("the tests left files: before %q, after %q", before, after)
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
	if got := read("pyproject.toml", `(?m)^version = "(.*)"$`); got != want {
		t.Errorf("pyproject.toml has version %s, CHANGELOG.md %s", got, want)
	}
}
