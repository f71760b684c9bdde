package settings

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// FuzzSet: a value that Set refuses changes nothing and is a sentence. One that it accepts keeps the rules, and the
// text of Fields gives the same struct again.
func FuzzSet(f *testing.F) {
	for _, seed := range [][2]string{{"shape", "round"}, {"shape", "rund"}, {"sides", "12"}, {"sides", "-1"}, {"size", "1e300"},
		{"size", "0x1p-3"}, {"size", "-0"}, {"size", "Inf"}, {"size", "NaN"}, {"empty", "T"}, {"sides", "+7"}, {"", ""},
		{"sides", "9223372036854775808"}, {"size", "1_0"}, {"\n", "\x00"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		before := sample{Shape: "round", Sides: 4, Size: 1.5}
		s := before
		if err := rules.Set(&s, name, value); err != nil {
			if s != before || strings.Contains(err.Error(), "\n") && !strings.Contains(name+value, "\n") {
				t.Fatalf("%+v after the error %q", s, err)
			}
			return
		}
		if !slices.Contains(rules.Choices["shape"], s.Shape) || s.Sides < 0 || s.Sides > 12 ||
			!(s.Size > 0 && s.Size <= Largest) || math.IsNaN(s.Size) {
			t.Fatalf("%s=%s gives %+v", name, value, s)
		}
		var again sample
		for _, field := range Fields(s) {
			if err := rules.Set(&again, field.Name, field.Value); err != nil {
				t.Fatal(err)
			}
		}
		if again != s {
			t.Fatalf("%+v, read again %+v", s, again)
		}
	})
}
