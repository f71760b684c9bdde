package claims

import "testing"

func TestFormatSeeds(t *testing.T) {
	for want, seeds := range map[string][]int64{"0": {0}, "0,1,2": {0, 1, 2}, "0-7": {0, 1, 2, 3, 4, 5, 6, 7},
		"5,1-4,9": {5, 1, 2, 3, 4, 9}, "": nil} {
		got := FormatSeeds(seeds, ",")
		if got != want {
			t.Errorf("%v: %q, want %q", seeds, got, want)
		}
	}
}

func TestTotal(t *testing.T) {
	var claims []Judged
	for _, v := range []Verdict{Undecided, Holds, DoesNotHold, Holds, Partly, NotRun, DoesNotHold} {
		claims = append(claims, Judged{Verdict: v})
	}
	for n, want := range map[int]string{0: "no claim", 1: "1 claim is undecided",
		7: "7 claims: 2 hold, 1 holds partly, 2 do not hold, 1 is undecided, 1 is not run"} {
		if got := Total(claims[:n]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	claims[1].Holm, claims[3].Holm, claims[3].Untested = Kept, Lost, []string{"CLEAR"}
	for want, some := range map[string][]Judged{
		"2 claims: 1 holds (1 also with Holm's correction), 1 is undecided":                    claims[:2],
		"2 claims: 1 holds (0 also with Holm's correction), 1 does not hold; CLEAR not tested": claims[2:4],
	} {
		if got := Total(some); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
