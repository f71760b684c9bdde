"""Boosted trees of scikit-learn, for `tvps backtest ... --model "serve:python gomlx_models/propensity/python/examples/tvps_trainer.py"`.

It needs the package tvps: pip install ./gomlx_models/propensity/python
"""

import os

import tvps
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor


def fit_predict(x, y, weight, test):
    if os.environ["TVPS_TASK"] == "number":
        return HistGradientBoostingRegressor(categorical_features="from_dtype").fit(x, y, weight).predict(test)
    model = HistGradientBoostingClassifier(categorical_features="from_dtype")
    return model.fit(x, y, weight).predict_proba(test)


tvps.trainer(fit_predict)
