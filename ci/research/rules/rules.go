// Package rules has rules of weighting the past that only the benchmark of package natural compares. It advises none of
// them. Extend adds them to the built-in ones of package backtest.
package rules

import (
	"slices"

	"tvps/replicate/tables/backtest"
)

// Extend is a backtest.Request.More: it puts the rules behind the built-in ones that have the same weightings.
func Extend(builtIn []backtest.Rule) []backtest.Rule {
	place := func(name string) int {
		return slices.IndexFunc(builtIn, func(r backtest.Rule) bool { return r.Name == name })
	}
	list := func(name string) []backtest.Weighting { return builtIn[place(name)].Weightings }
	omega := slices.Concat(factors(list(backtest.Forgetting)), mixtures(list(backtest.Uniform)))
	builtIn = slices.Insert(builtIn, place("power-law")+1, omega...)
	return slices.Insert(builtIn, place(backtest.Committee)+1, tournament(list(backtest.Committee)),
		backtest.Rule{Name: "rider", Weightings: list(backtest.Uniform), Extra: true, Train: rider})
}
