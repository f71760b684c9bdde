package echarts

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"tvps/data/artifact"
)

// member is the script's path in an npm package of ECharts.
const member = "package/dist/" + FileName

// npmPatience is the time limit for npm to print its registry; tests shorten it.
var npmPatience = 30 * time.Second

// registry returns the address of this machine's npm registry, without a final slash. It
// comes from NPM_CONFIG_REGISTRY, then from the user's .npmrc, then from an installed npm;
// there is no default.
func registry(ctx context.Context) (string, error) {
	for _, name := range []string{"NPM_CONFIG_REGISTRY", "npm_config_registry"} {
		if url := os.Getenv(name); url != "" {
			return strings.TrimRight(url, "/"), nil
		}
	}
	if url := registryInFile(npmrc()); url != "" {
		return strings.TrimRight(url, "/"), nil
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", errors.New("no npm registry is known: install npm, or set NPM_CONFIG_REGISTRY to a registry's address")
	}
	return askNPM(ctx, npm)
}

// askNPM returns the registry that the program npm is configured for.
func askNPM(ctx context.Context, npm string) (string, error) {
	patient, cancel := context.WithTimeout(ctx, npmPatience)
	defer cancel()
	cmd := exec.CommandContext(patient, npm, "config", "get", "registry")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if patient.Err() != nil {
		err = fmt.Errorf("no answer in %v", npmPatience)
	}
	if err != nil {
		return "", fmt.Errorf("%s does not print its registry (%w): repair npm, "+
			"or set NPM_CONFIG_REGISTRY to a registry's address", npm, err)
	}
	url := strings.TrimSpace(string(out))
	if !strings.HasPrefix(url, "https://") && !strings.HasPrefix(url, "http://") {
		return "", fmt.Errorf("%s names the registry %q, which is not an address: set NPM_CONFIG_REGISTRY to one", npm, url)
	}
	return strings.TrimRight(url, "/"), nil
}

// npmrc returns the path of the user's npm settings.
func npmrc() string {
	if path := os.Getenv("NPM_CONFIG_USERCONFIG"); path != "" {
		return path
	}
	home, _ := os.UserHomeDir()
	return filepath.Join(home, ".npmrc")
}

// registryInFile returns the URL of the last line `registry=URL` in a file of npm settings,
// or "" if there is none.
func registryInFile(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	url := ""
	for lines := bufio.NewScanner(file); lines.Scan(); {
		key, value, ok := strings.Cut(lines.Text(), "=")
		if ok && strings.TrimSpace(key) == "registry" {
			url = strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return url
}

// unpack writes the script of an npm package to dst.
func unpack(archive, dst string, script artifact.File) error {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	zipped, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("%s: %w", archive, err)
	}
	for members := tar.NewReader(zipped); ; {
		header, err := members.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%s has no %s", archive, member)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", archive, err)
		}
		if header.Name != member {
			continue
		}
		text, err := io.ReadAll(io.LimitReader(members, script.Size+1))
		if err != nil {
			return fmt.Errorf("%s: %w", archive, err)
		}
		if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != script.SHA256 {
			return fmt.Errorf("the %s in %s has SHA-256 %x instead of %s", FileName, archive, sum, script.SHA256)
		}
		return Write(dst, text)
	}
}
