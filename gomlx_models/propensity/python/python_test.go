package python

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is that of the checkout.
const root = "../../.."

// frames are the packages that the tests of all frames and trainers need.
var frames = []string{"pandas", "pyarrow", "polars", "scikit-learn", "lightgbm"}

// TestPython installs the package as a user does, has it build the program from this checkout, and runs the tests of
// folder tests, with NumPy alone and with all frames. It leaves nothing in the checkout.
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
		if out, err := run(nil, append([]string{inside, "-m", "pip", "install", "-q"}, packages...)...); err != nil {
			t.Skipf("cannot install %s: %v\n%s", strings.Join(packages, ", "), err, out)
		}
	}
	install("numpy", "flit_core")
	must(nil, inside, "-m", "pip", "install", "-q", ".")
	path, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(must([]string{
		"TVPS_BINARY=", "TVPS_SOURCE=", "TVPS_CACHE=" + filepath.Join(dir, "cache"),
		"PATH=" + filepath.Dir(path) + ":/usr/bin:/bin",
	}, inside, "-c", "import tvps; print(tvps.binary())"))
	program := lines[len(lines)-1]
	suite := func(t *testing.T) string {
		out := must([]string{"TVPS_BINARY=" + program}, inside, "-m", "unittest", "discover", "-s", "tests")
		return out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:]
	}
	t.Run("NumPy", func(t *testing.T) { t.Log(suite(t)) })
	t.Run("AllFrames", func(t *testing.T) {
		install(frames...)
		if out := suite(t); strings.TrimSpace(out) != "OK" {
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
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestVersion: the package has the version of the newest numbered release, 0.0.0 without one.
func TestVersion(t *testing.T) {
	read := func(path, pattern string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
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
