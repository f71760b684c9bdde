"""Density ratios of other programs, for the command of this folder.

Reads {"train": {"x", "time"}, "test": {...}} from standard input and writes a list of {"name", "log", "seconds"}: the log
of p_T(x) / p_t(x) of each row of "test", where T is the last time and t the row's own.
"""
import json
import sys
import time

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

given = json.load(sys.stdin)
x, t = (np.array(given["train"][k], float) for k in ("x", "time"))
new, at = (np.array(given["test"][k], float) for k in ("x", "time"))
last = t.max()


def classifier(model):
    """p(T|x) / p(t|x); all times have as many rows."""
    model.fit(x[:, None], t)
    log = np.log(np.maximum(model.predict_proba(new[:, None]), 1e-12))
    own = np.searchsorted(model.classes_, at)
    return log[:, -1] - log[np.arange(len(new)), own]


def logistic():
    return classifier(make_pipeline(PolynomialFeatures(2), StandardScaler(), LogisticRegression(max_iter=1000)))


def boosting():
    return classifier(HistGradientBoostingClassifier(early_stopping=True, random_state=0))


def kliep():
    """One ratio for each past time, with the width of the kernel chosen by KLIEP's cross-validation."""
    from adapt.instance_based import KLIEP
    log = np.zeros(len(new))
    for past in np.unique(t)[:-1]:
        model = KLIEP(kernel="rbf", gamma=[.01, .03, .1, .3, 1.], verbose=0, random_state=0)
        model.fit_weights(x[t == past][:, None], x[t == last][:, None])
        log[at == past] = np.log(np.maximum(model.predict_weights(new[at == past][:, None]), 1e-6))
    return log


out = []
for name, ratio in (("scikit-learn, logistic p(t|x) on x and x^2", logistic),
                    ("scikit-learn, HistGradientBoosting p(t|x)", boosting), ("ADAPT, KLIEP for each t", kliep)):
    begin = time.perf_counter()
    try:
        log = ratio()
    except ImportError as missing:
        print(f"{name}: {missing}", file=sys.stderr)
        continue
    out.append({"name": name, "log": log.tolist(), "seconds": time.perf_counter() - begin})
json.dump(out, sys.stdout)
