package sac

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Transition is one step of one environment.
type Transition struct {
	Observation []float32
	Action      []float32
	Reward      float32
	Next        []float32 // the observation after the action
	Terminal    bool      // the task ended there: there is no reward afterwards
	Last        bool      // the episode ended there, by Terminal or by its time limit
	Episode     int       // number t of the episode, from 0; it never decreases
}

// replayIndex is what the host knows of the latest transitions of one seed: enough to draw
// minibatches and to find their rows. Their values are in the replay array.
type replayIndex struct {
	cfg      Config
	base     int       // this seed's first row in the replay array
	step     []int32   // of each of its rows, the transition's number within the episode
	total    int       // transitions ever inserted; number i lies in row base + i mod capacity
	episodes []episode // that have transitions here, the oldest first
	open     bool      // the last transition's episode is not finished
	moments  moments   // of all inserted (action, observation)
}

// episode says which transitions an episode has.
type episode struct {
	Number int // t
	First  int // number of its first transition, counted over all insertions
	Count  int
}

// maxEpisode is the largest number of an episode: g sees it as a float32, which is exact up to here.
const maxEpisode = 1 << 24

// newReplayIndex is empty. seed is the position in the agent's list.
func newReplayIndex(cfg Config, seed int) *replayIndex {
	return &replayIndex{cfg: cfg, base: seed * cfg.Capacity, moments: newMoments(cfg.Actions + cfg.Observations)}
}

// stepWidth is the length of a step [action, reward, observation].
func (c Config) stepWidth() int { return c.Actions + 1 + c.Observations }

// rowWidth is the length of a row of the replay.
func (c Config) rowWidth() int { return c.stepWidth() + c.Observations + 1 }

// row is the replay array's row of transition number i.
func (r *replayIndex) row(i int) int32 { return int32(r.base + i%r.cfg.Capacity) }

// oldest is the number of the oldest transition that is not overwritten.
func (r *replayIndex) oldest() int { return max(0, r.total-r.cfg.Capacity) }

// check returns an error for an impossible transition.
func (r *replayIndex) check(t Transition) error {
	for _, part := range []struct {
		name   string
		values []float32
		want   int
	}{{"observation", t.Observation, r.cfg.Observations}, {"action", t.Action, r.cfg.Actions},
		{"next observation", t.Next, r.cfg.Observations}, {"reward", []float32{t.Reward}, 1}} {
		if len(part.values) != part.want {
			return fmt.Errorf("the %s has %d values, not %d", part.name, len(part.values), part.want)
		}
		for j, v := range part.values {
			if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
				return fmt.Errorf("value %d of the %s is %v", j, part.name, v)
			}
		}
	}
	if t.Episode > maxEpisode {
		return fmt.Errorf("episode %d: numbers are at most %d", t.Episode, maxEpisode)
	}
	if n := len(r.episodes); n > 0 && t.Episode < r.episodes[n-1].Number || t.Episode < 0 {
		return fmt.Errorf("episode %d after episode %d; numbers start at 0 and never decrease", t.Episode, r.lastEpisode())
	}
	return nil
}

// eligible lists the episodes that g is fitted to: the finished ones, and with unfinished
// also the current one.
func (r *replayIndex) eligible(unfinished bool) []episode {
	if n := len(r.episodes); r.open && !unfinished {
		return r.episodes[:n-1]
	}
	return r.episodes
}

// lastEpisode is the number of the last transition's episode, -1 before the first.
func (r *replayIndex) lastEpisode() int {
	if len(r.episodes) == 0 {
		return -1
	}
	return r.episodes[len(r.episodes)-1].Number
}

// add enters a checked transition; the caller writes its values into the replay array.
func (r *replayIndex) add(t Transition) {
	step := int32(0)
	if r.open && t.Episode == r.lastEpisode() {
		step = r.step[(r.total-1)%r.cfg.Capacity] + 1
	}
	at := r.total % r.cfg.Capacity
	if at == len(r.step) {
		r.step = append(r.step, 0)
	}
	r.step[at] = step
	r.count(t.Episode)
	r.total++
	r.open = !t.Last && !t.Terminal
	r.moments.add(t.Action, t.Observation)
}

// count enters the next transition into the list of episodes, and removes episodes whose
// transitions are all overwritten.
func (r *replayIndex) count(number int) {
	if number != r.lastEpisode() {
		r.episodes = append(r.episodes, episode{Number: number, First: r.total})
	}
	r.episodes[len(r.episodes)-1].Count++
	gone := 0
	for e := r.episodes[gone]; e.First+e.Count <= max(0, r.total+1-r.cfg.Capacity); e = r.episodes[gone] {
		gone++
	}
	r.episodes = r.episodes[gone:]
}

// uniform draws transition numbers for a minibatch, with replacement: from the latest episodes,
// the current one among them, or from all if recent is 0.
func (r *replayIndex) uniform(rng *rand.Rand, batch, recent int) []int {
	at := make([]int, batch)
	oldest := r.oldest()
	if n := len(r.episodes); recent > 0 && recent < n {
		oldest = max(oldest, r.episodes[n-recent].First)
	}
	for b := range at {
		at[b] = oldest + rng.IntN(r.total-oldest)
	}
	return at
}

// byEpisode draws transitions: first an eligible episode, uniformly, then one of its
// transitions. time is the position of each one's episode among the eligible ones. Every time
// then has the same number of samples in expectation, as Algorithm 1 assumes. If all episodes
// are equally long, this is the uniform draw; if not, g needs no correction for their lengths.
func (r *replayIndex) byEpisode(rng *rand.Rand, batch int, unfinished bool) (at []int, time []int32) {
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
func (r *replayIndex) stepOf(rng *rand.Rand, e episode) int {
	first := max(e.First, r.oldest())
	return first + rng.IntN(e.First+e.Count-first)
}

// rows finds the replay array's rows of the given transitions. out: [batch].
func (r *replayIndex) rows(at []int, out []int32) {
	for b, i := range at {
		out[b] = r.row(i)
	}
}

// windows finds, for each of the given transitions t, the replay array's rows of the steps
// t-H to t of its episode. Steps before the start of the episode and overwritten ones are -1.
// out: [H+1, batch].
func (r *replayIndex) windows(at []int, history int, out []int32) {
	for b, i := range at {
		available := min(history, int(r.step[i%r.cfg.Capacity]), i-r.oldest())
		for back := range history + 1 {
			row := int32(-1)
			if back <= available {
				row = r.row(i - back)
			}
			out[(history-back)*len(at)+b] = row
		}
	}
}

// episodeOf is the number of each transition's episode. The transitions are not overwritten.
func (r *replayIndex) episodeOf(at []int) []float32 {
	out := make([]float32, len(at))
	for b, i := range at {
		e, _ := slices.BinarySearchFunc(r.episodes, i, func(e episode, i int) int { return e.First + e.Count - 1 - i })
		out[b] = float32(r.episodes[e].Number)
	}
	return out
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
		deviation := math.Sqrt(m.M2[j] / max(1, m.Count))
		if deviation < 1e-6 {
			deviation = 1
		}
		mean, scale = append(mean, float32(m.Mean[j])), append(scale, float32(deviation))
	}
	return mean, scale
}
