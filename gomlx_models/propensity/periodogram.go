package propensity

import (
	"math"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

const (
	waveLevel  = .01 // probability that white noise without a period has one wave or more
	waveGrid   = 4   // frequencies of the search per Fourier frequency
	waveRefine = 10  // steps of the refinement to either side of a frequency of the search
	waveTimes  = 8   // fewest times that are searched
)

// Periodogram finds the angular frequencies w of a searched encoding (TimePeriodogram,
// TimeFourierPeriodogram), in rad per unit of time: those at which a signal of several values, observed at consecutive
// times, has more power than white noise. signal: [times][values], such as the mean observation of each episode; a row
// is nil if it is missing. Result: [most], 0 where no further wave is significant.
//
// The waves are found one after the other (matching pursuit). With n rows, D values, the mean
// taken off and r_d the residual of value d after the waves so far, s_d^2 its mean square, the
// next wave is at the largest
//
//	S_d(w) = |sum over t of r_d(t) e^(-iwt)|^2 / (n s_d^2)
//
// over all w from half a cycle in n times to pi, and all d. In white noise S_d is exponential
// with mean 1, independently at the n/2 Fourier frequencies, so that P(max S > h) is at most
// n D / 2 e^-h. The search ends where the maximum is below h = log(n D / (2 .01)). Then r is the
// residual of the least squares fit of 1, sin(w_j t) and cos(w_j t) for all waves j so far.
//
// drift are angular frequencies of u, t scaled to [0, 1] over all times: the waves that g has in
// any case. They are fitted and taken off like waves that were found, before the first search.
//
// known are frequencies of an earlier search, or nil. A wave takes the place in the result of
// the known one that is nearest to it, if they differ by less than half a cycle in n times:
// then g's inputs keep their meaning when the search is repeated on more times.
func Periodogram(signal [][]float64, drift []float64, most int, known []float64) []float64 {
	s := newSpectrum(signal)
	for _, w := range drift {
		s.drift = append(s.drift, w/float64(max(1, s.span-1)))
	}
	var found []float64
	room := min(most, (len(s.times)-2)/4-len(drift))
	if len(s.times) < waveTimes || len(drift) > 0 && (room < 1 || !s.remove(nil)) {
		room = 0
	}
	for len(found) < room {
		w, ok := s.strongest()
		if !ok {
			break
		}
		if found = append(found, w); !s.remove(found) {
			break
		}
	}
	return s.place(found, most, known)
}

// spectrum is a signal during the search for its waves.
type spectrum struct {
	span     int        // from the first to the last row
	times    []float64  // of the rows that are not missing
	drift    []float64  // angular frequencies of t that are taken off before the search
	values   *mat.Dense // [times, values], the mean of each value taken off
	residual *mat.Dense // of the waves so far
	least    []float64  // standard deviation of each value below which a residual is rounding
	fft      *fourier.FFT
}

func newSpectrum(signal [][]float64) *spectrum {
	s := &spectrum{span: len(signal)}
	var flat []float64
	for t, row := range signal {
		if row != nil {
			s.times, flat = append(s.times, float64(t)), append(flat, row...)
		}
	}
	if len(s.times) < waveTimes {
		return s
	}
	s.values = mat.NewDense(len(s.times), len(flat)/len(s.times), flat)
	_, dims := s.values.Dims()
	for d := range dims {
		column := mat.Col(nil, d, s.values)
		mean, deviation := stat.PopMeanStdDev(column, nil)
		for i := range column {
			column[i] -= mean
		}
		s.values.SetCol(d, column)
		s.least = append(s.least, 1e-6*max(deviation, math.Abs(mean)))
	}
	s.residual = mat.DenseCopyOf(s.values)
	length := 1
	for length < waveGrid*s.span {
		length *= 2
	}
	s.fft = fourier.NewFFT(length)
	return s
}

// strongest returns the frequency of the largest S_d; ok is false if it is not significant.
func (s *spectrum) strongest() (w float64, ok bool) {
	n, dims := s.residual.Dims()
	length := s.fft.Len()
	lowest := (length + 2*s.span - 1) / (2 * s.span)
	best, power := 0, math.Log(float64(n*dims)/(2*waveLevel))
	var value []float64
	padded, coefficients := make([]float64, length), make([]complex128, length/2+1)
	for d := range dims {
		column := s.column(d)
		if column == nil {
			continue
		}
		clear(padded)
		for i, t := range s.times {
			padded[int(t)] = column[i]
		}
		for k, c := range s.fft.Coefficients(coefficients, padded) {
			if p := real(c)*real(c) + imag(c)*imag(c); k >= lowest && p > power*float64(n) {
				best, power, value = k, p/float64(n), column
			}
		}
	}
	if value == nil {
		return 0, false
	}
	return s.refine(value, 2*math.Pi*float64(best)/float64(length), 2*math.Pi/float64(length)), true
}

// column is value d of the residual with a mean square of 1, nil if it is 0 but for rounding.
func (s *spectrum) column(d int) []float64 {
	column := mat.Col(nil, d, s.residual)
	square := 0.
	for _, v := range column {
		square += v * v
	}
	deviation := math.Sqrt(square / float64(len(column)))
	if deviation <= s.least[d] {
		return nil
	}
	for i := range column {
		column[i] /= deviation
	}
	return column
}

// refine returns the frequency with the most power within a step of w.
func (s *spectrum) refine(column []float64, w, step float64) float64 {
	best, power := w, 0.
	for k := -waveRefine; k <= waveRefine; k++ {
		at, sum := min(w+step*float64(k)/waveRefine, math.Pi), 0i
		for i, t := range s.times {
			sum += complex(column[i], 0) * cmplx.Exp(complex(0, -at*t))
		}
		if p := cmplx.Abs(sum); p > power {
			best, power = at, p
		}
	}
	return best
}

// remove sets the residual to that of the least squares fit of waves; false if two of them
// cannot be told apart.
func (s *spectrum) remove(waves []float64) bool {
	waves = slices.Concat(s.drift, waves)
	design := mat.NewDense(len(s.times), 1+2*len(waves), nil)
	for i, t := range s.times {
		design.Set(i, 0, 1)
		for j, w := range waves {
			sin, cos := math.Sincos(w * t)
			design.Set(i, 1+2*j, sin)
			design.Set(i, 2+2*j, cos)
		}
	}
	var fit mat.Dense
	if err := fit.Solve(design, s.values); err != nil {
		return false
	}
	s.residual.Mul(design, &fit)
	s.residual.Sub(s.values, s.residual)
	return true
}

// place puts each wave where the known one nearest to it is, the others where there is room.
func (s *spectrum) place(found []float64, most int, known []float64) []float64 {
	out := make([]float64, most)
	var others []float64
	for _, w := range found {
		at, distance := -1, math.Pi/float64(s.span)
		for i, old := range known {
			if d := math.Abs(old - w); old > 0 && out[i] == 0 && d < distance {
				at, distance = i, d
			}
		}
		if at < 0 {
			others = append(others, w)
			continue
		}
		out[at] = w
	}
	for _, w := range others {
		out[slices.Index(out, 0)] = w
	}
	return out
}
