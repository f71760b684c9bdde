//go:build !linux && !noxla

package backend

func keepMemory() {}

func threadPerDevice() {}
