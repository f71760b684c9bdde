package crossfit

import "golang.org/x/sys/cpu"

// fast says whether the processor has what addRows needs.
var fast = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// addRows is addProduct for two rows of c, with vectorWidth columns. step: bytes between neighbours in a row of a;
// depth: at least 1.
//
//go:noescape
func addRows(c0, c1, a0, a1 *float32, step uintptr, b *float32, depth int)
