// Package film draws an episode of a robot as an animated SVG: the Half-Cheetah from the
// side with its wind and velocities, the D'Claw and its valve from above with the target
// (the robots of the paper's Figures 2, 10 and 11). The picture moves without scripts; a
// program that does not animate shows the first moment.
package film

import (
	"fmt"
	"io"

	"tvps/data/env"
)

// mostFrames is how many moments a film has at most; of longer episodes some are left out.
const mostFrames = 60

// Film is the record of an episode.
type Film struct {
	task   string
	scene  scene
	frames int
	total  float64
	totals []float64 // sum of rewards until each frame
}

// scene remembers the moments of one robot and draws them.
type scene interface {
	add()
	draw(s *svg, keep []int)
	size() (width, height int)
	slower() (seconds float64, times int) // duration of a step, and how much slower it is shown
	caption(frame int) string
}

// New starts a record of a robot's episode, which must have been Reset, with its first
// moment. It knows *env.Cheetah and *env.Claw.
func New(e env.Env, episode int) (*Film, error) {
	f := &Film{task: e.Task(episode)}
	switch e := e.(type) {
	case *env.Cheetah:
		f.scene = &cheetah{env: e}
	case *env.Claw:
		f.scene = &claw{env: e}
	default:
		return nil, fmt.Errorf("there is no film of a %T: it knows the Half-Cheetah and the D'Claw", e)
	}
	f.Add(0)
	return f, nil
}

// Add records the present moment, after a step with a reward.
func (f *Film) Add(reward float64) {
	f.scene.add()
	f.total += reward
	f.totals = append(f.totals, f.total)
	f.frames++
}

// WriteSVG draws the film, which repeats for ever.
func (f *Film) WriteSVG(w io.Writer) error {
	keep := spread(f.frames, mostFrames)
	seconds, times := f.scene.slower()
	width, height := f.scene.size()
	s := newSVG(width, height, seconds*float64(times*max(f.frames-1, 1)), len(keep))
	s.text(16, 24, "start", 15, f.task)
	f.scene.draw(s, keep)
	captions := make([]string, len(keep))
	for i, frame := range keep {
		captions[i] = fmt.Sprintf("step %d of %d, return %.1f, %s", frame, f.frames-1, f.totals[frame], f.scene.caption(frame))
	}
	s.captions(16, 44, captions)
	s.text(float64(width)-16, 24, "end", 12, fmt.Sprintf("shown %d times slower", times))
	return s.writeTo(w)
}

// spread picks at most most of n frames, with equal steps and the last one among them.
func spread(n, most int) []int {
	count := min(n, most)
	list := make([]int, count)
	for i := range list {
		list[i] = i * (n - 1) / max(count-1, 1)
	}
	return list
}
