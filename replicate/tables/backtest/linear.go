package backtest

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/gomlx/gomlx/support/xslices"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"
)

// linear is logistic regression of classes, or ridge regression of a number, on the encoded features: the minimum of
//
//	sum_i w_i loss(b_k + beta_k . x_i, y_i) + 1/2 sum_k |beta_k|^2,
//
// with the cross-entropy of the softmax, or half the squared error of the standardised number. The intercepts b are not
// penalised.
type linear struct{ workers int }

func (l *linear) identity() string { return "logistic: penalty 1" }
func (l *linear) close()           {}

func (l *linear) predict(ctx context.Context, t *Task, weights [][]float64) ([][]float64, error) {
	out := make([][]float64, len(weights))
	if t.Data.Target != nil {
		err := each(ctx, len(weights), l.workers, func(_ context.Context, i int) (err error) {
			out[i], err = ridge(t, weights[i])
			return err
		})
		return out, err
	}
	x, test := sparsely(t.Data.X, t.Data.Dim), sparsely(t.testX, t.Data.Dim)
	// All start from the optimum of equal weights.
	start, err := logistic(ctx, t, x, t.Equal(), make([]float64, (t.Data.Dim+1)*t.Data.Classes))
	if err != nil {
		return nil, err
	}
	err = each(ctx, len(weights), l.workers, func(ctx context.Context, i int) error {
		beta, err := logistic(ctx, t, x, weights[i], start)
		if err != nil {
			return err
		}
		for row := range t.test {
			p := make([]float64, t.Data.Classes)
			test.logits(beta, row, p)
			softmax(p)
			out[i] = append(out[i], p...)
		}
		return nil
	})
	return out, err
}

// logits writes b_k + beta_k . x of a row to out. beta: [classes, dim + 1], the intercept last.
func (x *sparse) logits(beta []float64, row int, out []float64) {
	at, values := x.row(row)
	for k := range out {
		b := beta[k*(x.dim+1) : (k+1)*(x.dim+1)]
		out[k] = b[x.dim]
		for n, j := range at {
			out[k] += b[j] * values[n]
		}
	}
}

// softmax replaces logits by probabilities, and returns the log of the sum of their exponentials.
func softmax(z []float64) float64 {
	most, sum := floats.Max(z), 0.
	for k, v := range z {
		z[k] = math.Exp(v - most)
		sum += z[k]
	}
	floats.Scale(1/sum, z)
	return most + math.Log(sum)
}

// sparse is a table without its zeros, of which one-hot features are full.
type sparse struct {
	dim    int
	first  []int     // of each row, in the other two, and their length
	at     []int32   // columns
	values []float64 // in them
}

// sparsely is X [rows, dim] without its zeros.
func sparsely(X []float32, dim int) *sparse {
	x := &sparse{dim: dim, first: []int{0}}
	for row := range slices.Chunk(X, dim) {
		for j, v := range row {
			if v != 0 {
				x.at, x.values = append(x.at, int32(j)), append(x.values, float64(v))
			}
		}
		x.first = append(x.first, len(x.at))
	}
	return x
}

// row has the columns and values of a row that are not 0.
func (x *sparse) row(i int) (at []int32, values []float64) {
	from, to := x.first[i], x.first[i+1]
	return x.at[from:to], x.values[from:to]
}

// logistic minimises the penalised loss from a start: [classes, dim + 1].
func logistic(ctx context.Context, t *Task, x *sparse, weight, start []float64) ([]float64, error) {
	d, k := t.Data.Dim, t.Data.Classes
	// Rows without weight are skipped once, not in every evaluation.
	var rows []int
	total := 0.
	for i, w := range weight {
		if total += w; w > 0 {
			rows = append(rows, i)
		}
	}
	z := make([]float64, k)
	loss := func(beta, grad []float64) float64 {
		clear(grad)
		sum := 0.
		for _, i := range rows {
			at, values := x.row(i)
			x.logits(beta, i, z)
			own := z[t.Data.Label[i]]
			sum += weight[i] * (softmax(z) - own)
			for c, e := range z {
				if c == int(t.Data.Label[i]) {
					e--
				}
				e *= weight[i]
				g := grad[c*(d+1) : (c+1)*(d+1)]
				for n, j := range at {
					g[j] += e * values[n]
				}
				g[d] += e
			}
		}
		for c := range k {
			for j := range d {
				b := beta[c*(d+1)+j]
				sum += b * b / 2
				grad[c*(d+1)+j] += b
			}
		}
		floats.Scale(1/total, grad)
		return sum / total
	}
	// Loss and gradient are computed together, and asked for one after the other.
	cached, value, gradient := make([]float64, len(start)), math.NaN(), make([]float64, len(start))
	at := func(beta []float64) {
		if math.IsNaN(value) || !floats.Equal(beta, cached) {
			copy(cached, beta)
			value = loss(beta, gradient)
		}
	}
	problem := optimize.Problem{
		Func: func(beta []float64) float64 { at(beta); return value },
		Grad: func(grad, beta []float64) { at(beta); copy(grad, gradient) },
		Status: func() (optimize.Status, error) {
			if err := ctx.Err(); err != nil {
				return optimize.Failure, err
			}
			return optimize.NotTerminated, nil
		},
	}
	slope, tolerance := 1e-5, 1e-7
	if t.Scale != nil { // much less than what a sample of rows changes
		slope, tolerance = 1e-4, 1e-6
	}
	settings := &optimize.Settings{GradientThreshold: slope, MajorIterations: 300,
		Converger: &optimize.FunctionConverge{Absolute: tolerance, Iterations: 5}}
	result, err := optimize.Minimize(problem, start, settings, &optimize.LBFGS{})
	if result == nil || ctx.Err() != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	return result.X, nil // the best point, also of a line search that finds no lower loss
}

// ridge predicts the test rows by ridge regression of the standardised number.
func ridge(t *Task, weight []float64) ([]float64, error) {
	target, mean, spread := Standardised(t.Data.Target, weight)
	beta, err := t.Regression(weight, target)
	if err != nil {
		return nil, err
	}
	out, test := make([]float64, len(t.test)), sparsely(t.testX, t.Data.Dim)
	for i := range out {
		test.logits(beta, i, out[i:i+1])
		out[i] = mean + spread*out[i]
	}
	return out, nil
}

// Regression solves the normal equations of the ridge regression of a target on the rows of train: [dim + 1], the
// intercept last.
func (t *Task) Regression(weight, target []float64) ([]float64, error) {
	d := t.Data.Dim
	a, b := mat.NewSymDense(d+1, nil), mat.NewVecDense(d+1, nil)
	row := mat.NewVecDense(d+1, nil)
	for i, w := range weight {
		if w == 0 {
			continue
		}
		for j := range d {
			row.SetVec(j, float64(t.Data.X[i*d+j]))
		}
		row.SetVec(d, 1)
		a.SymRankOne(a, w, row)
		b.AddScaledVec(b, w*target[i], row)
	}
	for j := range d {
		a.SetSym(j, j, a.At(j, j)+1)
	}
	a.SetSym(d, d, a.At(d, d)+1e-9)
	var chol mat.Cholesky
	var beta mat.VecDense
	if !chol.Factorize(a) || chol.SolveVecTo(&beta, b) != nil {
		return nil, errors.New("ridge regression: the normal equations have no stable solution")
	}
	return beta.RawVector().Data, nil
}

// Standardised are values less their weighted mean, divided by their weighted standard deviation, or by 1 if that is 0.
func Standardised(values, weight []float64) (z []float64, mean, spread float64) {
	mean, spread = stat.PopMeanStdDev(values, weight)
	if !(spread > 0) {
		spread = 1
	}
	return xslices.Map(values, func(v float64) float64 { return (v - mean) / spread }), mean, spread
}
