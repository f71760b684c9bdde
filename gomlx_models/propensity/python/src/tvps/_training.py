"""Trainers for `tvps backtest --model exec:...` and serve:..., and estimators that are served."""

import copy
import hashlib
import inspect
import json
import os
import pickle
import shlex
import sys
import traceback
from pathlib import Path

import numpy as np

from . import _binary


def trainer(fit_predict):
    """Make a function a trainer: a script that ends with `tvps.trainer(fit_predict)` works as `exec:python SCRIPT` and
    as `serve:python SCRIPT`. With three arguments (TRAIN TEST OUT) it trains once; without, it answers the lines of
    stdin until it ends. It needs pandas.

    fit_predict(x, y, weight, test) trains a model on the DataFrame x, the Series y and the array of weights, and
    returns predictions for the DataFrame test: a number a row (for two classes: the probability of the second); an
    array (rows, classes) of probabilities in the order of the classes; or a DataFrame with a column for each class.
    Texts in x and test are pandas categories with the levels of x; they have no column of times.
    TVPS_TASK is `class` or `number`, TVPS_CLASSES a JSON list of the classes, both in os.environ.
    """
    arguments = sys.argv[1:]
    if len(arguments) == 3:
        _answer(fit_predict, *arguments)
        return
    if arguments:
        sys.exit(f"{sys.argv[0]} takes TRAIN TEST OUT, or nothing, but got {len(arguments)} arguments")
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints to stdout must not be taken for an answer
    for line in sys.stdin:
        answer = "ok"
        try:
            _answer(fit_predict, *line.rstrip("\n").split("\t"))
        except Exception as error:
            traceback.print_exc()
            answer = " ".join(f"{type(error).__name__}: {error}".split())
        print(answer, file=channel, flush=True)


def _answer(fit_predict, train, test, out):
    """Train on one file, and write the predictions for another."""
    import pandas

    x, test = pandas.read_parquet(train), pandas.read_parquet(test)
    y, weight = x.pop(os.environ["TVPS_LABEL"]), x.pop("weight").to_numpy()
    for name in x:
        if not pandas.api.types.is_numeric_dtype(x[name]):
            x[name] = x[name].astype("category")
            known = test[name].isin(x[name].cat.categories)
            test[name] = test[name].where(known).astype(x[name].dtype)
    predictions = fit_predict(x, y, weight, test)
    if not isinstance(predictions, pandas.DataFrame):
        predictions = np.asarray(predictions)
        names = ["prediction"] if predictions.ndim == 1 else json.loads(os.environ["TVPS_CLASSES"])
        predictions = pandas.DataFrame(predictions, columns=names)
    predictions.rename(columns=str).to_parquet(out, index=False)


def served(model):
    """Return the value of --model for a model, and the environment that it needs. An estimator or a function is pickled
    to the cache folder under a name of its content, so that a repeated back test finds its runs again."""
    if model is None or isinstance(model, str):
        return model, None
    if isinstance(model, type):
        raise ValueError(f"the model is the class {model.__name__}: give an estimator, as {model.__name__}()")
    if hasattr(model, "fit"):
        weight_keyword(model)
    elif not callable(model):
        raise ValueError(f"the model {model!r} is neither a text nor an estimator nor a function")
    try:
        import cloudpickle as pickler  # also takes what is defined in a notebook
    except ImportError:
        pickler = pickle
    try:
        data = pickler.dumps(model)
    except Exception as error:
        raise ValueError(
            f"the model cannot be pickled ({error}): define it in a module, install cloudpickle, "
            "or write a script with tvps.trainer"
        ) from error
    path = _binary.cache() / "models" / f"{hashlib.sha256(data + _sources(model)).hexdigest()[:16]}.pickle"
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(f".{os.getpid()}")
    new.write_bytes(data)
    new.replace(path)
    command = shlex.join([sys.executable, "-m", "tvps._serve", str(path)])
    path = os.pathsep.join(os.path.abspath(folder) for folder in sys.path)
    threads = os.environ.get("OMP_NUM_THREADS", "1")  # workers are parallel
    return f"serve:{command} # {_name(model)}", {"PYTHONPATH": path, "OMP_NUM_THREADS": threads}


def _sources(model):
    """Return the content of the files, of no installed package, that define a model or a part of it: a pickle has only
    the name of what can be imported."""
    parts = [model, getattr(model, "func", None)]
    if hasattr(model, "get_params"):
        parts += model.get_params().values()
    modules = {part.__module__ if hasattr(part, "__qualname__") else type(part).__module__ for part in parts}
    files = sorted(str(getattr(sys.modules.get(name), "__file__", None)) for name in modules)
    return b"".join(
        Path(file).read_bytes() for file in files if file.endswith(".py") and "site-packages" not in Path(file).parts
    )


def _name(model):
    """Return the name of a model in reports: the classes of an estimator, or the name of a function."""
    if hasattr(model, "fit"):
        steps = [step for _, step in getattr(model, "steps", ())] or [model]
        return " + ".join(step if isinstance(step, str) else type(step).__name__ for step in steps)
    return getattr(model, "__name__", type(model).__name__)


def weight_keyword(model):
    """Return the keyword of an estimator's fit that takes the weights: of a Pipeline that of its last step.

    Raise ValueError if fit takes none.
    """
    if steps := getattr(model, "steps", None):
        return f"{steps[-1][0]}__{weight_keyword(steps[-1][1])}"
    parameters = inspect.signature(model.fit).parameters.values()
    if not any(p.name == "sample_weight" or p.kind == p.VAR_KEYWORD for p in parameters):
        raise ValueError(f"{type(model).__name__}.fit takes no sample_weight, so weights cannot change the model")
    return "sample_weight"


def label_kind(model):
    """Return what an estimator, or the last step of a Pipeline, predicts: "class" or "number"; None: unknown."""
    if steps := getattr(model, "steps", None):
        return label_kind(steps[-1][1])
    try:
        kind = model.__sklearn_tags__().estimator_type
    except AttributeError:  # scikit-learn before 1.6, or a class that only looks like its own
        kind = getattr(model, "_estimator_type", None)
    if kind == "classifier" or kind is None and hasattr(model, "predict_proba"):
        return "class"
    return "number" if kind == "regressor" else None


def of_estimator(estimator):
    """Return the fit_predict of an estimator."""

    def fit_predict(x, y, weight, test):
        import pandas

        number = os.environ["TVPS_TASK"] == "number"
        if not number and y.nunique() == 1:  # no classifier learns from one class
            return pandas.DataFrame(np.ones((len(test), 1)), columns=y.unique())
        model = copy.deepcopy(estimator)
        model.fit(x, y, **{weight_keyword(model): weight})
        if number:
            return model.predict(test)
        return pandas.DataFrame(model.predict_proba(test), columns=model.classes_)  # the program knows 1.0 and True

    return fit_predict
