package jupyter

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Spec is an installed kernel: the content of its kernel.json and the folder of that file.
type Spec struct {
	Name          string            `json:"-"`    // the folder's name in lower case
	Dir           string            `json:"-"`    // the folder of kernel.json; {resource_dir} in Argv
	Argv          []string          `json:"argv"` // command line; {connection_file} and {resource_dir} are replaced
	DisplayName   string            `json:"display_name"`
	Language      string            `json:"language"`       // as in a notebook's metadata
	InterruptMode string            `json:"interrupt_mode"` // "signal" or "message"
	Env           map[string]string `json:"env"`            // added to the environment; ${NAME} is expanded
}

// ErrNoKernel marks Find's error if no kernel of that name is installed.
var ErrNoKernel = errors.New("no such kernel")

// Find returns the installed kernel of that name, ignoring case. The error for an unknown name lists the installed
// kernels.
func Find(name string) (Spec, error) {
	key := strings.ToLower(name)
	found := folders()
	if dir, ok := found[key]; ok {
		return Read(key, dir)
	}
	if len(found) == 0 {
		return Spec{}, fmt.Errorf("%w: %q: no kernel is installed; searched %s",
			ErrNoKernel, name, strings.Join(searchPath(), string(os.PathListSeparator)))
	}
	names := strings.Join(slices.Sorted(maps.Keys(found)), ", ")
	return Spec{}, fmt.Errorf("%w: %q is not installed; installed: %s", ErrNoKernel, name, names)
}

// folders maps the name of each installed kernel to its folder: the first one in the search path.
func folders() map[string]string {
	found := map[string]string{}
	for _, root := range searchPath() {
		files, _ := fs.Glob(os.DirFS(root), "kernels/*/kernel.json")
		for _, file := range files {
			dir := filepath.Join(root, filepath.Dir(file))
			name := strings.ToLower(filepath.Base(dir))
			if _, taken := found[name]; !taken {
				found[name] = dir
			}
		}
	}
	return found
}

// Read reads the kernelspec in a folder. The error wraps fs.ErrNotExist if there is none.
func Read(name, dir string) (Spec, error) {
	file := filepath.Join(dir, "kernel.json")
	data, err := os.ReadFile(file)
	if err != nil {
		return Spec{}, fmt.Errorf("kernel %q: %w", name, err)
	}
	s := Spec{Name: name, Dir: dir, InterruptMode: "signal"}
	if err := json.Unmarshal(data, &s); err != nil {
		return Spec{}, fmt.Errorf("kernel %q: %s is not a kernelspec: %w", name, file, err)
	}
	if len(s.Argv) == 0 {
		return Spec{}, fmt.Errorf("kernel %q: %s has no argv", name, file)
	}
	return s, nil
}

// DataDir is the user's own Jupyter data folder. Kernelspecs are in its subfolder kernels.
func DataDir() string {
	if dir := os.Getenv("JUPYTER_DATA_DIR"); dir != "" {
		return dir
	}
	home, _ := os.UserHomeDir()
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Jupyter")
	}
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "jupyter")
	}
	return filepath.Join(home, ".local", "share", "jupyter")
}

// searchPath lists the data folders in Jupyter's order: JUPYTER_PATH, virtual environments on PATH, the user's
// folder, other Python installations, the system.
func searchPath() []string {
	named := filepath.SplitList(os.Getenv("JUPYTER_PATH"))
	virtual, other := pythonPrefixes()
	system := []string{"/usr/local/share/jupyter", "/usr/share/jupyter"}
	return slices.Concat(named, virtual, []string{DataDir()}, other, system)
}

// pythonPrefixes returns the data folders of the Python installations whose program jupyter or python3 is on PATH:
// first those of virtual environments, then the others. It derives them from the paths of these programs, so
// Python need not run.
func pythonPrefixes() (virtual, other []string) {
	for _, program := range []string{"jupyter", "python3"} {
		path, err := exec.LookPath(program)
		if err != nil {
			continue
		}
		target, err := filepath.EvalSymlinks(path)
		if err != nil {
			target = path
		}
		for _, file := range []string{path, target} {
			prefix := filepath.Dir(filepath.Dir(file))
			data := filepath.Join(prefix, "share", "jupyter")
			if _, err := os.Stat(filepath.Join(prefix, "pyvenv.cfg")); err == nil {
				virtual = append(virtual, data)
			} else {
				other = append(other, data)
			}
		}
	}
	return virtual, other
}
