package jupyter

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
)

// DataDir is the folder of the user's own Jupyter data: kernelspecs are in its subfolder
// kernels.
func DataDir() string {
	if dir := os.Getenv("JUPYTER_DATA_DIR"); dir != "" {
		return dir
	}
	home, _ := os.UserHomeDir()
	switch runtime.GOOS {
	case "darwin":
		return filepath.Join(home, "Library", "Jupyter")
	case "windows":
		return filepath.Join(os.Getenv("APPDATA"), "jupyter")
	}
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "jupyter")
	}
	return filepath.Join(home, ".local", "share", "jupyter")
}

// searchPath lists the data folders in Jupyter's order: JUPYTER_PATH, the user's folder,
// those of the Python installations, those of the system. A virtual environment that is
// on PATH comes before the user's folder.
func searchPath() []string {
	dirs := filepath.SplitList(os.Getenv("JUPYTER_PATH"))
	virtual, other := pythonPrefixes()
	dirs = append(dirs, virtual...)
	dirs = append(dirs, DataDir())
	dirs = append(dirs, other...)
	dirs = append(dirs, systemDirs()...)
	return unique(dirs)
}

// systemDirs are the folders for all users.
func systemDirs() []string {
	if runtime.GOOS == "windows" {
		return []string{filepath.Join(os.Getenv("PROGRAMDATA"), "jupyter")}
	}
	return []string{"/usr/local/share/jupyter", "/usr/share/jupyter"}
}

// pythonPrefixes returns the data folders of the Python installations whose programs
// jupyter or python3 are on PATH, found from where these programs are: Python itself is
// not needed. Those of virtual environments are apart.
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

// unique drops empty and repeated folders and keeps the order.
func unique(dirs []string) []string {
	var kept []string
	for _, dir := range dirs {
		if dir != "" && !slices.Contains(kept, dir) {
			kept = append(kept, dir)
		}
	}
	return kept
}
