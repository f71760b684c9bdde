package supervised

import "testing"

// TestConditionalIsARatio: log omega is that of Ours minus that of Ours with g-label=false, also if g starts where an
// earlier fit ended.
func TestConditionalIsARatio(t *testing.T) {
	const at = 3
	for _, start := range choices["g-start"] {
		s := gaussianSettings()
		s.GStart = start
		logs := func(s Settings, series string, weigh Weigh) []float64 {
			run := gaussianRun(t, "go", s, series, 2)
			out, err := weigh(t.Context(), run, run.Stream.Upto(0, at), at)
			if err != nil {
				t.Fatal(err)
			}
			return out.Log
		}
		joint, covariate := logs(s, "ours", timeVarying), logs(s.withoutLabel(), "ours", timeVarying)
		differ := false
		for i, v := range logs(s, "ours-conditional", conditional) {
			if v != joint[i]-covariate[i] {
				t.Fatalf("%s: log omega of sample %d is %v, not %v - %v", start, i, v, joint[i], covariate[i])
			}
			differ = differ || v != joint[i]
		}
		if !differ {
			t.Errorf("%s: the g that sees x alone changes nothing", start)
		}
	}
}
