package figures

import "slices"

// Look is how a series of a given name appears in every figure.
type Look struct {
	Name  string // as in the CSV
	Label string // for people
	Color string // "#rrggbb"
	Style Style
}

// Looks is the table of known series, in the order in which tables list them. Colours
// that can meet in one chart stay apart under red- and green-blindness. Two names share
// a colour where they play the same part: Ours is Method 2, and plain SAC is the base
// that the other agents are measured against, as Everything is.
var Looks = []Look{
	{"everything", "Everything", "#1f77b4", Line},
	{"recent", "Recent", "#e69f00", Line},
	{"finetune", "Fine-tune", "#009e73", Line},
	{"pretrained", "Pre-trained, not adapted", "#595959", Line},
	{"standard", "Standard propensity", "#cc79a7", Line},
	{"metaweightnet", "Meta-Weight-Net", "#4a1486", Line},
	{"exact", "Exact weights", "#000000", Dashed},
	{"method1", "Method 1", "#56b4e9", Line},
	{"method2", "Method 2", "#d62728", Line},
	{"ours", "Ours", "#d62728", Line},
	{"raw", "Without weights", "#1f77b4", Line},
	{"data", "Sample mean", "#000000", Line},
	{"sac", "SAC", "#1f77b4", Line},
	{"sac-omega", "SAC with ω", "#d62728", Line},
	{"sac-context", "SAC with context", "#e69f00", Line},
	{"sac-context-omega", "SAC with context and ω", "#009e73", Line},
}

// Declare adds the look of a series, or replaces the one of the same name. Call it from a package's initialisation:
// figures read the table without a lock.
func Declare(l Look) {
	if i := lookIndex(l.Name); i < len(Looks) {
		Looks[i] = l
		return
	}
	Looks = append(Looks, l)
}

// Others are colours for series that [Looks] does not know, such as one for each time.
var Others = []string{"#0072b2", "#e69f00", "#009e73", "#d62728", "#cc79a7", "#56b4e9", "#4a1486", "#000000"}

// LookUp returns the look of a series name. An unknown name is its own label, in dark
// grey, and known is false: give such series colours from [Others].
func LookUp(name string) (look Look, known bool) {
	if i := lookIndex(name); i < len(Looks) {
		return Looks[i], true
	}
	return Look{Name: name, Label: name, Color: "#4d4d4d"}, false
}

// NewSeries returns a series with the look that its name has in every figure.
func NewSeries(name string, points []Point) Series {
	look, _ := LookUp(name)
	return Series{Name: name, Label: look.Label, Color: look.Color, Style: look.Style, Points: points}
}

// NewReference returns a horizontal line that looks like the series of that name.
func NewReference(name string, value float64) *Reference {
	look, _ := LookUp(name)
	return &Reference{Value: value, Label: look.Label, Color: look.Color}
}

// lookIndex is the place of a name in Looks, len(Looks) for unknown names.
func lookIndex(name string) int {
	i := slices.IndexFunc(Looks, func(l Look) bool { return l.Name == name })
	if i < 0 {
		return len(Looks)
	}
	return i
}
