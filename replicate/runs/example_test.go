package runs_test

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"tvps/replicate/runs"
)

// The same run twice: the second time it comes from the store.
func Example() {
	dir, err := os.MkdirTemp("", "results")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	store, err := runs.Open(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	job := runs.Job{
		Spec:  runs.Spec{Experiment: "gaussian", Learner: "recent", Seed: 0, Settings: map[string]string{"epochs": "20"}},
		Steps: []int{0, 10, 20},
		Batch: runs.Alone(0, func(context.Context) (runs.StepFunc, func(), error) {
			fmt.Println("loading data")
			step := func(_ context.Context, t int) ([]runs.Row, error) {
				return []runs.Row{{T: t, Metric: "accuracy", Value: 0.5 + float64(t)/100}}, nil
			}
			return step, nil, nil
		}),
	}
	for range 2 {
		report, err := runs.Execute(context.Background(), store, []runs.Job{job}, runs.Options{})
		if err := cmp.Or(err, report.Err()); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(report.Cached, "cached,", report.Computed, "computed:", report.Results[job.Spec.ID()].Rows)
	}
	// Output:
	// loading data
	// 0 cached, 1 computed: [{0 accuracy 0.5} {10 accuracy 0.6} {20 accuracy 0.7}]
	// 1 cached, 0 computed: [{0 accuracy 0.5} {10 accuracy 0.6} {20 accuracy 0.7}]
}
