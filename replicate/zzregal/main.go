// Throw-away: puts the gallery's measurements into a store under the ids that this program plans.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"tvps/figures"
	"tvps/gomlx_models/backend"
	"tvps/replicate/catalog"
	"tvps/replicate/lab"
	"tvps/replicate/runs"
	"tvps/replicate/settings"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	results := os.Args[1]
	c := catalog.Paper()
	l, err := lab.Open(context.Background(), c, lab.OpenOptions{Results: results, Open: backend.Options{Log: os.Stderr}, Stdout: io.Discard, Stderr: os.Stderr})
	must(err)
	done := map[string]bool{}
	for _, f := range c.Figures {
		dir := filepath.Join("figures", "gallery", f.Name())
		var record lab.Record
		text, err := os.ReadFile(filepath.Join(dir, "provenance.json"))
		must(err)
		must(json.Unmarshal(text, &record))
		known := map[string]runs.Provenance{}
		for _, r := range record.Runs {
			known[r.Panel+r.ID], known[r.Panel+r.Run] = r.Provenance, r.Provenance
		}
		plan, err := l.Plan(f, lab.Options{Scale: settings.Small})
		must(err)
		missing, found := 0, 0
		for _, p := range plan {
			file, err := os.Open(filepath.Join(dir, f.Name()+"-"+p.Key+".csv"))
			must(err)
			rows, err := figures.ReadCSV(file)
			must(err)
			for _, job := range p.Jobs {
				pr, ok := known[p.Key+job.Spec.ID()]
				if !ok && p.Protocol.Robust {
					pr, ok = known[p.Key+job.Spec.String()]
				}
				if !ok {
					missing++
					fmt.Println("not in gallery:", f.Name(), p.Key, job.Spec)
					continue
				}
				found++
				byT := map[int][]runs.Row{}
				for _, r := range rows {
					if r.Series == job.Series && r.Seed == job.Spec.Seed {
						metric := p.Metric
						if metric == "" {
							metric = p.Measure
						}
						if metric == "" {
							metric = "accuracy"
						}
						byT[r.T] = append(byT[r.T], runs.Row{T: r.T, Metric: metric, Value: r.Value})
					}
				}
				key := job.Spec.ID() + p.Metric
				if done[key] {
					continue
				}
				done[key] = true
				j := runs.Job{Spec: job.Spec, Steps: job.Steps, Step: func(_ context.Context, t int) ([]runs.Row, error) { return byT[t], nil }}
				if f.Number == 9 { // several metrics of one run: gather from all panels
					for _, q := range plan {
						file, err := os.Open(filepath.Join(dir, f.Name()+"-"+q.Key+".csv"))
						must(err)
						other, err := figures.ReadCSV(file)
						must(err)
						if q.Key == p.Key {
							continue
						}
						for _, r := range other {
							if r.Series == job.Series && r.Seed == job.Spec.Seed {
								byT[r.T] = append(byT[r.T], runs.Row{T: r.T, Metric: q.Metric, Value: r.Value})
							}
						}
					}
				}
				report, err := runs.Execute(context.Background(), l.Store, []runs.Job{j}, runs.Options{Workers: 1, Provenance: pr})
				must(err)
				must(report.Err())
			}
		}
		fmt.Println(f.Name(), "found", found, "missing", missing, "in gallery", len(record.Runs))
	}
}
