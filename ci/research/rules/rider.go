package rules

import (
	"context"
	"errors"
	"math"

	"tvps/replicate/tables/backtest"

	"github.com/gomlx/gomlx/support/xslices"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// rider weights the blocks of the past by how their risks varied together (RIDER; Jeong, Johari, Rothenhaeusler and
// Fox, arXiv 2507.13287). In the random shift model the mean of any function over a block departs from its mean over
// all time by a shift whose covariance between blocks is the same for all functions, up to a factor. The risk of the
// model that is trained with block weights beta is then least where
//
//	E (sum_s beta_s m_s - m_T)^2,  sum_s beta_s = 1,
//
// is, with m_s the mean over block s and T the next block. Only the abstract and the introduction of the paper were at
// hand. What is our own: the functions (gradients), the covariance (a first-order autoregressive process plus
// independent shifts plus the sampling error of a mean) and its estimation (a variogram, by least squares). Equal
// weights, exponential forgetting and the last block alone are special cases.
func rider(_ context.Context, t *backtest.Task) ([][]float64, error) {
	m, err := gradients(t)
	if err != nil {
		return nil, err
	}
	beta, err := m.weights(t.Step, m.fit())
	if err != nil {
		return nil, err
	}
	of := map[int]float64{} // weight of each row of a block, before scale
	for s, block := range m.at {
		of[block] = beta[s] / m.rows[s]
	}
	out := t.Equal()
	for i := range out {
		out[i] *= of[t.Block[i]]
	}
	return [][]float64{out}, nil
}

// blockMeans are means of functions over the rows of blocks.
type blockMeans struct {
	at    []int       // places of the blocks that have rows, ascending
	rows  []float64   // that each stands for
	noise []float64   // variance of a mean of independent rows, of which one has the variance 1
	of    [][]float64 // [blocks][functions]
}

// mostGradients bounds the outcomes whose gradients are taken.
const mostGradients = 10

// gradients are those of the squared error of a linear regression of the outcome, or of each class against the others,
// on the features, fitted with equal weights: error times feature. They decide where a block would pull the model. Each
// has a mean square of 1 over all rows.
func gradients(t *backtest.Task) (*blockMeans, error) {
	out, d, equal := &blockMeans{}, t.Data.Dim, t.Equal()
	sum, squares := make([]float64, t.Step), make([]float64, t.Step)
	for i, w := range equal {
		sum[t.Block[i]] += w
		squares[t.Block[i]] += w * w
	}
	place := make([]int, t.Step)
	for block, rows := range sum {
		if rows > 0 {
			place[block] = len(out.at)
			out.at, out.rows = append(out.at, block), append(out.rows, rows)
			out.noise = append(out.noise, squares[block]/(rows*rows))
			out.of = append(out.of, nil)
		}
	}
	first := 0
	if t.Data.Classes == 2 {
		first = 1 // the other one has the same gradients
	}
	for class := first; class < min(max(1, t.Data.Classes), mostGradients); class++ {
		target := t.Data.Target
		if target == nil {
			target = xslices.Map(t.Data.Label, func(y int32) float64 {
				if int(y) == class {
					return 1
				}
				return 0
			})
		}
		target, _, _ = backtest.Standardised(target, equal)
		beta, err := t.Regression(equal, target)
		if err != nil {
			return nil, err
		}
		means, total := mat.NewDense(len(out.at), d+1, nil), make([]float64, d+1)
		for i, w := range equal {
			s := place[t.Block[i]]
			fit := beta[d]
			for j := range d {
				fit += beta[j] * float64(t.Data.X[i*d+j])
			}
			for j := range d + 1 {
				g := target[i] - fit
				if j < d {
					g *= float64(t.Data.X[i*d+j])
				}
				means.Set(s, j, means.At(s, j)+w*g/out.rows[s])
				total[j] += w * g * g
			}
		}
		for j, v := range total {
			if v <= 1e-12*floats.Sum(equal) {
				continue
			}
			for s := range out.of {
				out.of[s] = append(out.of[s], means.At(s, j)/math.Sqrt(v/floats.Sum(equal)))
			}
		}
	}
	return out, nil
}

// variogram is half the expected squared difference of the shifts of two blocks that lie h blocks apart, h > 0:
//
//	Independent + Scale (1 - Memory^h), or Independent + Scale h for a Memory of 1.
type variogram struct{ Independent, Scale, Memory float64 }

func (v variogram) at(h int) float64 { return v.Independent + v.Scale*decay(v.Memory, h) }

func decay(memory float64, h int) float64 {
	if memory == 1 {
		return float64(h)
	}
	return 1 - math.Pow(memory, float64(h))
}

// memories are those that are tried.
var memories = []float64{.3, .5, .7, .8, .9, .95, .98, 1}

// fit finds the variogram with the least squared distance to the means' own, less what sampling adds, over pairs up to
// half of the time apart. Its parameters are at least 0.
func (m *blockMeans) fit() (best variogram) {
	half := (m.at[len(m.at)-1] - m.at[0] + 1) / 2
	var found []float64
	var lags []int
	for s := range m.at {
		for r := range s {
			if h := m.at[s] - m.at[r]; h <= max(2, half) && len(m.of[s]) > 0 {
				d := floats.Distance(m.of[s], m.of[r], 2)
				found = append(found, (d*d/float64(len(m.of[s]))-m.noise[s]-m.noise[r])/2)
				lags = append(lags, h)
			}
		}
	}
	least := math.Inf(1)
	for _, memory := range memories {
		x, v := xslices.Map(lags, func(h int) float64 { return decay(memory, h) }), variogram{Memory: memory}
		v.Independent, v.Scale = stat.LinearRegression(x, found, nil, false)
		switch {
		case found == nil:
			v = variogram{}
		case !(v.Scale > 0): // or all lags are alike
			v.Independent, v.Scale = max(0, stat.Mean(found, nil)), 0
		case v.Independent < 0:
			v.Independent, v.Scale = 0, max(0, floats.Dot(x, found)/floats.Dot(x, x))
		}
		loss := 0.
		for i, h := range lags {
			loss += (found[i] - v.at(h)) * (found[i] - v.at(h))
		}
		if loss < least {
			best, least = v, loss
		}
	}
	return best
}

// weights are those of the blocks, with the sum 1, that predict the shift of a block T with the least expected squared
// error (ordinary kriging).
func (m *blockMeans) weights(T int, v variogram) ([]float64, error) {
	n := len(m.at)
	a, b := mat.NewDense(n+1, n+1, nil), mat.NewVecDense(n+1, nil)
	for s := range n {
		for r := range s {
			g := v.at(m.at[s]-m.at[r]) + (m.noise[s]+m.noise[r])/2
			a.Set(s, r, g)
			a.Set(r, s, g)
		}
		b.SetVec(s, v.at(T-m.at[s])+m.noise[s]/2)
		a.Set(s, n, 1)
		a.Set(n, s, 1)
	}
	b.SetVec(n, 1)
	var beta mat.VecDense
	if err := beta.SolveVec(a, b); err != nil && !errors.As(err, new(mat.Condition)) {
		return nil, err
	}
	out := beta.RawVector().Data[:n]
	for s := range out {
		out[s] = max(0, out[s])
	}
	if sum := floats.Sum(out); sum > 0 && !math.IsInf(sum, 0) {
		floats.Scale(1/sum, out)
		return out, nil
	}
	return nil, errors.New("the blocks have no stable weights")
}
