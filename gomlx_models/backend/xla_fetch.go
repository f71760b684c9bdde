//go:build !noxla

package backend

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"tvps/data/artifact"

	"github.com/gomlx/go-xla/installer"
)

// The pinned plugin: OpenXLA's own build, published on PyPI.
const (
	pluginPackage = "xla-cpu-pjrt"
	pluginRelease = "0.0.1"
	pluginIndex   = "https://pypi.org/pypi/" + pluginPackage + "/json"
	pluginFile    = "pjrt_c_api_cpu_plugin.so" // the name that go-xla looks for
	pluginMember  = "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"
)

// pins by GOOS-GOARCH. Where there is none, go-xla's installer is the only source.
var pins = map[string]pin{
	"linux-amd64": {
		wheel: artifact.File{
			Name:   "xla_cpu_pjrt-0.0.1-py3-none-manylinux_2_27_x86_64.whl",
			SHA256: "55837b6b7b47daa717f2d9a5a03563ea0ceaa338d06a81a1e2d3f060d960decc",
			Size:   63461052,
		},
		member:       pluginMember,
		pluginSHA256: "88c3f28c5900f48ad4a82cab9e79bba9537809743395e341485f8794268820dc",
		pluginSize:   259284552,
	},
	"linux-arm64": {
		wheel: artifact.File{
			Name:   "xla_cpu_pjrt-0.0.1-py3-none-manylinux_2_27_aarch64.whl",
			SHA256: "8f613be6e891858f40d64f9799319502fff42689661944fc18a6ffd8210b30c9",
			Size:   49514947,
		},
		member:       pluginMember,
		pluginSHA256: "fcf411f3e8ff635c2b2cf87215aa7016f460e66d236c3db08309e7486583532d",
		pluginSize:   200328224,
	},
}

// ensurePinned returns the pinned plugin in the cache, fetching it if it is missing or
// damaged. Two processes on an empty cache fetch it once. What is not the pinned file,
// byte for byte, is never returned and never left behind.
func ensurePinned(ctx context.Context, opts Options) (found, error) {
	platform := runtime.GOOS + "-" + runtime.GOARCH
	table := opts.pins
	if table == nil {
		table = pins
	}
	p, ok := table[platform]
	if !ok {
		return found{}, fmt.Errorf("%s %s has no plugin for %s", pluginPackage, pluginRelease, platform)
	}
	path := filepath.Join(opts.CacheDir, "pjrt", pluginRelease+"-"+platform, pluginFile)
	plugin := found{path: path, source: "cache", version: pluginPackage + " " + pluginRelease}
	if p.matches(path, opts.CacheDir) {
		return plugin, nil
	}
	if opts.NoFetch {
		if exists(path) {
			return found{}, fmt.Errorf("the XLA plugin %s is damaged; the next run fetches it again", path)
		}
		return found{}, fmt.Errorf("the XLA plugin is not in %s yet", filepath.Dir(path))
	}
	unlock, err := artifact.Lock(ctx, filepath.Join(filepath.Dir(path), ".lock"), "the XLA plugin", opts.Log)
	if err != nil {
		return found{}, err
	}
	defer unlock()
	if p.matches(path, opts.CacheDir) {
		return plugin, nil // another process was faster
	}
	if exists(path) {
		logf(opts.Log, "the XLA plugin %s is damaged: fetching it again", path)
		if err := os.Remove(path); err != nil {
			return found{}, fmt.Errorf("the XLA plugin %s is damaged and cannot be removed: %w", path, err)
		}
	}
	plugin.source = "PyPI"
	return plugin, p.fetch(ctx, path, opts)
}

// matches says whether path is the pinned plugin.
func (p pin) matches(path, cacheDir string) bool {
	if fileSize(path) != p.pluginSize {
		return false
	}
	sum, err := fileSHA256(path, cacheDir)
	return err == nil && sum == p.pluginSHA256
}

// fetch downloads the wheel and unpacks the plugin to path. The caller holds the lock.
func (p pin) fetch(ctx context.Context, path string, opts Options) error {
	wheel := filepath.Join(filepath.Dir(path), p.wheel.Name)
	if p.wheel.Verify(wheel) != nil { // whole if a process was killed while it unpacked
		url, err := p.lookUp(ctx, opts.IndexURL)
		if err != nil {
			return err
		}
		// Not installer.DownloadURLToTemp: it has no context, no timeout, no resume,
		// draws on standard output and leaves a file with a wrong hash behind.
		file := p.wheel
		file.URL = url
		if err := artifact.Fetch(ctx, file, wheel, artifact.Options{Log: opts.Log}); err != nil {
			return err
		}
	}
	if err := p.unpack(wheel, path, opts.Log); err != nil {
		return err
	}
	os.Remove(wheel)
	os.Remove(wheel + ".lock") // nobody waits for it: whoever fetches holds the folder's lock
	if !p.matches(path, opts.CacheDir) {
		os.Remove(path)
		return fmt.Errorf("%s reads back other bytes than were written: the disk is failing; it was deleted", path)
	}
	return nil
}

// lookUp asks the package index for the wheel's address. Not installer.GetPipInfo: its
// address is fixed and it has neither context nor timeout.
func (p pin) lookUp(ctx context.Context, index string) (string, error) {
	if index == "" {
		index = pluginIndex
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, index, nil)
	if err != nil {
		return "", fmt.Errorf("the package index %s: %w", index, err)
	}
	resp, err := artifact.Client().Do(req)
	if err != nil {
		return "", fmt.Errorf("the package index cannot be reached (%w); check the network and proxy settings", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the package index %s answered %q", index, resp.Status)
	}
	var info installer.PipPackageInfo
	if err := json.NewDecoder(io.LimitReader(resp.Body, 16<<20)).Decode(&info); err != nil {
		return "", fmt.Errorf("the package index %s sent no package description (%w)", index, err)
	}
	return p.choose(&info, index)
}

// choose picks the pinned wheel from the index's answer.
func (p pin) choose(info *installer.PipPackageInfo, index string) (string, error) {
	exactly := regexp.MustCompile("^" + regexp.QuoteMeta(p.wheel.Name) + "$")
	release, err := installer.PipSelectRelease(info.Releases[pluginRelease], exactly, false)
	if err != nil {
		return "", fmt.Errorf("the package index %s does not list %s", index, p.wheel.Name)
	}
	if got := release.Digests["sha256"]; !strings.EqualFold(got, p.wheel.SHA256) {
		return "", fmt.Errorf("the package index %s offers %s with SHA-256 %s, but this program expects %s: it is not the same file",
			index, p.wheel.Name, got, p.wheel.SHA256)
	}
	return release.URL, nil
}

// unpack writes the plugin, and nothing else, from the wheel to path and checks it.
// Not installer.Unzip: it unpacks everything, in place and unchecked.
func (p pin) unpack(wheel, path string, log io.Writer) error {
	archive, err := zip.OpenReader(wheel)
	if err != nil {
		return fmt.Errorf("%s: %w", wheel, err)
	}
	defer archive.Close()
	member, err := archive.Open(p.member)
	if err != nil {
		return fmt.Errorf("%s holds no %s", wheel, p.member)
	}
	defer member.Close()
	return artifact.WriteFile(path, "the XLA plugin", 0o755, func(w io.Writer) error {
		h := sha256.New()
		bar := artifact.NewProgress(log, "unpacking the XLA plugin", p.pluginSize)
		defer bar.Close()
		if _, err := io.CopyBuffer(io.MultiWriter(w, h, bar), member, make([]byte, 1<<20)); err != nil {
			return fmt.Errorf("unpacking %s: %w", wheel, err)
		}
		if got := hex.EncodeToString(h.Sum(nil)); got != p.pluginSHA256 {
			return fmt.Errorf("the plugin in %s has SHA-256 %s instead of %s", wheel, got, p.pluginSHA256)
		}
		return nil
	})
}

// goXLAPlugin is the second source: a plugin that go-xla's installer has put on this
// machine before, or puts into our cache now (from GitHub, without a pinned hash).
func goXLAPlugin(ctx context.Context, opts Options) (string, error) {
	dir := filepath.Join(opts.CacheDir, "pjrt", "go-xla")
	for _, d := range append([]string{dir}, goXLADirs()...) {
		if path := searchDir(d, "cpu"); path != "" {
			return path, nil
		}
	}
	if opts.NoFetch {
		return "", errors.New("it has installed none yet")
	}
	// The installer knows no timeout: see first, quickly, whether its server is there.
	probe, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(probe, http.MethodHead, "https://api.github.com/repos/"+installer.BinaryCPUReleasesRepo, nil)
	if err != nil {
		return "", err
	}
	resp, err := artifact.Client().Do(req)
	if err != nil {
		return "", fmt.Errorf("GitHub cannot be reached (%w)", err)
	}
	resp.Body.Close()
	logf(opts.Log, "installing go-xla's CPU plugin into %s", dir)
	if err := runInstaller(ctx, dir); err != nil {
		return "", errors.New(oneLine(err))
	}
	if path := searchDir(dir, "cpu"); path != "" {
		return path, nil
	}
	return "", fmt.Errorf("it left no plugin in %s", dir)
}

// runInstaller calls go-xla's installer, which takes no context: when ctx ends, the
// call is left behind.
func runInstaller(ctx context.Context, dir string) error {
	done := make(chan error, 1)
	go func() {
		var err error
		defer func() { done <- err }()
		defer recoverTo(&err, "go-xla's installer")
		err = installer.CPUAutoInstall(dir, false, installer.Quiet)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(15 * time.Minute):
		return errors.New("no end after 15 minutes")
	}
}
