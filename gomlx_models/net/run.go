package net

import (
	"errors"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/support/exceptions"
)

// Run executes a compiled function. Arguments are what Exec accepts, such as tensors and
// scalars, and lists of tensors, which count as several arguments. A panic of GoMLX is
// returned as an error, and its error of a finalized exec says what the caller did.
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
	if err != nil && strings.Contains(err.Error(), "has been finalized and cannot compile") {
		err = errors.New("used after Close")
	}
	return out, err
}

// RunValues is Run with the results copied from the device, which they leave. They are float32.
func RunValues(exec *Exec, args ...any) (Values, error) {
	out, err := Run(exec, args...)
	if err != nil {
		return nil, err
	}
	defer Free(out...)
	return FromTensors(out)
}

// Free releases the memory of tensors immediately, not at the next garbage collection.
func Free(ts ...*tensors.Tensor) {
	for _, t := range ts {
		t.FinalizeAll()
	}
}
