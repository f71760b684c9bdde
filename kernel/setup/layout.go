// Package setup installs and checks the notebook kernel: the programs gonb and goimports, the kernelspec
// with which Jupyter starts them, the XLA plugin, and ECharts for charts without a network. It also starts
// JupyterLab.
//
// GoNB compiles each cell in a temporary module. The kernelspec puts that module into a Go workspace with this
// checkout (gonb's flag -go_work), so a notebook in any folder can import this module, and GoMLX in the version of
// this checkout's go.mod. The kernelspec sets GOPROXY=off, because Go would otherwise ask the network for newer
// versions in every cell. A notebook that imports other modules must set GOPROXY and GOSUMDB again: `%env GOPROXY`
// with the value that `go env GOPROXY` prints in a terminal.
package setup

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"tvps/figures"
	"tvps/kernel/jupyter"

	"golang.org/x/mod/modfile"
)

// kernelName is the name of the kernelspec, as in `jupyter run --kernel tvps`.
const kernelName = "tvps"

// Layout holds the paths of an installation. Use NewLayout to make one.
type Layout struct {
	Root    string // the checkout: the folder of go.mod
	Prefix  string // empty: the user's own folders
	Data    string // folder of the programs and the private JupyterLab
	Jupyter string // Jupyter's data folder, with kernelspecs and extensions
}

// NewLayout returns the layout of an installation of the checkout root below prefix. If prefix is empty, the user's
// own folders are used.
func NewLayout(root, prefix string) (Layout, error) {
	if prefix == "" {
		data, err := userData()
		return Layout{Root: root, Data: filepath.Join(data, "tvps", "kernel"), Jupyter: jupyter.DataDir()}, err
	}
	dir, err := filepath.Abs(prefix)
	if err != nil {
		return Layout{}, fmt.Errorf("--prefix %q: %w", prefix, err)
	}
	share := filepath.Join(dir, "share")
	return Layout{root, dir, filepath.Join(share, "tvps", "kernel"), filepath.Join(share, "jupyter")}, nil
}

// userData is the folder for application data of the user: XDG_DATA_HOME, or ~/.local/share.
func userData() (string, error) {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("cannot find the home folder (%w): choose a folder with --prefix", err)
	}
	return filepath.Join(home, ".local", "share"), nil
}

// FindRoot finds the folder of this module's checkout: the working directory, or one above it, or TVPS_ROOT, which
// is set in notebooks.
func FindRoot() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := here; ; dir = filepath.Dir(dir) {
		if isRoot(dir) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if dir := os.Getenv("TVPS_ROOT"); dir != "" && isRoot(dir) {
		return filepath.Abs(dir)
	}
	return "", errors.New("the working directory is not in a checkout of tvps: change to one, or set TVPS_ROOT")
}

func isRoot(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && modfile.ModulePath(text) == "tvps"
}

// command is the command line of a subcommand of this program, with the same prefix.
func (l Layout) command(name string) string {
	if l.Prefix != "" {
		name += fmt.Sprintf(" --prefix %q", l.Prefix)
	}
	return "`go run ./kernel " + name + "`"
}

func (l Layout) bin() string      { return filepath.Join(l.Data, "bin") }
func (l Layout) goplsDir() string { return filepath.Join(l.Data, "gopls") } // `kernel run` takes it off PATH
func (l Layout) lock() string     { return filepath.Join(l.Data, ".lock") }
func (l Layout) specDir() string  { return filepath.Join(l.Jupyter, "kernels", kernelName) }
func (l Layout) specFile() string { return filepath.Join(l.specDir(), "kernel.json") }
func (l Layout) logo() string     { return filepath.Join(l.specDir(), "logo-svg.svg") }

// program is the path of the program of a package, other than gopls.
func (l Layout) program(pkg string) string { return filepath.Join(l.bin(), path.Base(pkg)) }

// goScript is the program go of cells.
func (l Layout) goScript() string { return filepath.Join(l.bin(), "go") }

// servedScript is the file that every JupyterLab serves as lab/extensions/tvps/static/echarts.min.js. Without a
// package.json the folder is not an extension.
func (l Layout) servedScript() string {
	return filepath.Join(l.Jupyter, "labextensions", kernelName, "static", figures.ScriptFile)
}
