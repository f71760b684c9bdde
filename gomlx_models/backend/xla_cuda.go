//go:build !noxla

package backend

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// openXLACUDA opens XLA on an NVIDIA GPU. The plugin and NVIDIA's libraries must be
// installed: they have several gigabytes, so they are never downloaded.
func openXLACUDA(ctx context.Context, opts Options) (*Backend, error) {
	if len(nvidiaDevices()) == 0 {
		return nil, fmt.Errorf("%s: no NVIDIA GPU is visible here (no /dev/nvidia0): install its driver, "+
			"or give the container access to it (docker run --gpus all)", XLACUDA)
	}
	plugin, err := findCUDA(ctx)
	if err != nil {
		return nil, err
	}
	b, err := load(plugin, XLACUDA, "noshared_buffers", opts, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; install a driver and CUDA libraries of the versions that the plugin needs",
			XLACUDA, err)
	}
	if b.Info.Devices == 0 || b.Info.Platform == "cpu" {
		b.Finalize()
		return nil, fmt.Errorf("%s: the plugin %s offers no GPU", XLACUDA, plugin.path)
	}
	return b, nil
}

// findCUDA finds a CUDA plugin: one named by PluginPathEnv, then one of a Python package jax_plugins.
func findCUDA(ctx context.Context) (pluginInfo, error) {
	if path := named("cuda"); path != "" {
		return pluginAt(path, PluginPathEnv)
	}
	for _, dir := range sitePackages(ctx) {
		if hits, _ := fs.Glob(os.DirFS(dir), "jax_plugins/xla_cuda*/xla_cuda_plugin.so"); len(hits) > 0 {
			return pluginInfo{path: filepath.Join(dir, hits[len(hits)-1]), source: "Python"}, nil
		}
	}
	return pluginInfo{}, fmt.Errorf("%s: there is a GPU but no PJRT plugin for CUDA: install one with "+
		`pip install "jax[cuda13]", or name its file with %s`, XLACUDA, PluginPathEnv)
}

// sitePackages lists the folders with Python packages: python3's sys.path, which is that of an active environment.
func sitePackages(ctx context.Context) (dirs []string) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "python3", "-c", `import sys; print("\n".join(sys.path))`).Output()
	if err != nil {
		return nil
	}
	for _, dir := range strings.Split(string(out), "\n") {
		if filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
