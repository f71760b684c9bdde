package study

import "slices"

// Reading is another reading of the paper than the default, under which claims are judged again.
type Reading struct {
	Alternative
	Seeds     string   // paper.DefaultSeeds if empty
	Scenarios []string // of which runs are made; claims about others are not judged
}

// readingFigures are the figures whose claims are judged under each reading. Left out are robots, of which three seeds
// decide nothing; Figure 12, which repeats Figure 1; and Figures 6, 8, 9 and 13, for their time.
var readingFigures = []int{1, 3, 4, 5, 7, 14}

// Readings were chosen, with their scenarios, seeds and steps, before any of their runs but those of Figures 8 and 1
// from new random weights, which are older. A claim depends on the reading if it holds under one and does not hold
// under another, by the margins and intervals of the figures; the many cells are not corrected for.
func Readings() []Reading {
	var (
		both   = []string{"cifar10a", "cifar10b"}
		most   = slices.Concat([]string{"gaussian", "periodic"}, both)
		clips  = []string{"gaussian", "cifar10a", "cifar10b", "noshift"}
		scores = []string{"gaussian", "periodic", "cifar10b"}
	)
	reading := func(name, about, text string, scenarios []string, set ...string) Reading {
		return Reading{Alternative: Alternative{Name: name, About: about, Text: text, Set: set}, Scenarios: scenarios}
	}
	start := reading("start", "I5", "the trained block starts from new random weights", both, "start=reinit", "stride=5")
	start.Seeds = "0-7"                            // as stored
	of := func(series string, r Reading) Reading { // other learners are those of the default
		r.Series = []string{series}
		return r
	}
	literal := []string{"g-rate=1e-4", "g-schedule=constant", "g-join=first"}
	return []Reading{
		start,
		reading("clip-exponent", "I2", "omega is at most e", clips, "clip=exp1"),
		reading("clip-none", "I2", "omega has no limit", clips, "clip=none"),
		of("standard", reading("window-5", "I8", "the last 5 steps are current for the standard score", scores, "window=5")),
		of("standard", reading("window-20", "I8", "the last 20 steps are current for the standard score (four whole periods "+
			"of Figure 5's stream, where it is 1 throughout)", scores, "window=20")),
		of("ours", reading("method1", "I13", "Method 1 instead of Method 2", most, "method=method1")),
		reading("network", "I4", "g on images is the table's network for CLEAR", both, "g-network=fc3"),
		reading("rate", "I1", "g learns at the table's rate, for 1000 minibatches", most, "g-rate=1e-4"),
		reading("rate-constant", "I1", "g learns at 3e-3 throughout, features are undivided", most,
			"g-rate=3e-3", "g-schedule=constant", "g-join=first"),
		reading("literal-updates", "I1", "Table 2 literally, M = 200 minibatches", most,
			slices.Concat(literal, minibatches)...),
		reading("literal-passes", "I1", "Table 2 literally, M = 200 passes over the samples", most,
			slices.Concat(literal, passes)...),
		reading("no-label", "I2", "g does not see the label", most, "g-label=false"),
		reading("finetune", "I7", "Fine-tune has 5 epochs on the last step", []string{"gaussian", "cifar10a", "cifar10b"},
			"finetune-epochs=5"),
	}
}
