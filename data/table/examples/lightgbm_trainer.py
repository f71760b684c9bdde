"""Boosted trees of LightGBM, for `tvps backtest ... --model "exec:python data/table/examples/lightgbm_trainer.py"`."""

import json
import os
import sys

import lightgbm
import pandas as pd

train, test = pd.read_parquet(sys.argv[1]), pd.read_parquet(sys.argv[2])
y, weight = train.pop(os.environ["TVPS_LABEL"]), train.pop("weight")
texts = list(train.select_dtypes(exclude=["number", "bool"]))
train[texts], test[texts] = train[texts].astype("category"), test[texts].astype("category")
model = lightgbm.LGBMClassifier(n_estimators=100, num_leaves=15, learning_rate=0.05, verbose=-1)
model.fit(train, y, sample_weight=weight)
predictions = pd.DataFrame(model.predict_proba(test), columns=json.loads(os.environ["TVPS_CLASSES"]))
predictions.to_parquet(sys.argv[3], index=False)
