//go:build !noxla

package backend

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"runtime"
	"time"

	"tvps/data/artifact"

	"github.com/gomlx/go-xla/installer"
)

// ensurePinned returns the pinned plugin in the cache, and downloads it first if it is
// missing or damaged.
func ensurePinned(ctx context.Context, opts Options) (pluginInfo, error) {
	platform := runtime.GOOS + "-" + runtime.GOARCH
	table := opts.pins
	if table == nil {
		table = pins
	}
	wheel, ok := table[platform]
	if !ok {
		return pluginInfo{}, fmt.Errorf("%s %s has no plugin for %s", pluginPackage, pluginRelease, platform)
	}
	dir := filepath.Join(opts.CacheDir, "pjrt", pluginRelease+"-"+platform)
	version := pluginPackage + " " + pluginRelease
	plugin := pluginInfo{path: filepath.Join(dir, pluginFile), source: "cache", version: version}
	if err := artifact.CheckPrivate(opts.CacheDir, plugin.path); err != nil {
		return pluginInfo{}, err
	}
	fetched, err := wheel.Unpack(ctx, dir, artifact.WheelOptions{
		Log: opts.Log, NoFetch: opts.NoFetch, Index: opts.IndexURL,
		Hash: func(path string) (string, error) { return fileSHA256(path, opts.CacheDir) },
	})
	if err != nil {
		return pluginInfo{}, err
	}
	if fetched {
		plugin.source = "PyPI"
	}
	return plugin, nil
}

// goXLAPlugin returns the path of a CPU plugin of go-xla's installer. If none is installed on
// this machine, it installs one into the cache (from GitHub, without a pinned hash).
func goXLAPlugin(ctx context.Context, opts Options) (string, error) {
	dir := filepath.Join(opts.CacheDir, "pjrt", "go-xla")
	if err := artifact.CheckPrivate(opts.CacheDir, dir); err != nil {
		return "", err
	}
	for _, d := range append([]string{dir}, goXLADirs()...) {
		if path := searchDir(d, "cpu"); path != "" {
			return path, nil
		}
	}
	if opts.NoFetch {
		return "", errors.New("no plugin is installed yet")
	}
	if err := probeGitHub(ctx); err != nil {
		return "", err
	}
	logf(opts.Log, "installing go-xla's CPU plugin into %s", dir)
	if err := runInstaller(ctx, dir); err != nil {
		return "", errors.New(oneLine(err))
	}
	if path := searchDir(dir, "cpu"); path != "" {
		return path, nil
	}
	return "", fmt.Errorf("it installed no plugin in %s", dir)
}

// probeGitHub returns an error within 10 seconds if the installer's server cannot be
// reached: the installer itself has no timeout.
func probeGitHub(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	url := "https://api.github.com/repos/" + installer.BinaryCPUReleasesRepo
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, url, nil)
	if err != nil {
		return err
	}
	resp, err := artifact.Client().Do(req)
	if err != nil {
		return fmt.Errorf("GitHub cannot be reached (%w)", err)
	}
	return resp.Body.Close()
}

// runInstaller calls go-xla's installer, which takes no context: if ctx ends, runInstaller
// returns and the installer continues in the background.
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
		return errors.New("not finished after 15 minutes")
	}
}
