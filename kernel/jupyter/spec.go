package jupyter

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// Spec is an installed kernel: the content of its kernel.json and the folder of that file.
type Spec struct {
	Name          string            // the folder's name in lower case
	Dir           string            // the folder of kernel.json; {resource_dir} in Argv
	Argv          []string          // command line; {connection_file} and {resource_dir} are replaced
	DisplayName   string            // as shown in JupyterLab
	Language      string            // as in a notebook's metadata
	InterruptMode string            // "signal" or "message"
	Env           map[string]string // added to the environment; ${NAME} is expanded
	Metadata      map[string]any
}

// ErrNoKernel marks Find's error if no kernel of that name is installed.
var ErrNoKernel = errors.New("no such kernel")

// validName is Jupyter's rule for the names of kernels.
var validName = regexp.MustCompile(`(?i)^[a-z0-9._-]+$`)

// Find returns the installed kernel of that name, ignoring case. The error for an unknown name lists the installed
// kernels.
func Find(name string) (Spec, error) {
	key := strings.ToLower(name)
	found := folders()
	if dir, ok := found[key]; ok {
		return read(key, dir)
	}
	var names []string
	for n := range found {
		names = append(names, n)
	}
	if len(names) == 0 {
		return Spec{}, fmt.Errorf("%w: %q: no kernel is installed; searched %s",
			ErrNoKernel, name, strings.Join(searchPath(), string(os.PathListSeparator)))
	}
	slices.Sort(names)
	return Spec{}, fmt.Errorf("%w: %q is not installed; did you mean %q? Installed: %s",
		ErrNoKernel, name, nearest(key, names), strings.Join(names, ", "))
}

// List returns all installed kernels, sorted by name. Of kernels with the same name it lists the one that Jupyter
// would use. If some kernelspecs cannot be read, List returns the others with an error about these.
func List() ([]Spec, error) {
	var specs []Spec
	var errs []error
	for name, dir := range folders() {
		spec, err := read(name, dir)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		specs = append(specs, spec)
	}
	slices.SortFunc(specs, func(a, b Spec) int { return strings.Compare(a.Name, b.Name) })
	return specs, errors.Join(errs...)
}

// folders maps the name of each installed kernel to its folder: the first one in the search path.
func folders() map[string]string {
	found := map[string]string{}
	for _, root := range searchPath() {
		files, _ := filepath.Glob(filepath.Join(escapeGlob(root), "kernels", "*", "kernel.json"))
		for _, file := range files {
			dir := filepath.Dir(file)
			name := strings.ToLower(filepath.Base(dir))
			if _, taken := found[name]; !taken && validName.MatchString(name) {
				found[name] = dir
			}
		}
	}
	return found
}

// escapeGlob escapes the characters of a path that are special in a glob pattern.
func escapeGlob(path string) string {
	if os.PathSeparator == '\\' { // there is no escape on Windows
		return path
	}
	return regexp.MustCompile(`[*?\[\\]`).ReplaceAllString(path, `\$0`)
}

// read reads the kernel.json in dir.
func read(name, dir string) (Spec, error) {
	file := filepath.Join(dir, "kernel.json")
	data, err := os.ReadFile(file)
	if err != nil {
		return Spec{}, fmt.Errorf("kernel %q: %w", name, err)
	}
	var f struct {
		Argv          []string          `json:"argv"`
		DisplayName   string            `json:"display_name"`
		Language      string            `json:"language"`
		InterruptMode string            `json:"interrupt_mode"`
		Env           map[string]string `json:"env"`
		Metadata      map[string]any    `json:"metadata"`
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return Spec{}, fmt.Errorf("kernel %q: %s is not a kernelspec: %w", name, file, err)
	}
	if len(f.Argv) == 0 {
		return Spec{}, fmt.Errorf("kernel %q: %s has no argv", name, file)
	}
	if f.InterruptMode == "" {
		f.InterruptMode = "signal"
	}
	if f.InterruptMode != "signal" && f.InterruptMode != "message" {
		return Spec{}, fmt.Errorf("kernel %q: %s has interrupt_mode %q; it must be signal or message",
			name, file, f.InterruptMode)
	}
	return Spec{name, dir, f.Argv, f.DisplayName, f.Language, f.InterruptMode, f.Env, f.Metadata}, nil
}

// nearest is the name with the smallest edit distance to the given one.
func nearest(name string, names []string) string {
	return slices.MinFunc(names, func(a, b string) int {
		return levenshtein.Distance(name, a, nil) - levenshtein.Distance(name, b, nil)
	})
}
