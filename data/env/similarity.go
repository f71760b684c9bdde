package env

import "math"

// Similar is a robot that can tell how similar the tasks of two episodes are. The simulation
// knows it; agents never see it.
type Similar interface {
	// Similarity of the tasks of episodes s and t, with its largest value for equal tasks.
	//
	//	claw:     1 for the same valve, 0 otherwise
	//	cheetah:  -d, d^2 = ((wind_s - wind_t) / (10 / sqrt 2))^2
	//	               + ((target_s - target_t) / (1.5 / sqrt 2))^2
	//
	// Each distance is in units of its standard deviation over the episodes.
	Similarity(s, t int) float64
}

// Similarity is 1 for the same valve, 0 otherwise.
func (c *Claw) Similarity(s, t int) float64 {
	if c.valveOf(s) == c.valveOf(t) {
		return 1
	}
	return 0
}

// Similarity is minus the scaled distance of wind and target; 0 for the plain task, which does
// not change.
func (c *Cheetah) Similarity(s, t int) float64 {
	wind1, target1 := c.conditions(s)
	wind2, target2 := c.conditions(t)
	return -math.Hypot((wind1-wind2)/(10/math.Sqrt2), (target1-target2)/(1.5/math.Sqrt2))
}

// WindSimilarity is -|wind_s - wind_t| in units of its standard deviation: what observations can
// show, as they do not contain the target.
func (c *Cheetah) WindSimilarity(s, t int) float64 {
	wind1, _ := c.conditions(s)
	wind2, _ := c.conditions(t)
	return -math.Abs(wind1-wind2) / (10 / math.Sqrt2)
}
