//go:build !((linux || darwin || freebsd || netbsd) && (amd64 || arm64))

package env

func openLibrary(string) (uintptr, error) { return 0, ErrPlatform }

func findSymbol(uintptr, string) (uintptr, error) { return 0, ErrPlatform }
