"""The trainers of the benchmark: `tvps backtest ... --model "serve:python trainer.py lightgbm"`, lightgbm-tuned, sklearn.

Boosted trees with 60 trees and otherwise the library's defaults. lightgbm-tuned takes as many trees, at most 500, as
have the lowest loss on the newest fifth of the training rows after training on the older ones, and trains again. Texts are categories: LightGBM's own kind, with the
levels of training and test rows in one order; scikit-learn's likewise, up to 255 levels.
"""

import os
import sys

import numpy as np
import pandas as pd

label, classes = os.environ["TVPS_LABEL"], os.environ["TVPS_TASK"] == "class"


def model(library, trees=60):
    if library.startswith("lightgbm"):
        import lightgbm as lgb

        kind = lgb.LGBMClassifier if classes else lgb.LGBMRegressor
        return kind(n_estimators=trees, verbose=-1, n_jobs=1, random_state=0)
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


def best(library, x, y, w):
    """The number of trees by the newest fifth; 60 if the older rows have not all its labels, or a part has no weight."""
    import lightgbm as lgb

    old = len(y) * 4 // 5
    if w[:old].sum() == 0 or w[old:].sum() == 0 or classes and not set(y[old:]) <= set(y[:old]):
        return 60
    newest = {"eval_set": [(x[old:], y[old:])], "eval_sample_weight": [w[old:]]}
    m = model(library, 500).fit(x[:old], y[:old], sample_weight=w[:old], callbacks=[lgb.early_stopping(20, verbose=False)],
                                **newest)
    return m.best_iteration_ or 500


def fit(train, test, out):
    a, b = pd.read_parquet(train), pd.read_parquet(test)
    w, y = a.pop("weight"), a.pop(label)
    coded(a, b)
    library = sys.argv[1]
    m = model(library, best(library, a, y, w) if library.endswith("-tuned") else 60).fit(a, y, sample_weight=w)
    if classes:
        answer = pd.DataFrame(m.predict_proba(b), columns=[str(c) for c in m.classes_])
    else:
        answer = pd.DataFrame({"prediction": np.asarray(m.predict(b))})
    answer.to_parquet(out, index=False)


for line in sys.stdin:
    fit(*line.rstrip("\n").split("\t"))
    print("ok", flush=True)
