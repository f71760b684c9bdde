package own

import (
	"fmt"
	"path/filepath"
	"strings"

	"tvps/data/artifact"
	"tvps/figures"
)

// WritePage writes index.html, echarts.min.js and other files by name to the folder, which it makes if needed.
func WritePage(dir string, page []byte, others map[string][]byte) error {
	if err := artifact.MakeFolder(dir); err != nil {
		return fmt.Errorf("cannot write the page: %w", err)
	}
	files := map[string][]byte{"index.html": page, figures.ScriptFile: figures.ECharts}
	for name, content := range others {
		files[name] = content
	}
	for name, content := range files {
		if err := artifact.Replace(filepath.Join(dir, name), content, 0o644); err != nil {
			return fmt.Errorf("cannot write the page: %w", err)
		}
	}
	return nil
}

// ShortName is the name of a time without where its block of rows begins.
func ShortName(time string) string {
	time, _, _ = strings.Cut(time, " (from ")
	return time
}
