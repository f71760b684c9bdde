package cells

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"tvps/replicate/lab"
)

func (o Options) withDefaults(name string) Options {
	o.Scale = cmp.Or(o.Scale, "small")
	o.Workers = cmp.Or(o.Workers, runtime.NumCPU())
	o.Results = cmp.Or(o.Results, os.Getenv("TVPS_RESULTS"), "results")
	folder := cmp.Or(os.Getenv("TVPS_OUT"), filepath.Join(os.Getenv("TVPS_ROOT"), "figures", "out"))
	o.Out = cmp.Or(o.Out, filepath.Join(folder, name))
	return o
}

// stable leaves out the note of the commit: see the package comment.
func stable(source []string) []string {
	return slices.DeleteFunc(slices.Clone(source), func(s string) bool { return strings.HasPrefix(s, lab.CommitNote) })
}

// Sources are where the script of a chart looks for echarts, after the page itself: the
// file that `go run ./kernel install` gives to JupyterLab, and one in the folder that
// Jupyter was started in. {base} is Jupyter's base URL. An address in TVPS_ECHARTS comes
// first; a path there is the installed file, which a browser cannot load.
func Sources() []string {
	sources := []string{"{base}lab/extensions/tvps/static/echarts.min.js", "{base}files/echarts.min.js"}
	if address := os.Getenv("TVPS_ECHARTS"); strings.Contains(address, "://") {
		sources = slices.Insert(sources, 0, address)
	}
	return sources
}
