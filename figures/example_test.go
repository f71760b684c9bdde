package figures_test

import (
	"fmt"
	"log"
	"os"
	"strings"

	"tvps/figures"
)

// Accuracies of two learners, three seeds and two steps.
func rows() []figures.Row {
	var out []figures.Row
	for seed, gain := range []float64{.05, .06, .04} {
		for t := range 2 {
			base := .7 + .1*float64(seed)
			row := figures.Row{Panel: "a", Series: "everything", Seed: int64(seed), T: t, Metric: "accuracy", Value: base}
			out = append(out, row)
			row.Series, row.Value = "ours", base+gain
			out = append(out, row)
		}
	}
	return out
}

// The seed is the unit: three values, Student's t with two degrees of freedom.
func ExampleMeanInterval() {
	e := figures.MeanInterval([]float64{.05, .06, .04})
	fmt.Printf("%.3f [%.3f, %.3f], %d seeds\n", e.Mean, e.Low, e.High, e.N)
	// Output: 0.050 [0.025, 0.075], 3 seeds
}

// Seeds differ by 0.1, the two learners within a seed by 0.05: the interval of the paired difference is narrow.
func ExampleTable() {
	table, err := figures.Table(rows(), "a", "accuracy", "everything")
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range table.Rows {
		fmt.Printf("%s: %.2f, difference %.3f [%.3f, %.3f]\n", r.Series, r.Mean.Mean, r.Difference.Mean,
			r.Difference.Low, r.Difference.High)
	}
	// Output:
	// everything: 0.80, difference 0.000 [0.000, 0.000]
	// ours: 0.85, difference 0.050 [0.025, 0.075]
}

// The p-value of "the mean is above 0" is 1 minus the highest level at which the interval is above 0.
func ExampleInterval_PValue() {
	over := figures.OverSeeds([]float64{.05, .06, .04})
	fmt.Printf("p = %.3f\n", over.PValue(func(e figures.Estimate) bool { return e.Low > 0 }))
	// Output: p = 0.013
}

func ExampleWriteCSV() {
	if err := figures.WriteCSV(os.Stdout, rows()[:2]); err != nil {
		log.Fatal(err)
	}
	// Output:
	// panel,series,seed,t,metric,value
	// a,everything,0,0,accuracy,0.7
	// a,ours,0,0,accuracy,0.75
}

func ExampleReadCSV() {
	_, err := figures.ReadCSV(strings.NewReader("panel,series,seed,t,metric,value\na,ours,0,0,accuracy,NaN\n"))
	fmt.Println(err)
	// Output: figures: line 2: the value "NaN" is not a finite number
}
