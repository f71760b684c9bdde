//go:build !unix

package artifact

// CheckPrivate returns nil: only Unix tells by a mode who may write a file.
func CheckPrivate(root, path string) error { return nil }
