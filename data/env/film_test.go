package env

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
)

// record films an episode and returns the SVG and the return.
func record(t *testing.T, e Env, episode int) ([]byte, float64) {
	t.Helper()
	n, m, horizon := e.Sizes()
	obs, action := make([]float64, n), make([]float64, m)
	demand.NoError(t, e.Reset(episode, rand.New(rand.NewPCG(1, 1)), obs))
	f := NewFilm(e, "SAC with ω, seed 7", e.Task(episode))
	total := 0.
	for step := range horizon {
		for j := range action {
			action[j] = float64(1 - (step/4+j)%2*2)
		}
		reward, err := e.Step(action, obs)
		demand.NoError(t, err)
		f.Add(reward)
		total += reward
	}
	var out bytes.Buffer
	demand.NoError(t, f.WriteSVG(&out))
	return out.Bytes(), total
}

// elements counts the elements of an SVG, which must be XML.
func elements(t *testing.T, data []byte) map[string]int {
	t.Helper()
	count := map[string]int{}
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return count
		}
		demand.NoError(t, err)
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
		}
	}
}

func TestCheetahFilm(t *testing.T) {
	c := newCheetah(t, CheetahOptions{})
	data, total := record(t, c, 4)
	count := elements(t, data)
	animated := count["animate"] >= 4*8+51 && count["animateTransform"] == 1 && count["script"] == 0
	if count["line"] != 8+1 || !animated || len(data) > 100_000 {
		t.Errorf("%d bytes, elements %v", len(data), count)
	}
	demand.Words(t, string(data),
		">SAC with ω, seed 7<", "wind +7.2 N", "target 2.86 m/s", "step 0 of 50, return 0.0, velocity",
		fmt.Sprintf("step 50 of 50, return %.1f,", total), "shown 3 times slower")
	if n := strings.Count(string(data), `"hidden;visible;hidden"`); n != 49 {
		t.Errorf("%d captions appear and disappear, want 49", n)
	}
	if again, _ := record(t, c, 4); !bytes.Equal(data, again) {
		t.Error("the film of the same episode differs")
	}
}

func TestClawFilm(t *testing.T) {
	for v, shapes := range map[int]int{1: 2, 4: 2, 9: 1} {
		c := newClaw(t, ClawOptions{Tasks: []int{v}})
		t.Run(c.Task(0)[:7], func(t *testing.T) {
			data, total := record(t, c, 0)
			count := elements(t, data)
			animated := count["animateTransform"] == 1 && count["script"] == 0
			if count["polygon"] != shapes || count["polyline"] != 3 || !animated || len(data) > 100_000 {
				t.Errorf("%d bytes, elements %v", len(data), count)
			}
			demand.Words(t, string(data), c.Task(0), "step 0 of 40, return 0.0, valve at 0°",
				fmt.Sprintf("step 40 of 40, return %.1f,", total), ">target<")
		})
	}
}

func TestSpread(t *testing.T) {
	if got := spread(5, 60); !slices.Equal(got, []int{0, 1, 2, 3, 4}) {
		t.Error(got)
	}
	if got := spread(1, 60); !slices.Equal(got, []int{0}) {
		t.Error(got)
	}
	if got := spread(1001, 60); len(got) != 60 || got[0] != 0 || got[59] != 1000 || !slices.IsSorted(got) {
		t.Error(got)
	}
}
