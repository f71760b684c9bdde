package net

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/support/exceptions"
)

// Run executes a compiled function. Arguments are what Exec accepts, such as tensors and
// scalars, and lists of tensors, which count as several arguments. A panic of GoMLX is
// returned as an error.
func Run(exec *Exec, args ...any) (out []*tensors.Tensor, err error) {
	var flat []any
	for _, a := range args {
		list, ok := a.([]*tensors.Tensor)
		if !ok {
			flat = append(flat, a)
		}
		for _, t := range list {
			flat = append(flat, t)
		}
	}
	caught := exceptions.TryCatch[error](func() { out, err = exec.Call(flat...) })
	if caught != nil {
		return nil, caught
	}
	return out, err
}

// Free releases the memory of tensors immediately, not at the next garbage collection.
func Free(ts ...*tensors.Tensor) {
	for _, t := range ts {
		t.FinalizeAll()
	}
}
