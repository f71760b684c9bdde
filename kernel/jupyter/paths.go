package jupyter

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

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
	dirs := filepath.SplitList(os.Getenv("JUPYTER_PATH"))
	virtual, other := pythonPrefixes()
	dirs = append(dirs, virtual...)
	dirs = append(dirs, DataDir())
	dirs = append(dirs, other...)
	return append(dirs, "/usr/local/share/jupyter", "/usr/share/jupyter")
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
