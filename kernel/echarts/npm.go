package echarts

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"tvps/data/artifact"
)

// member is where an npm package of ECharts has the script.
const member = "package/dist/" + FileName

// registry is the npm registry that this machine is set up for, without a final slash:
// NPM_CONFIG_REGISTRY, else what the user's .npmrc says, else npm's own.
func registry() string {
	for _, name := range []string{"NPM_CONFIG_REGISTRY", "npm_config_registry"} {
		if url := os.Getenv(name); url != "" {
			return strings.TrimRight(url, "/")
		}
	}
	if url := registryInFile(npmrc()); url != "" {
		return strings.TrimRight(url, "/")
	}
	return "https://registry.npmjs.org"
}

// npmrc is the user's file of npm settings.
func npmrc() string {
	if path := os.Getenv("NPM_CONFIG_USERCONFIG"); path != "" {
		return path
	}
	home, _ := os.UserHomeDir()
	return filepath.Join(home, ".npmrc")
}

// registryInFile reads `registry=URL` from a file of npm settings; "" if there is none.
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
			url = strings.Trim(strings.TrimSpace(value), `"'`) // the last one counts
		}
	}
	return url
}

// unpack writes the script, and nothing else, from an npm package to dst.
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
			return fmt.Errorf("%s holds no %s", archive, member)
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
