package jupyter

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// command makes the command that starts a kernel, with its environment and tmp as its folder for temporary files.
func command(spec Spec, o Options, connectionFile, tmp string) (*exec.Cmd, error) {
	fill := strings.NewReplacer("{connection_file}", connectionFile, "{resource_dir}", spec.Dir)
	argv := make([]string, len(spec.Argv))
	for i, arg := range spec.Argv {
		argv[i] = fill.Replace(arg)
	}
	env := environment(spec, o, tmp)
	program, err := lookPath(spec, argv[0], env)
	if err != nil {
		return nil, fmt.Errorf("kernel %q: %w", spec.Name, err)
	}
	argv[0] = program // Python finds its environment by this path
	return &exec.Cmd{Path: program, Args: argv, Env: env, Dir: o.Dir}, nil
}

// environment is the kernel's environment: that of this process, overridden by the kernelspec's, then by the
// caller's, then by the folder for temporary files and JPY_PARENT_PID (ipykernel ends when that process does).
func environment(spec Spec, o Options, tmp string) []string {
	env := append(os.Environ(), "TVPS_LIVE=off") // no front end answers: see notebook.Live
	for name, value := range spec.Env {
		env = append(env, name+"="+expand(value))
	}
	env = append(env, o.Env...)
	return append(env, "TMPDIR="+tmp, "TMP="+tmp, "TEMP="+tmp, "JPY_PARENT_PID="+strconv.Itoa(os.Getpid()))
}

// expand replaces ${NAME} and $NAME if the variable is set in this process. Others stay as they are. $$ is a dollar.
func expand(value string) string {
	return os.Expand(value, func(name string) string {
		if name == "$" {
			return "$"
		}
		if found, ok := os.LookupEnv(name); ok {
			return found
		}
		return "${" + name + "}"
	})
}

// lookPath finds a program on the kernel's own PATH. For python it first looks in the Python environment that the
// kernelspec is installed in.
func lookPath(spec Spec, name string, env []string) (string, error) {
	if strings.ContainsRune(name, os.PathSeparator) {
		if _, err := os.Stat(name); err != nil && filepath.IsAbs(name) {
			return "", fmt.Errorf("its program %s is missing; install the kernel again", name)
		}
		return name, nil
	}
	if strings.HasPrefix(name, "python") {
		prefix := filepath.Join(spec.Dir, "..", "..", "..", "..") // PREFIX/share/jupyter/kernels/NAME
		if path, err := exec.LookPath(filepath.Join(prefix, "bin", name)); err == nil {
			return path, nil
		}
	}
	for _, dir := range filepath.SplitList(last(env, "PATH")) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(path) {
			return path, nil
		}
	}
	return "", fmt.Errorf("its program %q is not on its PATH; install the program", name)
}

// last is the value of a variable in an environment. The last of several settings applies.
func last(env []string, name string) string {
	for _, e := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(e, name+"="); ok {
			return value
		}
	}
	return ""
}
