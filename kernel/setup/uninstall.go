package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"tvps/data/artifact"
)

// Uninstall removes the files that Install wrote, and the folders that are empty then. With venv it also removes the
// private JupyterLab. It prints a line to out for each removed file. A missing installation is not an error. The
// plugin and the data sets stay in the cache: `replicate` uses them.
func Uninstall(ctx context.Context, l Layout, venv bool, out io.Writer) error {
	files := installed(l, out)
	if venv {
		files = append(files, l.venv())
	}
	files = slices.DeleteFunc(files, func(path string) bool { _, err := os.Lstat(path); return err != nil })
	if len(files) == 0 { // a lock file would need the folder
		_, err := fmt.Fprintln(out, "The kernel is not installed: nothing to remove.")
		return err
	}
	unlock, err := artifact.Lock(ctx, l.lock(), "the notebook kernel", out)
	if err != nil {
		return err
	}
	defer unlock()
	for _, path := range files {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("cannot remove %s: %w", path, err)
		}
		fmt.Fprintln(out, "removed", path)
	}
	if _, err := os.Stat(l.venv()); err == nil {
		fmt.Fprintf(out, "The private JupyterLab stays in %s: %s removes it.\n", l.venv(), l.command("uninstall --venv"))
	}
	if venv {
		os.Remove(l.venvLock())
	}
	os.Remove(l.lock())
	removeEmpty(l)
	return nil
}

// installed lists the files that Install may have written. The kernelspec comes first: so Jupyter never shows a
// kernel whose programs are gone. A kernelspec of another program is not in the list, and out gets a line about it.
func installed(l Layout, out io.Writer) []string {
	var files []string
	if _, err := readSpec(l); errors.Is(err, errForeign) {
		fmt.Fprintf(out, "Left alone: %s, which was not written by `%s`.\n", l.specFile(), writer)
	} else {
		files = append(files, l.specFile(), l.logo())
	}
	files = append(files, l.servedScript())
	for _, p := range append(slices.Clone(tools), gopls) {
		files = append(files, l.program(p))
	}
	return append(files, filepath.Join(l.Data, ".build"))
}

// removeEmpty removes the folders that Install made, if nothing is left in them.
func removeEmpty(l Layout) {
	static := filepath.Dir(l.servedScript())
	for _, dir := range []string{l.specDir(), static, filepath.Dir(static), l.bin(), l.goplsDir(), l.Data, filepath.Dir(l.Data)} {
		os.Remove(dir) // fails if it holds something
	}
}
