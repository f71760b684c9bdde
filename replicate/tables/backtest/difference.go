package backtest

import (
	"fmt"
)

// Difference is a mean difference with its 95% interval.
type Difference struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// String is the difference as "-0.0140 [-0.0290, -0.0020]".
func (d Difference) String() string {
	return fmt.Sprintf("%+.4f [%+.4f, %+.4f]", d.Mean, d.Low, d.High)
}
