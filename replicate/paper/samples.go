package paper

import "tvps/replicate/experiment"

// Sample declares the runs by which claims about a panel are judged at a scale. Without one they are judged by the runs
// that the figure's command computes. CONTRIBUTING.md says how a sample is changed.
type Sample struct {
	Scale  experiment.Scale
	Seeds  string   // as "0-7"
	Stride int      // distance of the steps; 0 for that of the scale
	First  string   // seeds of the first look, which decide while runs of others are missing; empty for none
	Looks  int      // how often results were seen before the sample was complete, and then; 0 for once
	Series []string // of the panel; empty for all
}

// The samples of the gallery. Each was declared before its runs were computed. More than one look means that smaller
// samples of the same runs had been judged before: the level of the intervals is higher then (see STATISTICS.md).
var (
	// The Gaussian costs seconds a seed, so it has ten seeds at every step, after three and eight seeds at every third.
	gaussianSample = Sample{Scale: experiment.Small, Seeds: "0-9", Stride: 1, Looks: 3}
	// Meta-Weight-Net is slow, so it keeps the eight seeds that decided its claim. Ours against Everything is as in
	// Figure 1a.
	metaWeightSamples = []Sample{{Scale: experiment.Small, Seeds: "0-7", Stride: 3, Looks: 2},
		gaussianSample.of("ours", "everything")}
	// Twelve seeds were to find a difference of Ours and the standard score, after three and eight.
	standardSample = Sample{Scale: experiment.Small, Seeds: "0-11", Stride: 3, Looks: 3}

	// With three seeds at 11 steps, Recent and Fine-tune were within their interval of Everything. From the spread of
	// these runs, eight seeds at every second step should decide on which side they are.
	cifar10aSample = Sample{Scale: experiment.Small, Seeds: "0-7", Stride: 2, Looks: 2}
	// Three seeds at 11 steps and eight at every fifth left as much open. Every second step is not used: with T = 6 it
	// meets the same three steps of each pair of classes. So every step was declared, on 2026-11-26.
	cifar10bSample = Sample{Scale: experiment.Small, Seeds: "0-7", Stride: 1, Looks: 4}
	// From the spread of three seeds, six at every 17th step should tell Ours from Recent, and Recent from Fine-tune.
	cifar10cSample = Sample{Scale: experiment.Small, Seeds: "0-5", Stride: 17, Looks: 2}
	// With 300 samples a step, three seeds left open by little whether Ours is above Everything.
	manySamplesSample = Sample{Scale: experiment.Small, Seeds: "0-3", Stride: 11, Looks: 2}

	// Images at the medium scale were declared with two looks before the first one: seeds 0 to 3, then 0 to 7 (see
	// figures/gallery/archive/images-declared.md). What has no sample there is judged once, by the figure's four seeds.
	imagesSample = Sample{Scale: experiment.Medium, Seeds: "0-7", First: "0-3", Looks: 2}
	eightSample  = Sample{Scale: experiment.Medium, Seeds: "0-7", Looks: 2}

	// Ours and the standard score differ by less than three seeds at 11 steps could tell. Five at every step show that
	// the difference is below the margin. The exact weights, which no claim about accuracy needs, have three seeds.
	scoresSample = Sample{Scale: experiment.Small, Seeds: "0-4", Stride: 1, Looks: 2}.of("ours", "standard")
	// Three seeds left open by little whether scores of Ours follow the exact ones better than the standard scores do.
	cifarScoreSample = Sample{Scale: experiment.Small, Seeds: "0-3", Stride: 11, Looks: 2}
	// The inputs of the periodic stream are drawn in no time. Their number follows from no result, so this is one look.
	inputsSample = Sample{Scale: experiment.Small, Seeds: "0-11"}
	// The phases of the periodic stream's scores were open with three and with ten seeds.
	periodicScoreSample = Sample{Scale: experiment.Small, Seeds: "0-11", Stride: 1, Looks: 3}
	// A slope over 11 steps has a wide interval with three seeds.
	mmdSample = Sample{Scale: experiment.Small, Seeds: "0-5", Looks: 2}

	// Robots have five seeds at the medium scale. Where these left a comparison open that a reader would ask for, or it
	// held without Holm's correction alone, five more were added.
	fiveAgents = Sample{Scale: experiment.Medium, Seeds: "0-4"}
	tenAgents  = Sample{Scale: experiment.Medium, Seeds: "0-9", Looks: 2}
)

// of is the sample for claims about these series alone.
func (s Sample) of(series ...string) Sample {
	s.Series = series
	return s
}

// judgedBy is the panel with its samples.
func (p Panel) judgedBy(samples ...Sample) Panel {
	p.Judged = samples
	return p
}
