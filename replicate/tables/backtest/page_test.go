package backtest

import "testing"

// TestShortModel: reports name a model by its comment, and otherwise without the folders of its files.
func TestShortModel(t *testing.T) {
	for model, want := range map[string]string{
		"logistic":                           "logistic",
		"exec:/usr/bin/python3 a/trainer.py": "exec:python3 trainer.py",
		"serve:/usr/bin/python3 -m tvps._serve /cache/1f.pickle # StandardScaler + Ridge": "StandardScaler + Ridge",
	} {
		if got := (&Result{Model: model}).ShortModel(); got != want {
			t.Errorf("%s is named %q, want %q", model, got, want)
		}
	}
}
