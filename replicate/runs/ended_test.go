package runs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestRankAndEnded: runs of a lower rank are computed first, whatever they cost; Ended sees each run that finished or
// failed once it has, and its line is printed.
func TestRankAndEnded(t *testing.T) {
	store := open(t, t.TempDir())
	var computed []int
	ranked := func(seed, rank, steps int) Job {
		job := stepJob(spec(seed), upTo(steps), func(_ context.Context, t int) ([]Row, error) {
			if t == 0 {
				computed = append(computed, seed)
			}
			if seed == 3 {
				return nil, errors.New("out of luck")
			}
			return rowsAt(seed, t), nil
		})
		job.Rank = rank
		return job
	}
	var out bytes.Buffer
	var seen []string
	options := Options{Out: &out, Ended: func(r Report) string {
		seen = append(seen, fmt.Sprintf("%d finished, %d failed", len(r.Results), len(r.Failed)))
		return fmt.Sprintf("so far: %d", len(r.Results))
	}}
	first := []Job{ranked(0, 2, 9), ranked(1, 1, 2), ranked(2, 1, 4), ranked(3, 0, 1)}
	again := ranked(1, 9, 2) // a run that is wanted twice counts by the lower rank
	if _, err := Execute(t.Context(), store, append([]Job{again}, first...), options); err != nil {
		t.Fatal(err)
	}
	if want := []int{3, 2, 1, 0}; !slices.Equal(computed, want) {
		t.Errorf("computed the seeds %v, want %v", computed, want)
	}
	want := []string{"0 finished, 1 failed", "1 finished, 1 failed", "2 finished, 1 failed", "3 finished, 1 failed"}
	if !slices.Equal(seen, want) || strings.Count(out.String(), "\nso far: ") != 4 {
		t.Errorf("Ended saw %q, want %q; printed\n%s", seen, want, &out)
	}
	seen = nil
	if _, err := Execute(t.Context(), store, first[:3], options); err != nil || seen != nil {
		t.Errorf("all is stored, but Ended saw %q (%v)", seen, err)
	}
	if _, err := Execute(t.Context(), store, append(first[:3:3], ranked(4, 0, 1)), options); err != nil ||
		len(seen) != 2 || seen[1] != "4 finished, 0 failed" {
		t.Errorf("three runs are stored and one is new: Ended saw %q (%v)", seen, err)
	}
}
