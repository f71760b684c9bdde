// Package examples makes the example table drifting.csv: orders of a shop whose distribution is known at all times. Two
// things drift. Prices rise, and the rule by which orders are returned changes and comes back:
//
//	week                        0 ... 19                  20 ... 39                 40 ... 59
//	mean of log price           rises from 3.6 to 4.3 in a straight line
//	slope of log odds in price  +1.6                      -1.6                      +1.6
//
// The slope changes within some weeks (see Order.Probability). The other columns do not drift.
package examples

import (
	"math"
	"math/rand/v2"
	"time"

	"tvps/data/random"
	"tvps/data/table"
)

// The table: Rows orders in Weeks weeks from firstDay, a Monday. The same seed gives the same bytes.
const (
	Weeks = 60
	Rows  = 2000
	Seed  = 0
)

// firstDay is the first day.
var firstDay = time.Date(2023, time.January, 2, 0, 0, 0, 0, time.UTC)

// Order is one row.
type Order struct {
	Date     time.Time
	Price    float64 // mean price of an item in EUR, in whole cents
	Items    int     // 1 to 4
	Discount float64 // percent: 0, 10, 20 or 30
	Account  float64 // age of the customer's account in days; NaN: a guest
	Channel  string  // app, store or web
	Returned bool    // the label
}

// Orders makes n orders in the order of their dates, with the same number on each day if n is a multiple of 420.
func Orders(seed int64, n int) []Order {
	rng := random.New(seed, "orders")
	orders := make([]Order, n)
	for i := range orders {
		o := &orders[i]
		o.Date = firstDay.AddDate(0, 0, i*7*Weeks/n)
		o.Price = math.Round(100*math.Exp(meanLogPrice(o.week())+spread*rng.NormFloat64())) / 100
		o.Items = 1 + draw(rng, .45, .3, .15, .1)
		o.Discount = 10 * float64(draw(rng, .55, .2, .15, .1))
		o.Channel = []string{"app", "store", "web"}[draw(rng, .35, .15, .5)]
		if o.Account = math.Round(400 * rng.ExpFloat64()); rng.Float64() < .15 {
			o.Account = math.NaN()
		}
		o.Returned = rng.Float64() < o.Probability(o.week())
	}
	return orders
}

// draw returns i with probability p[i].
func draw(rng *rand.Rand, p ...float64) int {
	u := rng.Float64()
	for i, q := range p {
		if u -= q; u < 0 {
			return i
		}
	}
	return len(p) - 1
}

// week is the number of the order's week, from 0: the t of the drift.
func (o Order) week() int { return int(o.Date.Sub(firstDay).Hours()) / (7 * 24) }

// spread is the standard deviation of log price.
const spread = .6

// meanLogPrice is the mean of log price in a week: log price ~ N(meanLogPrice(t), .6^2).
func meanLogPrice(week int) float64 { return 3.6 + .7*float64(week)/(Weeks-1) }

// slope is the change of the log odds of a return when log price rises by one standard deviation: 1.6 at first, -1.6
// between the weeks 20 and 40, when a return costs a share of the price, and 1.6 again.
func slope(week int) float64 {
	fee := sigmoid((float64(week)-19.5)/1.5) - sigmoid((float64(week)-39.5)/1.5)
	return 1.6 * (1 - 2*fee)
}

// Probability is p_t(y = 1 | x): that an order with these features is returned, in a week t.
func (o Order) Probability(week int) float64 {
	z := (math.Log(o.Price) - 3.95) / spread
	odds := -.2 + slope(week)*z + .02*o.Discount + .15*float64(o.Items-2)
	if o.Channel == "store" {
		odds -= .8
	}
	if math.IsNaN(o.Account) {
		odds += .4
	}
	return sigmoid(odds)
}

func sigmoid(v float64) float64 { return 1 / (1 + math.Exp(-v)) }

// Covariate is log p_T(x) / p_t(x), where t is the order's week.
func (o Order) Covariate(T int) float64 {
	from, to := meanLogPrice(o.week()), meanLogPrice(T)
	return (to - from) * (math.Log(o.Price) - (from+to)/2) / (spread * spread)
}

// Conditional is log p_T(y | x) / p_t(y | x), where t is the order's week.
func (o Order) Conditional(T int) float64 {
	then, now := o.Probability(o.week()), o.Probability(T)
	if !o.Returned {
		then, now = 1-then, 1-now
	}
	return math.Log(now / then)
}

// Joint is log p_T(x, y) / p_t(x, y), where t is the order's week.
func (o Order) Joint(T int) float64 { return o.Covariate(T) + o.Conditional(T) }

// Write writes orders as the table drifting.csv.
func Write(path string, orders []Order) error {
	var dates, channels, returned []string
	var price, discount, account []float64
	var items []int
	for _, o := range orders {
		dates, channels = append(dates, o.Date.Format(time.DateOnly)), append(channels, o.Channel)
		price, discount, account = append(price, o.Price), append(discount, o.Discount), append(account, o.Account)
		items = append(items, o.Items)
		returned = append(returned, map[bool]string{false: "no", true: "yes"}[o.Returned])
	}
	return table.Write(path, table.Column{Name: "date", Values: dates}, table.Column{Name: "price", Values: price},
		table.Column{Name: "items", Values: items}, table.Column{Name: "discount", Values: discount},
		table.Column{Name: "account_days", Values: account}, table.Column{Name: "channel", Values: channels},
		table.Column{Name: "returned", Values: returned})
}
