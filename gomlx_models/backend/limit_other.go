//go:build !unix

package backend

func checkAddressSpace(uint64) error { return nil }
