// Package echarts downloads echarts.min.js, the script that draws the charts of figures and
// notebooks, so that they are interactive without a network. Each source is pinned by its
// hash; the only other script accepted is a file that the user names.
package echarts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"

	"tvps/data/artifact"
)

// FileName is the script's name in every folder.
const FileName = "echarts.min.js"

// Options adjusts [Ensure] and [Cached]. The zero value is silent and uses the pinned sources.
type Options struct {
	File string       // use this file, of any version of ECharts 5; "" for the pinned sources
	Log  io.Writer    // progress; nil for none
	HTTP *http.Client // as in artifact.Options

	sources []source // replaced in tests
}

// source is one place that publishes a pinned script.
type source struct {
	script  artifact.File                                          // the script; its URL is set if it is published alone
	archive artifact.File                                          // the package that holds it, if script has no URL
	address func(ctx context.Context) (registry string, err error) // the registry that publishes the archive
}

// sources are tried in this order. The host of go-echarts has an older version than npm.
var sources = []source{
	{
		script: artifact.File{
			Name:   "ECharts 5.6.0",
			SHA256: "bf4a223524e40b77c304bec67e1222cf551f14880cf42c69dc046558e11c07b1",
			Size:   1034102,
		},
		archive: artifact.File{
			Name:   "echarts-5.6.0.tgz",
			SHA256: "e1b82487dd7f8d9f0438eec1f1433051148e0095ac7a15d4db890afda45cf610",
			Size:   10432423,
		},
		address: registry,
	},
	{
		script: artifact.File{
			Name:   "ECharts 5.4.3",
			URL:    "https://go-echarts.github.io/go-echarts-assets/assets/" + FileName,
			SHA256: "987554a0014ad7be585eccc91c4329d050b40c2c0ebd2e8ec84adca82c0eb843",
			Size:   1024695,
		},
	},
}

// Pinned returns the pinned scripts, in the order in which they are tried.
func Pinned() []artifact.File {
	var out []artifact.File
	for _, s := range sources {
		out = append(out, s.script)
	}
	return out
}

// Ensure makes sure that dst is a script of ECharts 5, and downloads it if it is missing or
// damaged. Options.File replaces an existing script. If no source has the script, the error
// is one sentence that gives the reason for each source. No process sees a partial file at
// dst.
func Ensure(ctx context.Context, dst string, o Options) error {
	if o.File != "" {
		return copyScript(o.File, dst)
	}
	if _, _, err := Check(dst); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(dst), 0o755); err != nil {
		return fmt.Errorf("cannot make the folder for %s: %w", FileName, err)
	}
	if o.sources == nil {
		o.sources = sources
	}
	failed := fmt.Errorf("no source has %s", FileName)
	for _, s := range o.sources {
		err := s.get(ctx, dst, o)
		if err == nil || ctx.Err() != nil {
			return err
		}
		failed = fmt.Errorf("%w; %w", failed, err)
	}
	return failed
}

// get downloads the script to dst, whose folder exists.
func (s source) get(ctx context.Context, dst string, o Options) error {
	fetch := artifact.Options{Log: o.Log, HTTP: o.HTTP}
	if s.script.URL != "" {
		defer os.Remove(dst + ".lock")
		return artifact.Fetch(ctx, s.script, dst, fetch)
	}
	base, err := s.address(ctx)
	if err != nil {
		return fmt.Errorf("cannot download %s: %w", s.script.Name, err)
	}
	file := s.archive
	file.URL = base + "/echarts/-/" + file.Name
	archive := filepath.Join(filepath.Dir(dst), file.Name)
	defer os.Remove(archive + ".lock")
	if err := artifact.Fetch(ctx, file, archive, fetch); err != nil {
		return err
	}
	defer os.Remove(archive)
	return unpack(archive, dst, s.script)
}

// version matches the version that a script of ECharts 5 holds.
var version = regexp.MustCompile(`\bversion="(5\.\d+\.\d+)"`)

// Check returns the version of the script at path and whether it is one of the pinned
// scripts. It is an error if the file is not a script of ECharts 5.
func Check(path string) (name string, pinned bool, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", false, err
	}
	return identify(text, path)
}

// identify is [Check] for the text of the script at path.
func identify(text []byte, path string) (name string, pinned bool, err error) {
	sum := sha256.Sum256(text)
	for _, s := range sources {
		if hex.EncodeToString(sum[:]) == s.script.SHA256 {
			return s.script.Name, true, nil
		}
	}
	m := version.FindSubmatch(text)
	if m == nil {
		return "", false, fmt.Errorf("%s is not a script of ECharts 5", path)
	}
	return "ECharts " + string(m[1]), false, nil
}

// copyScript copies the user's own script to dst.
func copyScript(from, dst string) error {
	text, err := own(from)
	if err != nil {
		return err
	}
	return Write(dst, text)
}

// own reads the user's own script.
func own(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the given %s: %w", FileName, err)
	}
	if _, _, err := identify(text, path); err != nil {
		return nil, err
	}
	return text, nil
}

// Write writes the script's text to path in one step, and makes the folder if needed.
func Write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("cannot make the folder for %s: %w", FileName, err)
	}
	return artifact.WriteFile(path, FileName, 0o644, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}
