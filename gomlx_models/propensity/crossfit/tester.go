package crossfit

import (
	"cmp"
	"math"
	"slices"

	"tvps/data/random"
	"tvps/gomlx_models/loop"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Shuffles move chunks of at least chunkTimes times as many rows as the autocorrelation time less one, but at least
// leastChunks chunks. There are at most fewChunks, or two for each time; twice as long ones are taken where they leave
// fewChunks. From independentRows on the times are not told apart each by itself: that needs even longer chunks.
const chunkTimes, leastChunks, fewChunks, mostChunks, independentRows = 8, 3, 100, 1000, 1.2

// tester shuffles rows. Parts are contiguous rows, so few that a shuffle is fast.
type tester struct {
	shuffles   int
	seed       int64
	x, y       []score
	parts      int
	row        []int      // one of each part, by position
	state      []int      // time of each part, in views
	views      []testView // codes of the times
	share      []float64  // of the parts, by time
	span       float64    // of the times
	begin      []int      // first part of each chunk, and the end
	entity     []int      // first chunk of each entity, and the end
	flips      bool       // shuffles change signs of entities instead of moving chunks
	edges      float64    // factor of the real sums, see newTester
	at         []int      // rows in time order, entity by entity
	chunks     int
	dependence float64   // of all scores
	ofX        []float64 // of the scores of each column
	ofY        float64
}

// testView has a code for each time, of mean 0 over the parts.
type testView struct {
	name  string
	cycle *Cycle     // nil: none
	code  *mat.Dense // [times, width]; nil: each time by itself
}

// newTester prepares the shuffles.
func newTester(d Table, rows *sortedRows, calendar, others []Cycle, shuffles int, seed int64) *tester {
	n := len(rows.at)
	t := &tester{shuffles: shuffles, seed: seed, parts: min(mostParts, n), at: slices.Clone(rows.at)}
	if d.Group != nil {
		slices.SortStableFunc(t.at, func(a, b int) int { return cmp.Compare(d.Group[a], d.Group[b]) })
	}
	state := make([]int, n) // time of each row
	for i, row := range t.at {
		state[i], _ = slices.BinarySearch(rows.times, d.Time[row])
	}
	rng := random.New(seed, "rows of parts")
	t.row = random.Spread(rng, n, t.parts)
	t.state = loop.Pick(state, t.row)
	t.share = make([]float64, len(rows.times))
	for _, s := range t.state {
		t.share[s] += 1 / float64(t.parts)
	}
	t.span = rows.times[len(rows.times)-1] - rows.times[0]
	r := newRecurrence(state, rows.times, calendar, others)
	r.scores = 2 * (d.Dim + max(1, d.Classes))
	if d.Group != nil {
		r.group = loop.Pick(d.Group, t.at)
	}
	t.x, t.y = columnScores(d, t.at, r, rng), outcomeScores(d, t.at, r)
	all := slices.Concat(t.x, t.y)
	t.ofX, t.ofY = slices.Repeat([]float64{1}, d.Dim), 1
	for i := range all {
		of := &t.ofY
		if i < len(t.x) {
			of = &t.ofX[all[i].column]
		}
		*of = max(*of, all[i].dependence(len(all)), all[i].ofTime)
	}
	t.dependence = max(slices.Max(t.ofX), t.ofY)
	long, most := chunkTimes*(t.dependence-1), min(mostChunks, max(fewChunks, 2*len(rows.times)))
	entities := float64(len(slices.Compact(slices.Clone(r.group))))
	t.flips = entities >= leastFlipped && long*leastChunks > float64(n)/entities
	long = max(1, long, min(2*long, float64(n)/fewChunks), float64(n)/float64(most))
	t.chunks = min(t.parts, max(leastChunks, int(float64(n)/long)))
	t.addViews(rows.times, n, slices.Concat(calendar, others))
	t.cut(r.group)
	if t.edges = 1; !t.flips { // chunks lose their neighbours, so shuffled sums vary less than the real ones
		t.edges = math.Sqrt(max(.5, 1-(t.dependence-1/t.dependence)/2*float64(t.chunks)/float64(n)))
	}
	return t
}

// leastFlipped is the least number of entities of which signs are changed. Where entities are shorter than leastChunks,
// chunks say little; the sign of an entity, which all its rows share, keeps all of its dependence.
const leastFlipped = 12

// cut deals the parts to chunks: those of each entity to as many as its share of the rows allows, but at least
// leastChunks, or to one if signs change.
func (t *tester) cut(group []int32) {
	of := func(part int) int32 {
		if group == nil {
			return 0
		}
		return group[t.row[part]]
	}
	for from := 0; from < t.parts; {
		to := from
		for to < t.parts && of(to) == of(from) {
			to++
		}
		chunks := min(to-from, max(leastChunks, t.chunks*(to-from)/t.parts))
		if t.flips {
			chunks = 1
		}
		t.entity = append(t.entity, len(t.begin))
		for c := range chunks {
			t.begin = append(t.begin, from+c*(to-from)/chunks)
		}
		from = to
	}
	t.entity, t.begin, t.chunks = append(t.entity, len(t.begin)), append(t.begin, t.parts), len(t.begin)
}

// addViews are those of Fit; the trend has the cosines of waves, over the rows instead of the time.
func (t *tester) addViews(times []float64, n int, cycles []Cycle) {
	trend, below := mat.NewDense(len(times), waves, nil), 0.
	for s, share := range t.share {
		for k := range waves {
			trend.Set(s, k, math.Cos(math.Pi*float64(k+1)*(below+share/2))/math.Sqrt(float64(k+1)))
		}
		below += share
	}
	t.addView("trend", nil, trend)
	for _, v := range views(times, n, cycles)[2:] {
		if v.Cycle == nil {
			if t.dependence < independentRows {
				t.addView(v.Name, nil, nil)
			}
			continue
		}
		code := mat.NewDense(len(times), v.width(), nil)
		for s, at := range times {
			for k, c := range v.code(at, nil) {
				code.Set(s, k, float64(c))
			}
		}
		t.addView(v.Name, v.Cycle, code)
	}
}

func (t *tester) addView(name string, cycle *Cycle, code *mat.Dense) {
	if code != nil {
		if t.flips {
			t.leastSquares(code)
		}
		times, width := code.Dims()
		for k := range width {
			mean := 0.
			for s := range times {
				mean += t.share[s] * code.At(s, k)
			}
			for s := range times {
				code.Set(s, k, code.At(s, k)-mean)
			}
		}
	}
	t.views = append(t.views, testView{name, cycle, code})
}

// leastSquares makes a code that of generalised least squares, for entities with levels of their own and autoregressive
// rows: then the noise of slow waves is no stronger than that of fast ones.
func (t *tester) leastSquares(code *mat.Dense) {
	times, width := code.Dims()
	phi := (t.dependence - 1) / (t.dependence + 1)
	inverse := func(v []float64) []float64 { // of the matrix of autocorrelations, up to a factor
		out := make([]float64, times)
		for s := range v {
			out[s] = v[s]
			if s > 0 {
				out[s] -= phi * v[s-1]
			}
			if s < times-1 {
				out[s] -= phi * v[s+1]
			}
			if s > 0 && s < times-1 {
				out[s] += phi * phi * v[s]
			}
		}
		return out
	}
	level := inverse(slices.Repeat([]float64{1}, times))
	for k := range width {
		v := mat.Col(nil, k, code)
		w := inverse(v)
		floats.AddScaled(w, -floats.Sum(w)/floats.Sum(level), level)
		floats.Scale(floats.Dot(v, v)/float64(times)/math.Sqrt(floats.Dot(v, w)), w)
		code.SetCol(k, w)
	}
}
