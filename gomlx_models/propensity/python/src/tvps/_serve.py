"""`python -m tvps._serve PICKLE` serves a pickled estimator or function to `tvps backtest --model serve:...`."""

import pickle
import sys

from ._training import of_estimator, trainer

if __name__ == "__main__":
    with open(sys.argv.pop(1), "rb") as file:
        model = pickle.load(file)
    trainer(of_estimator(model) if hasattr(model, "fit") else model)
