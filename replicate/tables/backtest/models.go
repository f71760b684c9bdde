package backtest

import (
	"strings"

	"tvps/replicate/usage"
)

// Logistic is the name of the built-in model: logistic regression, or ridge regression of a number.
const Logistic = "logistic"

// commandOf is the user's own command that a model names, and whether it serves.
func commandOf(model string) (text string, serve, ok bool) {
	if text, ok = strings.CutPrefix(model, "exec:"); !ok {
		text, ok = strings.CutPrefix(model, "serve:")
		serve = ok
	}
	return strings.TrimSpace(text), serve, ok
}

// checkModel returns a usage error if text is neither the built-in model nor a command.
func checkModel(text string) error {
	command, _, own := commandOf(text)
	switch {
	case own && (command == "" || strings.HasPrefix(command, "#")): // nothing, or a name alone
		return usage.Errorf("the model %q names no command; give one such as \"exec:python train.py\"", text)
	case !own && text != Logistic:
		return usage.Errorf("the model %q is neither %s nor a command such as \"exec:python train.py\"", text, Logistic)
	}
	return nil
}

// newTrainer returns the trainer of a model that checkModel accepts. At most workers models train at the same time. log
// gets the warnings of a command.
func newTrainer(text string, workers int, log *console) trainer {
	if command, serve, ok := commandOf(text); ok {
		return newCommand(command, serve, workers, log)
	}
	return &linear{workers: workers}
}
