package jupyter

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// variable is a variable in the value of a kernelspec's env: ${NAME} or $NAME; $$ is a
// dollar sign.
var variable = regexp.MustCompile(`\$(\$|[A-Za-z_][A-Za-z0-9_]*|\{[A-Za-z_][A-Za-z0-9_]*\})`)

// command is a kernel's command line in its environment, with its own folder for temporary
// files.
func command(spec Spec, o Options, connectionFile, tmp string) (*exec.Cmd, error) {
	fill := strings.NewReplacer("{connection_file}", connectionFile, "{resource_dir}", spec.Dir)
	argv := make([]string, len(spec.Argv))
	for i, arg := range spec.Argv {
		argv[i] = fill.Replace(arg)
	}
	if len(argv) == 0 {
		return nil, fmt.Errorf("kernel %q has no command line", spec.Name)
	}
	env := environment(spec, o, tmp)
	program, err := lookPath(spec, argv[0], env)
	if err != nil {
		return nil, fmt.Errorf("kernel %q: %w", spec.Name, err)
	}
	argv[0] = program // Python finds its environment by the path that it is called with
	return &exec.Cmd{Path: program, Args: argv, Env: env, Dir: o.Dir}, nil
}

// environment is that of this process, then the kernelspec's, then the caller's, then what
// is ours: the folder for temporary files, and the process that the kernel belongs to
// (ipykernel ends when that one does).
func environment(spec Spec, o Options, tmp string) []string {
	env := os.Environ()
	for name, value := range spec.Env {
		env = append(env, name+"="+expand(value))
	}
	env = append(env, o.Env...)
	return append(env, "TMPDIR="+tmp, "TMP="+tmp, "TEMP="+tmp, "JPY_PARENT_PID="+strconv.Itoa(os.Getpid()))
}

// expand replaces the variables that this process has; others stay as they are.
func expand(value string) string {
	return variable.ReplaceAllStringFunc(value, func(v string) string {
		name := strings.Trim(v[1:], "{}")
		if name == "$" {
			return "$"
		}
		if found, ok := os.LookupEnv(name); ok {
			return found
		}
		return v
	})
}

// lookPath finds a program on the kernel's own PATH. A kernelspec that says python means
// that of the environment which it is installed in.
func lookPath(spec Spec, name string, env []string) (string, error) {
	if strings.ContainsRune(name, os.PathSeparator) {
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
	return "", fmt.Errorf("its program %q is not on its PATH; is it installed?", name)
}

// last is the value of a variable in an environment, where the last setting holds.
func last(env []string, name string) string {
	value := ""
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}
