"""The program's commands on a frame."""

from __future__ import annotations

import ast
import datetime
import json
import re
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from . import _binary, _frames, _plot, _training

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]


class Details(NamedTuple):
    """What `weights` knows apart from the weights."""

    log_omega: Floats  # of every row of the frame; NaN for rows after T
    spread: Floats  # of log omega over the ensemble; NaN for rows after T
    json: dict[str, Any]  # settings, schema and diagnostics: held-out loss, test for drift, effective share, notes
    weight: Floats  # of every row of the frame; 0 for rows after T
    time: Any  # the column of the time; None without

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the weights of the rows up to T over time: their mean, and a band with 80% of them. Return matplotlib's
        axes: ax, or new ones."""
        rows = np.flatnonzero(~np.isnan(self.log_omega))
        time = np.arange(len(self.weight)) if self.time is None else _frames.moments(self.time)
        return _plot.weights(ax, time[rows], self.weight[rows])


class _Answer:
    """An answer that shows itself: its verdict as text, in Jupyter with its plot. json is all that the program wrote."""

    json: dict[str, Any]
    verdict: str

    def __repr__(self) -> str:
        return self.verdict

    def _repr_html_(self) -> str:
        return _plot.html(self.verdict, self.plot)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the answer. Return matplotlib's axes: ax, or new ones."""
        raise NotImplementedError


class Drift(_Answer):
    """Whether, when and where a frame has drifted. Jupyter shows the verdict and the plot.

    verdict: the answer in one sentence.
    found: what drifts, of "x", "y" and "y given x".
    columns: a row for each column, with its share of log omega, the largest first: where. A pandas DataFrame if the
        frame was one, otherwise a dict of arrays.
    when: a row for each block of time, of the same type: how much it resembles the present (1: alike), and whether a
        test finds that its stretch of time differs from the present.
    json: everything, as the program wrote it.
    """

    def __init__(self, result: dict[str, Any], table: Callable[[list[dict[str, Any]]], Any]) -> None:
        self.json, self.verdict = result, result["verdict"]["sentence"]
        self.found: list[str] = result["verdict"]["drift"] or []
        self.columns = table([{"column": c["column"], "share": c["share"]} for c in result["columns"]["list"]])
        alike = result["maps"][min(1, len(result["maps"]) - 1)]["worth"][-1]  # in all that a row has
        stretches, list_ = result["tests"]["stretches"], result["tests"]["list"] or []
        changed = {stretches[t["stretch"]]["name"] for t in list_ if t["against"] == "present" and t["drift"]}
        names, self._rows, differs = {stretch["name"] for stretch in stretches}, [], False
        for block, like in zip(result["blocks"], alike):
            differs = block["name"] in changed if block["name"] in names else differs
            self._rows.append({"time": block["name"], "rows": block["rows"], "alike": like, "differs": differs})
        self.when = table(self._rows)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot how much each block of time resembles the present, dark where a test finds a difference. Return
        matplotlib's axes: ax, or new ones."""
        return _plot.likeness(ax, self._rows)


class Backtest(_Answer):
    """A back test. Jupyter shows the verdict and the plot.

    rules: a row for each rule, with its scores and its difference in loss from uniform weights and from tuned
        forgetting, with 95% intervals. A pandas DataFrame if the frame was one, otherwise a dict of arrays.
    blocks: a row for each tested time, with the loss of every rule, of the same type.
    verdict: the verdict in one sentence.
    json: everything, as the program wrote it.
    """

    def __init__(self, result: dict[str, Any], table: Callable[[list[dict[str, Any]]], Any]) -> None:
        self.json, self.verdict = result, result["verdict"]["sentence"]
        self.rules = table([_flat(rule) for rule in result["rules"]])
        blocks = [{key: value for key, value in block.items() if key != "scores"} for block in result["blocks"]]
        self.blocks = table([{**b, **full["scores"]} for b, full in zip(blocks, result["blocks"])])

    def __repr__(self) -> str:
        return f"{self.rules}\n{self.verdict}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the loss of each rule, with the 95% interval of its difference from equal weights. Return matplotlib's
        axes: ax, or new ones."""
        return _plot.losses(ax, self.json["rules"], self.json["metric"])


@overload
def weights(
    frame: Any, time: str | None = None, label: str | None = None, *, details: Literal[False] = False, **flags: Any
) -> Floats: ...
@overload
def weights(
    frame: Any, time: str | None = None, label: str | None = None, *, details: Literal[True], **flags: Any
) -> tuple[Floats, Details]: ...
def weights(
    frame: Any,
    time: str | None = None,
    label: str | None = None,
    *,
    at: Any = None,
    kind: str | None = None,
    bin: str | None = None,
    drop: str | list[str] | None = None,
    half_life: float | None = None,
    clip: str | None = None,
    test_model: Any = None,
    seed: int | None = None,
    unseen: Any = None,
    details: bool = False,
    quiet: bool = False,
    **flags: Any,
) -> Floats | tuple[Floats, Details]:
    """Return a weight for each row of a frame, in its order, for `sample_weight`.

    The weights have mean 1 over the rows that have any. Rows after T, or without a label, have weight 0 and
    change nothing. With kind="covariate" rows without a label are learned from.

    time: column of the time (or level of a pandas index); None: the index of a pandas frame if it has dates or periods,
        otherwise the rows are in time order, and bin cuts them.
    label: column of the outcome; None: there is none.
    at: T, a date or a text such as "2024-06" (inside a bin: all of the bin); None: the last time.
    kind: "conditional" (drift of y given x), "joint" (of x and y), "covariate" (of x), "none" (forgetting alone), or
        "auto": what a back test of test_model (as model of `backtest`) on the rows up to T advises. None: conditional
        with a label, otherwise covariate.
    bin: grouping of times: "day", "week", "month", ..., "365 rows" or "20 blocks".
    drop: columns to leave out. half_life: of forgetting on top, in units of time.
    clip: of omega: "min1", "exp1" or "none". seed: of all random numbers.
    unseen: rows that nothing is learned from, as a bool for each row, or a column of them. g has not seen them, as if
        they were new; they are weighted on the scale of the others.
    details: return (weights, Details) instead. quiet: print nothing.
    flags: other flags of the command, with _ for -: permutations=0, zone="Europe/Paris", type={"zip": "category"}.

    Raise ValueError if the frame, the model or the request has a mistake, TypeError if there is no such flag,
    RuntimeError if the program fails.

    >>> day = np.arange(90)  # y was the sign of -x for 60 days, and is that of x now
    >>> x = np.where(day % 2, 1.0, -1.0) * (1 + day % 3)
    >>> frame = {"day": day, "x": x, "y": (x > 0) == (day >= 60)}
    >>> weight = weights(frame, "day", "y", kind="none", half_life=10, permutations=0, quiet=True)
    >>> weight.mean().round(6), weight[89] / weight[79]
    (np.float64(1.0), np.float64(2.0))
    """
    served, environment = _training.served(test_model)
    flags.setdefault("label_kind", None if label is None else _training.label_kind(test_model))
    with tempfile.TemporaryDirectory(prefix="tvps-") as folder:
        out, report = Path(folder, "weights.csv"), Path(folder, "weights.json")
        given = dict(at=at, kind=kind, bin=bin, drop=drop, half_life=half_life, clip=clip, seed=seed)
        given.update({"results": _results(), **flags}, test_model=served, out=out, json=report)
        written = _run("weights", frame, time, label, given, Path(folder), quiet, environment, unseen)
        table = np.loadtxt(out, delimiter=",", skiprows=1, ndmin=2)
        result = _read(report)
    _warn(written, result)
    weight, log_omega, spread = np.zeros(written.rows), *np.full((2, written.rows), np.nan)
    row = table[:, 0].astype(int) - 1
    weight[row], log_omega[row], spread[row] = table[:, 1:].T
    times = written.columns.get(written.time)
    return (weight, Details(log_omega, spread, result, weight, times)) if details else weight


def drift(
    frame: Any,
    time: str | None = None,
    label: str | None = None,
    *,
    bin: str | None = None,
    drop: str | list[str] | None = None,
    seed: int | None = None,
    out: str | Path | None = None,
    quiet: bool = False,
    **flags: Any,
) -> Drift:
    """Say whether, when and where a frame has drifted: return a Drift.

    out: folder for the page with the charts; None: it is not kept. Other arguments and errors as for `weights`.

    >>> day = np.arange(90)  # x is larger from day 60 on
    >>> found = drift({"day": day, "x": day % 7 + 9.0 * (day >= 60)}, "day", updates=30, quiet=True)
    >>> found.found, found.columns["column"].tolist()
    (['x'], ['x'])
    """
    with tempfile.TemporaryDirectory(prefix="tvps-") as folder:
        report = Path(folder, "drift.json")
        given = dict(flags, bin=bin, drop=drop, seed=seed, json=report, out=out or Path(folder, "page"))
        written = _run("drift", frame, time, label, given, Path(folder), quiet)
        return Drift(_read(report), _tables(written))


def backtest(
    frame: Any,
    time: str | None = None,
    label: str | None = None,
    *,
    model: Any = None,
    rules: str | list[str] | None = None,
    kinds: str | list[str] | None = None,
    at: Any = None,
    last: int | None = None,
    bin: str | None = None,
    drop: str | list[str] | None = None,
    workers: int | None = None,
    results: str | Path | None = None,
    out: str | Path | None = None,
    seed: int | None = None,
    quiet: bool = False,
    **flags: Any,
) -> Backtest:
    """Say whether weights would have helped on a frame, and which: return a Backtest.

    For each block of time a model learns from all earlier blocks, with the weights of each rule, and predicts it.

    model: "logistic" (the default), "exec:COMMAND", "serve:COMMAND", an estimator like scikit-learn's (a
        classifier with predict_proba, a regressor, or a Pipeline whose last step takes sample_weight), or a function
        fit_predict as in `trainer`. An estimator or a function must be picklable: it is fitted in other processes, one
        a worker, which need pandas. An estimator's type says whether the label is a class, unless label_kind= does.
    rules: rules besides those of kinds, as ["last", "committee"]; None: the defaults.
    kinds: of omega, as ["conditional"], or "none"; None: all.
    at: the last test block, as text or date; None: the last one. last: number of test blocks.
    workers: number of models that train at the same time; None: one for each processor.
    results: folder of the finished blocks, where a back test that was interrupted continues and, with reuse=True, a
        repeated one finds its results; None: in the cache folder. out: folder for the page with the charts; None: it is
        not kept.
    Other arguments and errors as for `weights`.

    >>> day = np.arange(90)  # y was the sign of -x for 60 days, and is that of x now
    >>> x = np.where(day % 2, 1.0, -1.0) * (1 + day % 3)
    >>> frame = {"day": day, "x": x, "y": (x > 0) == (day >= 60)}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     test = backtest(frame, "day", "y", bin="9 rows", kinds="none", results=folder, quiet=True)
    >>> loss = dict(zip(test.rules["rule"].tolist(), test.rules["log_loss"]))
    >>> bool(loss["last"] < loss["uniform"])
    True
    """
    served, environment = _training.served(model)
    flags.setdefault("label_kind", None if label is None else _training.label_kind(model))
    with tempfile.TemporaryDirectory(prefix="tvps-") as folder:
        report = Path(folder, "backtest.json")
        given = dict(flags, model=served, rules=rules, kinds=kinds, at=at, last=last, bin=bin, drop=drop)
        given.update(workers=workers, seed=seed, json=report)
        given.update(results=results or _results(), out=out or Path(folder, "page"))
        written = _run("backtest", frame, time, label, given, Path(folder), quiet, environment)
        return Backtest(_read(report), _tables(written))


def _tables(written):
    """Return what makes a table of rows, of the type of the frame: of pandas, or a dict of arrays."""
    return sys.modules["pandas"].DataFrame if written.kind == "pandas" else _arrays


def _warn(written, result):
    """Warn of classes, and of levels of categories, that were read as missing values, as NA is."""
    names = [*written.categories, written.label]
    for note in result["schema"].get("notes") or []:
        if "missing by their texts" in note and any(f' {name} "' in note for name in names):
            warnings.warn(f'{note}; missing=[""] keeps them', stacklevel=3)


def _results():
    """Return the folder of the runs of back tests."""
    return _binary.cache() / "results"


def _run(command, frame, time, label, flags, folder, quiet, environment=None, unseen=None):
    """Run a command on a frame, which is returned as it was written."""
    written = _frames.Written(frame, folder, time, label, unseen)
    time, label, flags["unseen"] = written.time, written.label, written.unseen
    kinds = {name: "category" for name in written.categories if name not in (time, flags.get("group"))}
    flags["type"] = {**kinds, **(flags.get("type") or {})}
    zone = written.zones.get(time)
    if zone and zone[0] not in "+-":  # not an offset such as +02:00
        flags.setdefault("zone", zone)
    arguments = [command, str(written.path), *_flags({"time": time, "label": label, **flags})]
    try:
        _binary.run(arguments, written.path, quiet, environment)
    except ValueError as error:
        if unknown := re.match("unknown flag: --([\\w-]+)", str(error)):
            name = unknown[1].replace("-", "_")
            raise TypeError(f"{command}() got an unexpected keyword argument {name!r}") from None
        raise
    except RuntimeError as error:
        if environment and (answer := re.search(r'answered ("(?:[^"\\]|\\.)*")', str(error))):
            raise ValueError(f"the model failed: {ast.literal_eval(answer[1])}") from None
        model = flags.get("model") or flags.get("test_model")
        if environment and str(model) in str(error):
            raise ValueError(str(error).replace(f'"{model}"', model.split(" # ")[-1])) from None
        raise
    return written


def _flags(given):
    """Turn keywords into flags: half_life=2 is --half-life=2, a list or a dict is a flag for each of its entries."""
    out = []
    for key, value in given.items():
        name = "--" + key.replace("_", "-")
        if isinstance(value, dict):
            for column, kind in value.items():
                if "=" in str(column):
                    raise ValueError(f'column "{column}" has = in its name, which {key} cannot take: rename it')
                out.append(f"{name}={column}={kind}")
        elif isinstance(value, (list, tuple, set)):
            out += [f"{name}={_quoted(str(entry))}" for entry in value]
        elif isinstance(value, bool):
            out.append(f"{name}={str(value).lower()}")
        elif key == "drop" and value is not None:
            out.append(f"{name}={_quoted(str(value))}")
        elif isinstance(value, (datetime.date, datetime.datetime)):
            out.append(f"{name}={value.isoformat()}")
        elif value is not None:
            out.append(f"{name}={value}")
    return out


def _quoted(entry):
    """Quote an entry of a flag that takes a list with commas."""
    return '"' + entry.replace('"', '""') + '"' if entry == "" or any(c in entry for c in ',"\n') else entry


def _read(report):
    """Read a JSON file of the program, without the paths of temporary files."""
    result = json.loads(report.read_text(encoding="utf-8"))
    for part in (result, result.get("schema")):
        if isinstance(part, dict) and "file" in part:
            part["file"] = "frame"
    if "model" in result:
        result["model"] = result["model"].split(" # ")[-1]  # the name of an estimator
    return result


def _flat(rule):
    """Flatten a rule of a back test: {"against-uniform": {"mean": 1, "low": 0}} is against_uniform=1,
    against_uniform_low=0; scores have their own names. Lists stay in the JSON."""
    row = {}
    for key, value in rule.items():
        name = key.replace("-", "_")
        if not isinstance(value, (dict, list)):
            row[name] = value
        for part, number in value.items() if isinstance(value, dict) else ():
            part = part.replace("-", "_")
            row[part if name == "scores" else name if part == "mean" else f"{name}_{part}"] = number
    return row


def _arrays(rows):
    """Turn dicts into a dict of arrays; what a dict lacks is NaN among numbers, otherwise None."""
    out = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        values = [row.get(name) for row in rows]
        numbers = all(v is None or isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)
        out[name] = np.array(values, dtype=float if numbers else object)  # None becomes NaN among numbers
    return out
