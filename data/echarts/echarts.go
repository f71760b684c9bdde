// Package echarts brings echarts.min.js, the script that draws the charts of the figures,
// onto this machine, so that notebooks draw without a network. Each source is pinned: the
// file is byte for byte the one that this program names, or the file that the user gave.
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

// FileName is what the script is called wherever it lies.
const FileName = "echarts.min.js"

// Options adjusts Ensure. The zero value is silent and uses the pinned sources.
type Options struct {
	File string       // take this file, whatever its version of ECharts 5; "" for the pinned sources
	Log  io.Writer    // progress; nil for none
	HTTP *http.Client // as in artifact.Options

	sources []source // tests put others in place
}

// source is one place to get a pinned script from.
type source struct {
	script  artifact.File                                          // the script; its URL is set if it is published alone
	archive artifact.File                                          // the package that holds it, if script has no URL
	address func(ctx context.Context) (registry string, err error) // where the archive is published
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

// Ensure makes sure that dst is an echarts.min.js, and gets it if it is missing or
// damaged. Nobody sees half a file at dst. Options.File replaces what is there. The error
// of a script that cannot be had is one sentence, which says of each source why.
func Ensure(ctx context.Context, dst string, o Options) error {
	if o.File != "" {
		return copyScript(o.File, dst)
	}
	if _, _, err := Check(dst); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(dst), 0o755); err != nil {
		return fmt.Errorf("no folder for %s: %w", FileName, err)
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

// get brings the script from this source to dst. The caller's folder is made.
func (s source) get(ctx context.Context, dst string, o Options) error {
	fetch := artifact.Options{Log: o.Log, HTTP: o.HTTP}
	if s.script.URL != "" {
		defer os.Remove(dst + ".lock")
		return artifact.Fetch(ctx, s.script, dst, fetch)
	}
	base, err := s.address(ctx)
	if err != nil {
		return fmt.Errorf("cannot look for %s: %w", s.script.Name, err)
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

// version finds what a script of ECharts 5 calls itself.
var version = regexp.MustCompile(`\bversion="(5\.\d+\.\d+)"`)

// Check says which version the script at path is, and whether it is pinned: one of those
// that this program gets. Another one is the user's own; it must be of ECharts 5.
func Check(path string) (name string, pinned bool, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", false, err
	}
	return identify(text, path)
}

// identify is Check for the text of the script that came from path.
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

// copyScript puts the user's own script at dst.
func copyScript(from, dst string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("the given %s cannot be read: %w", FileName, err)
	}
	if _, _, err := identify(text, from); err != nil {
		return err
	}
	return Write(dst, text)
}

// Write puts the text of the script at path, at once and whole, and makes the folder.
func Write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("no folder for %s: %w", FileName, err)
	}
	return artifact.WriteFile(path, FileName, 0o644, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}
