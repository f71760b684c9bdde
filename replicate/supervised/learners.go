package supervised

import (
	"fmt"
	"strconv"

	"tvps/figures/looks"
	"tvps/gomlx_models/propensity"
	"tvps/replicate/experiment"
)

// learners are the declared learners. The first are those of Section 3.1.1, Meta-Weight-Net of Figure 4, and for
// comparison the exact omega, the standard propensity score of Section 2 and the pre-trained network as it is.
// The mixtures and what forgets by time are not in the paper, and no figure draws them by default. A comment names the
// label of a learner's equation in the paper's source.
var learners = experiment.Register[Learner]{Kind: "supervised: the learner",
	Name: func(l Learner) string { return l.Name }}

var (
	_ = Declare(Learner{
		Look:   looks.Look{Name: "everything", Label: "Everything", Color: "#1f77b4", Dash: "10 4"}, // Eq. 12
		Phases: []Phase{{Steps: upto, Epochs: allEpochs}},
	})
	_ = Declare(Learner{
		Look:   looks.Look{Name: "recent", Label: "Recent", Color: "#e69f00", Dash: "2 3"}, // Eq. 13
		Phases: []Phase{{Steps: only, Epochs: allEpochs}},
	})
	_ = Declare(Learner{
		Look: looks.Look{Name: "finetune", Label: "Fine-tune",
			Color: "#009e73", Dash: "6 3"}, // Eq. 14, without the penalty
		Phases: []Phase{{Steps: before, Epochs: allEpochs}, {Steps: only, Epochs: tuneEpochs}},
		Groups: []string{"finetune"},
	})
	_ = Declare(Learner{
		Look: looks.Look{Name: "pretrained", Label: "Pre-trained, not adapted",
			Color: "#595959", Dash: "8 3 2 3"},
		Needs:            pretrainedHead,
		StartsPretrained: true,
	})
	_ = Declare(Learner{
		Look:   looks.Look{Name: "standard", Label: "Standard propensity", Color: "#cc79a7", Dash: "6 3"}, // Eq. 1
		Phases: []Phase{{Steps: upto, Epochs: allEpochs, Weigh: standard}},
		Method: propensity.Standard,
	})
	_ = Declare(Learner{
		Look:  looks.Look{Name: "metaweightnet", Label: "Meta-Weight-Net", Color: "#4a1486", Dash: "14 3 5 3"},
		Train: metaWeightNet,
		Cost:  3, // three passes forward and back
		Needs: vectorModel,
	})
	_ = Declare(Learner{
		Look:   looks.Look{Name: "exact", Label: "Exact weights", Color: "#000000", Dash: "8 3 2 3 2 3"}, // Eq. 6
		Phases: []Phase{{Steps: upto, Epochs: allEpochs, Weigh: exact}},
	})
	_ = Declare(Learner{
		Look:  looks.Look{Name: "method1", Label: "Method 1", Color: "#56b4e9", Dash: "8 3 2 3"}, // Eq. 8
		Of:    "ours",
		Under: func(s *Settings) { s.Method = propensity.Method1 },
	})
	_ = Declare(Learner{
		Look:  looks.Look{Name: "method2", Label: "Method 2", Color: "#d62728"}, // Eq. 10
		Of:    "ours",
		Under: func(s *Settings) { s.Method = propensity.Method2 },
	})
	_ = Declare(Learner{
		Look:   looks.Look{Name: "ours", Label: "Ours", Color: "#d62728"}, // Eq. 15
		Phases: []Phase{{Steps: upto, Epochs: allEpochs, Weigh: timeVarying}},
		Method: methodOfSettings,
	})
	_ = Declare(Learner{
		Look:   looks.Look{Name: "exact-mixture", Label: "Exact weights, mixture", Color: "#7f7f00", Dash: "8 3 2 3 2 3"},
		Phases: []Phase{{Steps: upto, Epochs: allEpochs, Weigh: exactMixture}},
	})
	_ = Declare(Learner{
		Look:   looks.Look{Name: "mixture", Label: "Ours, mixture", Color: "#8c2d04", Dash: "10 4"},
		Phases: []Phase{{Steps: upto, Epochs: allEpochs, Weigh: mixture}},
		Method: methodOfSettings,
	})
	_ = Declare(Learner{
		Look: looks.Look{Name: "raw", Label: "Without weights", Color: "#1f77b4", Dash: "10 4"},
		Only: measureMMD,
	})
	_ = Declare(Learner{
		Look: looks.Look{Name: "data", Label: "Sample mean", Color: "#000000"},
		Only: measureMean,
	})
)

// Two ways to forget by time alone, which the paper does not have: weights that halve every so many steps, and the last
// so many steps.
func init() {
	for i, steps := range []int{2, 5, 15, 50} {
		dash, n := fmt.Sprintf("%d 3", 3+4*i), strconv.Itoa(steps)
		Declare(Learner{
			Look: looks.Look{Name: "age-" + n, Label: "Weights of half-life " + n,
				Color: []string{"#e6550d", "#a63603", "#d94801", "#7f2704"}[i], Dash: dash},
			Phases: []Phase{{Steps: upto, Epochs: allEpochs, Weigh: byAge(steps)}},
		})
		Declare(Learner{
			Look: looks.Look{Name: "last-" + n, Label: "Last " + n + " steps",
				Color: []string{"#9ecae1", "#6baed6", "#3182bd", "#08519c"}[i], Dash: dash},
			Phases: []Phase{{Steps: func(t int) (int, int) { return max(0, t-steps+1), t }, Epochs: allEpochs}},
		})
	}
}

func upto(t int) (int, int)   { return 0, t }
func before(t int) (int, int) { return 0, t - 1 }
func only(t int) (int, int)   { return t, t }

func allEpochs(s Settings) int  { return s.Epochs }
func tuneEpochs(s Settings) int { return s.FinetuneEpochs }
