// Package setup installs the notebook kernel and checks it: the programs gonb and
// goimports, the kernelspec through which Jupyter starts them, the XLA plugin, and
// ECharts for charts without a network. It also starts JupyterLab with all of that.
//
// A kernel of GoNB compiles each cell in a temporary module of its own. The kernelspec
// makes that module part of a Go workspace with this checkout (gonb's flag -go_work), so
// that a notebook in any folder imports this module and GoMLX in the versions of this
// checkout's go.mod. GOPROXY=off keeps Go from the network, which it would otherwise ask
// for newer versions at every cell; a notebook that imports other modules sets it back
// with `%env GOPROXY` and what `go env GOPROXY` prints in a terminal.
package setup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tvps/data/echarts"
	"tvps/kernel/jupyter"

	"golang.org/x/mod/modfile"
)

// KernelName is the name of the kernelspec, as in `jupyter run --kernel tvps`.
const KernelName = "tvps"

// Layout says where everything is. Only NewLayout makes one.
type Layout struct {
	Root    string // this checkout: the folder of go.mod
	Prefix  string // "" for the user's own folders
	Data    string // programs, ECharts and the private JupyterLab
	Jupyter string // Jupyter's data folder: kernelspecs and extensions
}

// NewLayout is the layout of an installation of the checkout root below prefix, or in the
// user's own folders if prefix is "".
func NewLayout(root, prefix string) (Layout, error) {
	l := Layout{Root: root}
	if prefix == "" {
		data, err := userData()
		if err != nil {
			return Layout{}, err
		}
		l.Data, l.Jupyter = filepath.Join(data, "tvps", "kernel"), jupyter.DataDir()
	} else {
		prefix, err := filepath.Abs(prefix)
		if err != nil {
			return Layout{}, fmt.Errorf("--prefix %q: %w", prefix, err)
		}
		share := filepath.Join(prefix, "share")
		l.Prefix, l.Data, l.Jupyter = prefix, filepath.Join(share, "tvps", "kernel"), filepath.Join(share, "jupyter")
	}
	// gonb's -go_work is a list with commas, PATH one with colons.
	if strings.ContainsAny(l.Root, ",\n") {
		return Layout{}, fmt.Errorf("the checkout %q has a comma or a line break in its path, which gonb cannot take: move it", l.Root)
	}
	if strings.ContainsAny(l.Data, "\n"+string(os.PathListSeparator)) {
		return Layout{}, fmt.Errorf("the folder %q has a %q in its path, which PATH cannot hold: choose another with --prefix", l.Data, os.PathListSeparator)
	}
	return l, nil
}

// userData is the folder for the data of the user's programs.
func userData() (string, error) {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no home folder is known (%w): name another with --prefix", err)
	}
	return filepath.Join(home, ".local", "share"), nil
}

// FindRoot is the folder of this module's checkout: the working directory or one above
// it, or what TVPS_ROOT names, as in a notebook.
func FindRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if isRoot(dir) {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	if dir := os.Getenv("TVPS_ROOT"); dir != "" && isRoot(dir) {
		return filepath.Abs(dir)
	}
	return "", errors.New("this is not the folder of a checkout of tvps, nor one in it: change to it, or set TVPS_ROOT")
}

func isRoot(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && modfile.ModulePath(text) == "tvps"
}

// command is a command of this program for the same place, as a person types it.
func (l Layout) command(name string) string {
	if l.Prefix != "" {
		name += fmt.Sprintf(" --prefix %q", l.Prefix)
	}
	return "`go run ./kernel " + name + "`"
}

func (l Layout) bin() string           { return filepath.Join(l.Data, "bin") }
func (l Layout) program(p tool) string { return filepath.Join(l.bin(), p.name) }
func (l Layout) lock() string          { return filepath.Join(l.Data, ".lock") }
func (l Layout) script() string        { return filepath.Join(l.Data, echarts.FileName) }
func (l Layout) specDir() string       { return filepath.Join(l.Jupyter, "kernels", KernelName) }
func (l Layout) specFile() string      { return filepath.Join(l.specDir(), "kernel.json") }
func (l Layout) logo() string          { return filepath.Join(l.specDir(), "logo-svg.svg") }

// servedScript is where every JupyterLab finds ECharts: it serves what lies here under
// lab/extensions/tvps/static. Without a package.json it is no extension.
func (l Layout) servedScript() string {
	return filepath.Join(l.Jupyter, "labextensions", KernelName, "static", echarts.FileName)
}
