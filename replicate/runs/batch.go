package runs

import (
	"context"
)

// Batch is a set of runs that differ in their seed alone and can train as batched seeds: several in one compiled
// program. Jobs share it by pointer.
//
// Execute splits it into groups: the fewest of at most GroupSize seeds, as even as possible, all of its seeds counted.
// Which runs are stored changes no group, so a run that is computed again trains with the same seeds as before. How
// many train together is no part of a Spec, as runs that were computed apart, on several machines, serve a figure that
// would compute them together; but XLA rounds three batched seeds differently from one, so the provenance tells
// (Provenance.Together).
type Batch struct {
	Seeds     []int64 // all of them, in order, also those whose runs are stored
	GroupSize int     // largest number of seeds in one program
	// Start prepares a group: all of seeds train, members are the specs of those whose runs are missing. The other seeds
	// only fill the program, whose rounding depends on their number. stop may be nil.
	Start func(ctx context.Context, seeds []int64, members []Spec, files Files) (step GroupStep, stop func(), err error)
}

// GroupStep computes step t of every member of a group, in their order. It is called with increasing t and, after an
// interruption, only for the steps that are missing. Unlike a StepFunc it may carry state from step to step. The rows
// of a member must depend on its spec, on t and on the group's size only: neither on the other members nor on
// interruptions.
type GroupStep func(ctx context.Context, t int) ([][]Row, error)

// Alone is the batch of a run that trains by itself. start loads data and compiles graphs; it is called once, and only
// if a step is missing. It returns the function for one step and one that frees what start took (nil if nothing).
func Alone(seed int64, start func(ctx context.Context) (step StepFunc, stop func(), err error)) *Batch {
	return &Batch{Seeds: []int64{seed}, GroupSize: 1,
		Start: func(ctx context.Context, _ []int64, _ []Spec, _ Files) (GroupStep, func(), error) {
			step, stop, err := start(ctx)
			return func(ctx context.Context, t int) ([][]Row, error) {
				rows, err := step(ctx, t)
				return [][]Row{rows}, err
			}, stop, err
		}}
}

// split splits seeds into the fewest groups of at most size seeds, as even as possible.
func split(seeds []int64, size int) [][]int64 {
	n := (len(seeds) + size - 1) / size
	groups := make([][]int64, n)
	for i := range groups {
		groups[i] = seeds[i*len(seeds)/n : (i+1)*len(seeds)/n]
	}
	return groups
}
