//go:build !((linux || darwin || freebsd || netbsd) && (amd64 || arm64))

package mujoco

func openLibrary(string) (uintptr, error) { return 0, ErrPlatform }

func findSymbol(uintptr, string) (uintptr, error) { return 0, ErrPlatform }
