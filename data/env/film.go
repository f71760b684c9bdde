package env

import (
	"fmt"
	"io"
)

// maxFrames is the largest number of frames; of longer episodes some steps are left out.
const maxFrames = 60

// Film draws an episode as an animated SVG: the Half-Cheetah from the side, with wind and velocities, or the D'Claw and
// its valve from above, with the target. The animation uses no script. A viewer that does not animate shows the first
// frame.
type Film struct {
	who    string
	task   string
	scene  scene
	total  float64
	totals []float64 // sum of rewards until each frame
}

// scene records the frames of one robot and draws them.
type scene interface {
	add()                                 // records the present frame
	draw(s *svg, keep []int)              // draws the frames with these numbers
	size() (width, height int)            // pixels
	slower() (seconds float64, times int) // duration of a step, and the slow-motion factor
	caption(frame int) string
}

// header is the height of the line that names the agent, in pixels.
const header = 24

// NewFilm starts the film of an episode and records its first frame. who names the agent and task
// the episode's task, in words. The robot must have been reset. It returns nil for a robot that has no picture.
func NewFilm(e Env, who, task string) *Film {
	f := &Film{who: who, task: task}
	switch e := e.(type) {
	case *Cheetah:
		f.scene = &cheetahFilm{robot: e}
	case *Claw:
		f.scene = &clawFilm{robot: e}
	default:
		return nil
	}
	f.Add(0)
	return f
}

// Add records the frame after a step, and the step's reward.
func (f *Film) Add(reward float64) {
	f.scene.add()
	f.total += reward
	f.totals = append(f.totals, f.total)
}

// WriteSVG writes the film as an SVG whose animation repeats.
func (f *Film) WriteSVG(w io.Writer) error {
	frames := len(f.totals)
	keep := spread(frames, maxFrames)
	seconds, times := f.scene.slower()
	width, height := f.scene.size()
	s := newSVG(width, height+header, seconds*float64(times*(frames-1)))
	s.text(16, 24, "start", 15, f.who)
	s.printf(`<g transform="translate(0 %d)">`, header)
	s.text(16, 24, "start", 15, f.task)
	f.scene.draw(s, keep)
	captions := make([]string, len(keep))
	for i, frame := range keep {
		captions[i] = fmt.Sprintf("step %d of %d, return %.1f, %s",
			frame, frames-1, f.totals[frame], f.scene.caption(frame))
	}
	s.captions(16, 44, captions)
	s.text(float64(width)-16, 24, "end", 12, fmt.Sprintf("shown %d times slower", times))
	s.printf("</g>\n</svg>")
	_, err := w.Write(s.out.Bytes())
	return err
}

// spread returns at most limit of n frames, evenly spaced, including the first and the last.
func spread(n, limit int) []int {
	list := make([]int, min(n, limit))
	for i := range list {
		list[i] = i * (n - 1) / max(len(list)-1, 1)
	}
	return list
}
