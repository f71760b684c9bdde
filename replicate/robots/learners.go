package robots

import (
	"tvps/figures/looks"
	"tvps/replicate/experiment"
)

// Learner is a variant of Soft Actor-Critic, or a reference that does not learn. The name of its look is the learner's.
type Learner struct {
	looks.Look
	Context bool // whether actor and critics also read a recurrent context of the last steps
	Omega   bool // whether the critics' loss is weighted by omega
	Recent  bool // whether minibatches are drawn from the latest episodes alone

	Reference Reference // plays episodes instead of an agent; nil for agents
	Scenario  string    // the only scenario that it fits; "" for all
}

// learners are those of Figures 2, 10 and 11, two that are trained by --series alone, and what else is declared. The
// latest episodes are omega's simple rival.
var learners = experiment.Register[Learner]{Kind: "robots: the learner",
	Name: func(l Learner) string { return l.Name }}

var (
	_ = Declare(Learner{Look: looks.Look{Name: "sac", Label: "SAC", Color: "#1f77b4", Dash: "10 4"}})
	_ = Declare(Learner{Look: looks.Look{Name: "sac-omega", Label: "SAC with ω", Color: "#d62728"}, Omega: true})
	_ = Declare(Learner{Look: looks.Look{Name: "sac-context", Label: "SAC with context",
		Color: "#e69f00", Dash: "2 3"},
		Context: true})
	_ = Declare(Learner{Look: looks.Look{Name: "sac-context-omega", Label: "SAC with context and ω",
		Color: "#009e73", Dash: "6 3"},
		Context: true, Omega: true})
	_ = Declare(Learner{Look: looks.Look{Name: "sac-recent", Label: "SAC, latest episodes",
		Color: "#bcbd22", Dash: "8 3 2 3 2 3"},
		Recent: true})
	_ = Declare(Learner{Look: looks.Look{Name: "sac-context-recent", Label: "SAC with context, latest episodes",
		Color: "#7f7f7f", Dash: "4 4 1 4"}, Context: true, Recent: true})
)

// Declare adds a learner and its look, and returns it. Call it from a package's initialisation: the tables are read
// without a lock. It panics on a name that is empty or taken.
func Declare(l Learner) Learner {
	looks.Declare(l.Look)
	return learners.Add(l)
}

// Learners lists the names of all learners, sorted.
func Learners() []string { return learners.Names() }
