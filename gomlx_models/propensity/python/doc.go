// Package python contains the test of the Python package tvps: its wheel is built, and tested in a fresh virtual
// environment without Go, first with what it depends on, then with pandas, polars, scikit-learn, matplotlib and
// LightGBM; then the code in the documents for users runs. It needs a Python and a package index, so it runs only on
// request:
//
//	TVPS_PYTHON=python3 go test ./gomlx_models/propensity/python -run Python -count=1 -v
//
// Without an index or python3-venv the test is skipped with the reason.
package python
