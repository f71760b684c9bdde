package notebook

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
)

// withDefaults fills in the defaults for the figure with the given name.
func (o Options) withDefaults(name string) Options {
	o.Scale = cmp.Or(o.Scale, "small")
	o.Workers = cmp.Or(o.Workers, runtime.NumCPU())
	o.Results = cmp.Or(o.Results, os.Getenv("TVPS_RESULTS"), "results")
	o.Out = cmp.Or(o.Out, outFolder(name))
	return o
}

// outFolder is the folder for the files of a figure or notebook: $TVPS_OUT/name, or figures/out/name in $TVPS_ROOT.
func outFolder(name string) string {
	folder := cmp.Or(os.Getenv("TVPS_OUT"), filepath.Join(os.Getenv("TVPS_ROOT"), "figures", "out"))
	return filepath.Join(folder, name)
}

// File is the path of a file in the folder for the files of a notebook, which it creates: $TVPS_OUT/notebook, or
// figures/out/notebook in $TVPS_ROOT.
func File(notebook, name string) string {
	folder := outFolder(notebook)
	Exit(os.MkdirAll(folder, 0o755))
	return filepath.Join(folder, name)
}
