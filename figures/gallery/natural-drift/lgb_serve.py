"""LightGBM as the trainer of a back test: `tvps backtest ... --model "serve:python trainer.py"`, or `exec:`."""

import os
import sys

import lightgbm as lgb
import pandas as pd

label = os.environ["TVPS_LABEL"]


def fit(train, test, out):
    a, b = pd.read_parquet(train), pd.read_parquet(test)
    w, y = a.pop("weight"), a.pop(label)
    m = lgb.LGBMClassifier(n_estimators=100, verbose=-1, n_jobs=1, random_state=0).fit(a, y, sample_weight=w)
    pd.DataFrame(m.predict_proba(b), columns=[str(c) for c in m.classes_]).to_csv(out, index=False)


if len(sys.argv) == 4:
    fit(*sys.argv[1:])
else:
    for line in sys.stdin:
        fit(*line.rstrip("\n").split("\t"))
        print("ok", flush=True)
