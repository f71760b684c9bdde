"""A logistic regression, for `tvps backtest ... --model "exec:python data/table/examples/sklearn_trainer.py"`."""

import json
import os
import sys

import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

train, test = pd.read_parquet(sys.argv[1]), pd.read_parquet(sys.argv[2])
y, weight = train.pop(os.environ["TVPS_LABEL"]), train.pop("weight")
texts = list(train.select_dtypes(exclude=["number", "bool"]))
numbers = make_pipeline(SimpleImputer(), StandardScaler())
encoder = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), texts), remainder=numbers)
model = make_pipeline(encoder, LogisticRegression(max_iter=1000))
model.fit(train, y, logisticregression__sample_weight=weight)
predictions = pd.DataFrame(model.predict_proba(test), columns=json.loads(os.environ["TVPS_CLASSES"]))
predictions.to_parquet(sys.argv[3], index=False)
