package env

import (
	"math"
	"testing"

	"tvps/ci/demand"

	"gonum.org/v1/gonum/stat"
)

var (
	_ Similar = (*Claw)(nil)
	_ Similar = (*Cheetah)(nil)
)

// TestSimilarityOfValves: 1 where the sequence has the same valve, else 0.
func TestSimilarityOfValves(t *testing.T) {
	c := &Claw{order: []int{3, 0, 7}, repeat: 2}
	for episode, want := range []float64{1, 1, 0, 0, 0, 0, 1, 1, 0} {
		demand.Equal(t, c.Similarity(episode, 1), want, "similarity of episodes %d and 1", episode)
	}
}

// TestSimilarityOfWindAndTarget compares with the definition, on episodes whose wind and target
// are known, and checks that both distances have the same scale.
func TestSimilarityOfWindAndTarget(t *testing.T) {
	c := &Cheetah{}
	// Episode 0 has no wind and a target of 1.5.
	for episode := range 70 {
		i := float64(episode)
		wind, target := math.Sqrt2*math.Sin(.2*i), math.Sqrt2*math.Sin(.5*i)
		want := -math.Sqrt(wind*wind + target*target)
		if got := c.Similarity(episode, 0); math.Abs(got-want) > 1e-12 || c.Similarity(0, episode) != got {
			t.Fatalf("similarity of episodes %d and 0 is %v, not %v", episode, got, want)
		}
		if got := c.WindSimilarity(0, episode); math.Abs(got+math.Abs(wind)) > 1e-12 {
			t.Fatalf("wind similarity of episode %d is %v, not %v", episode, got, -math.Abs(wind))
		}
	}
	var winds, targets []float64
	for episode := range 10000 {
		wind, target := c.conditions(episode)
		winds, targets = append(winds, wind*math.Sqrt2/10), append(targets, target*math.Sqrt2/1.5)
	}
	for what, values := range map[string][]float64{"wind": winds, "target": targets} {
		if sd := stat.StdDev(values, nil); math.Abs(sd-1) > .01 {
			t.Errorf("the %s has a standard deviation of %v in its unit", what, sd)
		}
	}
	plain := &Cheetah{plain: true}
	if plain.Similarity(3, 8) != 0 {
		t.Error("the plain task changes")
	}
}
