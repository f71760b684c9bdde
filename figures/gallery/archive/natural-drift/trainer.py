"""The trainers of the benchmark: `tvps backtest ... --model "serve:python trainer.py lightgbm"`, or sklearn.

Boosted trees with 60 trees and otherwise the library's defaults. Texts are categories: LightGBM's own kind, with the
levels of training and test rows in one order; scikit-learn's likewise, up to 255 levels.
"""

import os
import sys

import numpy as np
import pandas as pd

label, classes = os.environ["TVPS_LABEL"], os.environ["TVPS_TASK"] == "class"


def model(library):
    if library == "lightgbm":
        import lightgbm as lgb

        kind = lgb.LGBMClassifier if classes else lgb.LGBMRegressor
        return kind(n_estimators=60, verbose=-1, n_jobs=1, random_state=0)
    from sklearn import ensemble

    kind = ensemble.HistGradientBoostingClassifier if classes else ensemble.HistGradientBoostingRegressor
    return kind(max_iter=60, early_stopping=False, categorical_features="from_dtype", random_state=0)


def coded(a, b):
    """Texts of both tables as categories of the training table; levels beyond the 254 most frequent are missing.

    Columns without a value in training are left out: scikit-learn's trees refuse them.
    """
    for c in a.columns[a.isna().all()]:
        del a[c], b[c]
    for c in a.columns:
        if not pd.api.types.is_numeric_dtype(a[c]):
            levels = a[c].value_counts().index[:254].sort_values()
            a[c], b[c] = (d[c].where(d[c].isin(levels)).astype(pd.CategoricalDtype(levels)) for d in (a, b))
        else:
            a[c], b[c] = (d[c].astype(float) for d in (a, b))


def fit(train, test, out):
    a, b = pd.read_parquet(train), pd.read_parquet(test)
    w, y = a.pop("weight"), a.pop(label)
    coded(a, b)
    m = model(sys.argv[1]).fit(a, y, sample_weight=w)
    if classes:
        answer = pd.DataFrame(m.predict_proba(b), columns=[str(c) for c in m.classes_])
    else:
        answer = pd.DataFrame({"prediction": np.asarray(m.predict(b))})
    answer.to_parquet(out, index=False)


for line in sys.stdin:
    fit(*line.rstrip("\n").split("\t"))
    print("ok", flush=True)
