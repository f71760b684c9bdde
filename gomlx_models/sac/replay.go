package sac

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"tvps/gomlx_models/propensity"
)

// Transition is one step of one environment, in the numbers of the simulation.
type Transition struct {
	Observation []float64 // Next of the transition before, unless an episode begins
	Action      []float64
	Reward      float64
	Next        []float64 // the observation after the action
	Terminal    bool      // the task ended there: there is no reward afterwards
	Last        bool      // the episode ended there, by Terminal or by its time limit
	Episode     int       // number t of the episode, from 0; it increases after a last transition, and only then
}

// replay holds the latest transitions of one seed, in a ring of rows. A row is a step [action, reward, observation].
// The observation after it is that of the next row; only that in which an episode ends is kept apart. The exported
// fields are part of a checkpoint.
type replay struct {
	cfg      Config
	rows     []float32 // [transitions, stepWidth]; they grow up to the capacity
	Total    int       // transitions ever inserted; number i lies in row i mod capacity
	Episodes []episode // that have transitions here, the oldest first
	Moments  moments   // of all inserted (action, observation)
}

// episode says which transitions an episode has.
type episode struct {
	Number   int // t
	First    int // number of its first transition, counted over all insertions
	Count    int
	End      []float32 // the observation after its last transition so far
	Over     bool      // no transition follows
	Terminal bool      // the task ended
}

func newReplay(cfg Config) *replay {
	return &replay{cfg: cfg, Moments: newMoments(cfg.Actions + cfg.Observations)}
}

// stepWidth is the length of a step [action, reward, observation], which is a row of the replay.
func (c Config) stepWidth() int { return c.Actions + 1 + c.Observations }

// step is the row of a transition.
func (c Config) step(t Transition) []float32 {
	row := rounded(make([]float32, 0, c.stepWidth()), t.Action)
	return rounded(append(row, float32(t.Reward)), t.Observation)
}

// rounded appends numbers of a simulation, which are float64, in the networks' float32. Nothing else rounds them.
func rounded(to []float32, values []float64) []float32 {
	for _, v := range values {
		to = append(to, float32(v))
	}
	return to
}

// row is the row of transition number i.
func (r *replay) row(i int) []float32 {
	w := r.cfg.stepWidth()
	return r.rows[i%r.cfg.Capacity*w:][:w]
}

// oldest is the number of the oldest transition that is not overwritten.
func (r *replay) oldest() int { return max(0, r.Total-r.cfg.Capacity) }

// open tells whether the last transition's episode goes on.
func (r *replay) open() bool {
	n := len(r.Episodes)
	return n > 0 && !r.Episodes[n-1].Over
}

// eligible lists the episodes that g is fitted to: the finished ones, and with unfinished
// also the current one.
func (r *replay) eligible(unfinished bool) []episode {
	if n := len(r.Episodes); r.open() && !unfinished {
		return r.Episodes[:n-1]
	}
	return r.Episodes
}

// check returns an error for a transition that cannot follow the last one.
func (r *replay) check(t Transition) error {
	c := r.cfg
	if len(t.Observation) != c.Observations || len(t.Next) != c.Observations || len(t.Action) != c.Actions {
		return fmt.Errorf("it has %d and %d values of observations and %d of the action, not %d, %d and %d",
			len(t.Observation), len(t.Next), len(t.Action), c.Observations, c.Observations, c.Actions)
	}
	if n := len(r.Episodes); n > 0 {
		if last := r.Episodes[n-1]; last.Over != (t.Episode > last.Number) || t.Episode < last.Number {
			return fmt.Errorf("it is of episode %d, after one of episode %d; the number must increase after a Last or "+
				"Terminal transition, and only then", t.Episode, last.Number)
		}
	}
	return nil
}

// add inserts a transition, and removes episodes whose transitions are all overwritten.
func (r *replay) add(t Transition) {
	step := r.cfg.step(t)
	if r.Total < r.cfg.Capacity {
		r.rows = append(r.rows, step...)
	} else {
		copy(r.row(r.Total), step)
	}
	if !r.open() {
		r.Episodes = append(r.Episodes, episode{Number: t.Episode, First: r.Total})
	}
	e := &r.Episodes[len(r.Episodes)-1]
	e.Count++
	e.End, e.Over, e.Terminal = rounded(e.End[:0], t.Next), t.Last || t.Terminal, t.Terminal
	r.Total++
	for r.Episodes[0].First+r.Episodes[0].Count <= r.oldest() {
		r.Episodes = r.Episodes[1:]
	}
	r.Moments.add(step[:r.cfg.Actions], step[r.cfg.Actions+1:])
}

// uniform draws transition numbers for a minibatch, with replacement: from the latest episodes,
// the current one among them, or from all if recent is 0.
func (r *replay) uniform(rng *rand.Rand, batch, recent int) []int {
	at := make([]int, batch)
	oldest := r.oldest()
	if n := len(r.Episodes); recent > 0 && recent < n {
		oldest = max(oldest, r.Episodes[n-recent].First)
	}
	for b := range at {
		at[b] = oldest + rng.IntN(r.Total-oldest)
	}
	return at
}

// byEpisode draws transitions: first an eligible episode, uniformly, then one of its
// transitions. time is the position of each one's episode among the eligible ones. Every time
// then has the same number of samples in expectation, as Algorithm 1 assumes. If all episodes
// are equally long, this is the uniform draw; if not, g needs no correction for their lengths.
func (r *replay) byEpisode(rng *rand.Rand, batch int, unfinished bool) (at []int, time []int32) {
	at, time = make([]int, batch), make([]int32, batch)
	episodes := r.eligible(unfinished)
	for b := range at {
		e := rng.IntN(len(episodes))
		at[b] = r.stepOf(rng, episodes[e])
		time[b] = int32(e)
	}
	return at, time
}

// stepOf draws one of an episode's transitions that are not overwritten.
func (r *replay) stepOf(rng *rand.Rand, e episode) int {
	first := max(e.First, r.oldest())
	return first + rng.IntN(e.First+e.Count-first)
}

// steps appends the steps of the given transitions.
func (r *replay) steps(to []float32, at []int) []float32 {
	for _, i := range at {
		to = append(to, r.row(i)...)
	}
	return to
}

// samples appends the steps of the given transitions, each with the observation after it, and 1 if the task ended
// there, else 0.
func (r *replay) samples(to []float32, at []int) []float32 {
	for _, i := range at {
		to = append(to, r.row(i)...)
		e, terminal := r.episodeAt(i), float32(0)
		if i+1 < e.First+e.Count {
			to = append(to, r.row(i + 1)[r.cfg.Actions+1:]...)
		} else {
			to = append(to, e.End...)
			if e.Terminal {
				terminal = 1
			}
		}
		to = append(to, terminal)
	}
	return to
}

// windows appends the steps t-H to t of the episode of each of the given transitions t, [H+1, batch, step]. Steps
// before the start of the episode and overwritten ones are zeros.
func (r *replay) windows(to []float32, at []int, history int) []float32 {
	none := make([]float32, r.cfg.stepWidth())
	to = slices.Grow(to, (history+1)*len(at)*len(none))
	first := make([]int, len(at)) // of its episode that is not overwritten
	for j, i := range at {
		first[j] = max(r.episodeAt(i).First, r.oldest())
	}
	for back := history; back >= 0; back-- {
		for j, i := range at {
			step := none
			if i-back >= first[j] {
				step = r.row(i - back)
			}
			to = append(to, step...)
		}
	}
	return to
}

// episodeAt is the episode of a transition that is not overwritten.
func (r *replay) episodeAt(i int) episode {
	e, _ := slices.BinarySearchFunc(r.Episodes, i, func(e episode, i int) int { return e.First + e.Count - 1 - i })
	return r.Episodes[e]
}

// numbers appends those of the transitions' episodes.
func (r *replay) numbers(to []float32, at []int) []float32 {
	for _, i := range at {
		to = append(to, float32(r.episodeAt(i).Number))
	}
	return to
}

// moments are running mean and variance of vectors (Welford 1962).
type moments struct {
	Count    float64
	Mean, M2 []float64
}

func newMoments(n int) moments { return moments{Mean: make([]float64, n), M2: make([]float64, n)} }

func (m *moments) add(parts ...[]float32) {
	m.Count++
	j := 0
	for _, part := range parts {
		for _, v := range part {
			d := float64(v) - m.Mean[j]
			m.Mean[j] += d / m.Count
			m.M2[j] += d * (float64(v) - m.Mean[j])
			j++
		}
	}
}

// standard returns mean and standard deviation; a coordinate that does not vary has 1.
func (m *moments) standard() (mean, scale []float32) {
	for j := range m.Mean {
		at, deviation := float32(m.Mean[j]), float32(math.Sqrt(m.M2[j]/max(1, m.Count)))
		if deviation <= propensity.Rounding*max(at, -at) {
			deviation = 1
		}
		mean, scale = append(mean, at), append(scale, deviation)
	}
	return mean, scale
}
