"""Estimators and a splitter for scikit-learn, which only this module imports."""

from __future__ import annotations

import datetime
import numbers
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context, get_config
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import _safe_indexing, check_array, column_or_1d, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from . import _commands, _frames, _training

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _forget(estimator):
    """Delete the fitted attributes of an earlier fit, of which another may not set all."""
    for name in [name for name in vars(estimator) if name.endswith("_")]:
        delattr(estimator, name)


class TimeWeights(BaseEstimator):
    """A weight for each row, for `sample_weight`, as an estimator of scikit-learn: `weights` for X, y and time.

    kind: as of `weights`. "auto" is what a back test of test_model advises, which takes minutes; without y, which a
        back test needs, it is "covariate".
    bin, at, half_life, clip, seed, quiet: as of `weights`.
    test_model: model of the back test, as `model` of `backtest`; None: "logistic".
    gap: of that back test, how late outcomes are known: "7 days", a timedelta, or a number of blocks.
    flags: a dict of other flags of the command, as {"permutations": 0, "zone": "Europe/Paris"}.

    Fitted, it has sample_weight_ (mean 1 where not 0, 0 after T), details_ (a Details), feature_names_in_ and
    n_features_in_.

    >>> day = np.arange(90.0)
    >>> weights = TimeWeights("none", half_life=10).fit(day[:, None], time=day)
    >>> weights.sample_weight_[89] / weights.sample_weight_[79]
    np.float64(2.0)
    """

    __metadata_request__fit = {"time": True}

    def __init__(
        self, kind: str = "auto", *, bin: str | None = None, at: Any = None, half_life: float | None = None,
        clip: str | None = None, test_model: Any = None, gap: Any = None,
        seed: int | None = None, flags: dict[str, Any] | None = None, quiet: bool = True,
    ) -> None:
        self.kind = kind
        self.bin = bin
        self.at = at
        self.half_life = half_life
        self.clip = clip
        self.test_model = test_model
        self.gap = gap
        self.seed = seed
        self.flags = flags
        self.quiet = quiet

    def fit(self, X: Any, y: Any = None, time: Any = None, group: Any = None) -> TimeWeights:
        """Weigh the rows of X. time: the time of each row, as an array or a Series of dates or numbers. group: the entity
        of each row, such as a shop, if rows of one entity depend on each other."""
        _forget(self)
        self._take(X, y, time, group)
        self.sample_weight_, self.details_ = self._weigh(self.at)
        return self

    def _take(self, X, y, time, group):
        """Keep the rows as the frame that the program reads."""
        dimensions = np.ndim(time)
        if time is None or isinstance(time, str) or dimensions > 1:
            what = f"has {dimensions} dimensions" if dimensions > 1 else f"is {time!r}"
            raise ValueError(f"time {what}: give the time of each row, as in fit(X, y, time=table['date'])")
        try:
            columns = _frames.columns(X)
        except ValueError:  # not a frame
            columns = [(f"x{i}", c) for i, c in enumerate(check_array(X, dtype=None, ensure_all_finite=False).T)]
        self.feature_names_in_ = np.array([str(name) for name, _ in columns], dtype=object)
        self.n_features_in_ = len(columns)
        names = set(self.feature_names_in_)
        self._time, self._label, self._group = (_frames.unused(name, names) for name in ("time", "label", "group"))
        if len(names) < len(columns):
            twice = next(name for name in names if list(self.feature_names_in_).count(name) > 1)
            raise ValueError(f'X has several columns "{twice}": give each a name of its own')
        self._frame = dict(zip(self.feature_names_in_, (column for _, column in columns)))
        self._frame[self._time] = time
        if y is not None:
            self._frame[self._label] = y if _frames.is_categorical(y) else column_or_1d(y)
        if group is not None:
            self._frame[self._group] = group

    def _weigh(self, at):
        has_label = self._label in self._frame
        flags = dict(self._flags(), bin=self.bin, half_life=self.half_life, clip=self.clip)
        if self.kind == "auto" and has_label:
            flags.update(test_model=self.test_model, gap=_duration(self.gap))
        return _commands.weights(
            self._frame, self._time, self._label if has_label else None, at=at, seed=self.seed, quiet=self.quiet,
            kind=None if self.kind == "auto" and not has_label else self.kind, details=True, **flags,
        )

    def _flags(self):
        return {**({"group": self._group} if self._group in self._frame else {}), **(self.flags or {})}

    def weights(self, at: Any = None) -> NDArray[np.float64]:
        """Return the weights of the rows of fit for another T, from the rows up to it. None: sample_weight_.

        The rows of fit are kept for it, also in a pickle; a TimeWeighted drops them, and another T is a ValueError."""
        check_is_fitted(self, "sample_weight_")
        if at is None:
            return self.sample_weight_
        if not hasattr(self, "_frame"):
            raise ValueError("TimeWeighted keeps no rows: fit TimeWeights on them for the weights of another T")
        return self._weigh(at)[0]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the weights over time, as Details.plot."""
        check_is_fitted(self, "sample_weight_")
        return self.details_.plot(ax)


class TimeWeighted(BaseEstimator):
    """An estimator that is fitted with TimeWeights: on rows, outcomes and their times, for predictions after them.

    estimator: a classifier or regressor whose fit takes sample_weight, or a Pipeline whose last step does.
    Other arguments are those of TimeWeights; the back test of kind "auto" tests the estimator itself.

    Without time, or at predict, it is the estimator: all rows have equal weights. fit(sample_weight=) is multiplied by
    the weights. Rows without weight, such as those after T, take no part, not even in a scaler of a Pipeline, of which
    the last step alone gets the weights.
    Fitted, it has estimator_, with time weights_ (a TimeWeights), and the estimator's own fitted attributes.

    >>> from sklearn.linear_model import LinearRegression
    >>> day = np.arange(90.0)  # the slope was -1 for 60 days, and is 1 now
    >>> x, y = day % 7, (day % 7) * np.where(day < 60, -1, 1)
    >>> model = TimeWeighted(LinearRegression(), "none", half_life=5).fit(x[:, None], y, time=day)
    >>> model.coef_.round(1), LinearRegression().fit(x[:, None], y).coef_.round(1)
    (array([1.]), array([-0.3]))
    """

    __metadata_request__fit = {"time": True}

    def __init__(
        self, estimator: Any, kind: str = "auto", *, bin: str | None = None, at: Any = None,
        half_life: float | None = None, clip: str | None = None, gap: Any = None,
        seed: int | None = None, flags: dict[str, Any] | None = None, quiet: bool = True,
    ) -> None:
        self.estimator = estimator
        self.kind = kind
        self.bin = bin
        self.at = at
        self.half_life = half_life
        self.clip = clip
        self.gap = gap
        self.seed = seed
        self.flags = flags
        self.quiet = quiet

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, time: Any = None, group: Any = None) -> TimeWeighted:
        """Fit the weights, and the estimator with them. time: the time of each row; None: equal weights. group: its
        entity."""
        _forget(self)
        estimator = clone(self.estimator)
        if time is not None:
            _training.weight_keyword(estimator)  # before the weights are fitted
            given = self.get_params(deep=False)
            given["test_model"] = given.pop("estimator")
            kind = None if y is None else _training.label_kind(estimator)
            given["flags"] = {"label_kind": kind, **(self.flags or {})}
            self.weights_ = TimeWeights(**given).fit(X, y, time=time, group=group)
            del self.weights_._frame  # a fitted estimator does not keep what it learned from
            X, y, sample_weight = _weighted(X, y, sample_weight, self.weights_.sample_weight_)
        self.estimator_ = _fit(estimator, X, y, sample_weight)
        return self

    def __getattr__(self, name):
        """Return a method or a fitted attribute of the estimator. A clone's method says that it is not fitted."""
        methods = "predict", "predict_proba", "predict_log_proba", "decision_function", "transform", "score"
        if name not in methods and (not name.endswith("_") or name.startswith("_")):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        fitted = self.__dict__.get("estimator_")
        return getattr(clone(self.estimator) if fitted is None else fitted, name)

    def __sklearn_tags__(self):
        return get_tags(self.estimator)


def _weighted(X, y, sample_weight, weight):
    """Return the rows with weight, and their weights times sample_weight."""
    sample_weight = weight if sample_weight is None else weight * np.asarray(sample_weight)
    if weight.all():
        return X, y, sample_weight
    rows = np.flatnonzero(weight)
    return _safe_indexing(X, rows), None if y is None else _safe_indexing(y, rows), sample_weight[rows]


def _fit(estimator, X, y, sample_weight):
    """Fit an estimator, or a Pipeline whose last step alone gets the weights; None: without weights."""
    keywords = {} if sample_weight is None else {_training.weight_keyword(estimator): sample_weight}
    routing = get_config()["enable_metadata_routing"] and not any("__" in name for name in keywords)
    with config_context(enable_metadata_routing=routing):  # a Pipeline that routes takes no keyword of a step
        return estimator.fit(X, y, **keywords)


class Committee(TimeWeighted):
    """Copies of an estimator that learn from the past on several time scales, and whose predictions are mixed.

    A back test of the estimator says with which half-lives and windows, and with which shares: the rule `committee` of
    `backtest`, which is to be preferred to a single weighting where that says so. It takes minutes. Members whose share
    is below least_share are left out, and not trained.

    estimator: a classifier with predict_proba, or a regressor, as of TimeWeighted.
    bin, at, gap, seed, quiet: as of TimeWeights; T is the last time that is learned from.
    flags: a dict of other flags that both `weights` and `backtest` have, as {"drop": ["id"]}.
    workers: models that train at the same time in the back test; None: one for each processor.

    Without time it is the estimator, as TimeWeighted. Fitted with time it has members_ (fitted estimators), shares_ (sum
    1), weightings_ (their names) and backtest_ (a Backtest), next to classes_ of a classifier.
    """

    def __init__(
        self, estimator: Any, *, bin: str | None = None, at: Any = None, least_share: float = 0.01, gap: Any = None,
        workers: int | None = None, seed: int | None = None, flags: dict[str, Any] | None = None, quiet: bool = True,
    ) -> None:
        self.estimator = estimator
        self.bin = bin
        self.at = at
        self.gap = gap
        self.least_share = least_share
        self.workers = workers
        self.seed = seed
        self.flags = flags
        self.quiet = quiet

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, time: Any = None, group: Any = None) -> Committee:
        """Find the shares, and fit the members. time: the time of each row; None: fit the estimator alone. group: its
        entity."""
        _forget(self)
        if time is None:
            self.estimator_ = _fit(clone(self.estimator), X, y, sample_weight)
            return self
        if y is None:
            raise ValueError("y is None: give the outcome of each row, as in fit(X, y, time=time)")
        _training.weight_keyword(self.estimator)  # before the back test
        flags = {"label_kind": _training.label_kind(self.estimator), **(self.flags or {})}
        for name in ("last", "out", "reuse"):
            if name in flags:  # weights would refuse it after the back test
                raise TypeError(f"weights() got an unexpected keyword argument {name!r}")
        weights = TimeWeights("none", bin=self.bin, at=self.at, seed=self.seed, flags=flags, quiet=self.quiet)
        weights._take(X, y, time, group)
        self.backtest_ = _commands.backtest(
            weights._frame, weights._time, weights._label, model=self.estimator, rules=["committee"], kinds="none",
            at=self.at, bin=self.bin, workers=self.workers, seed=self.seed, quiet=self.quiet,
            gap=_duration(self.gap), **weights._flags(),
        )
        rule = next(rule for rule in self.backtest_.json["rules"] if rule["rule"] == "committee")
        kept = [member for member in rule["members"] if member["share"] >= self.least_share] or rule["members"][:1]
        self.weightings_ = [member["weighting"] for member in kept]
        self.shares_ = np.array([member["share"] for member in kept])
        self.shares_ /= self.shares_.sum()
        self.members_ = []
        for member in kept:
            scale = {"window": member["window"] or None}
            weights.set_params(half_life=member["half-life"] or None, flags={**flags, **scale})
            rows, outcomes, weight = _weighted(X, y, sample_weight, weights._weigh(self.at)[0])
            estimator = clone(self.estimator)
            if is_classifier(estimator) and len(np.unique(outcomes)) == 1:
                estimator = DummyClassifier()  # few estimators learn from one class
            self.members_.append(_fit(estimator, rows, outcomes, weight))
        self.estimator_ = _Mixture(self.members_, self.shares_)
        return self


class _Mixture:
    """The mean prediction of fitted estimators."""

    def __init__(self, members, shares):
        self.members, self.shares = members, shares
        for name in ("n_features_in_", "feature_names_in_"):
            if found := [getattr(member, name) for member in members if hasattr(member, name)]:
                setattr(self, name, found[0])
        if is_classifier(members[0]):
            self.classes_ = np.unique(np.concatenate([member.classes_ for member in members]))

    def predict(self, X):
        """Return the most probable classes, or the mean of the numbers."""
        if hasattr(self, "classes_"):
            return self.classes_[self.predict_proba(X).argmax(axis=1)]
        return sum(share * member.predict(X) for member, share in zip(self.members, self.shares))

    @available_if(lambda self: hasattr(self, "classes_"))
    def predict_proba(self, X):
        """Return the mean probability of each of classes_. A class that a member has not seen has 0 there."""
        total = 0
        for member, share in zip(self.members, self.shares):
            found = share * member.predict_proba(X)
            table = np.zeros((len(found), len(self.classes_)))
            table[:, np.searchsorted(self.classes_, member.classes_)] = found
            total = total + table
        return total

    def score(self, X, y, sample_weight=None):
        """Return the accuracy, or R2 of a regressor."""
        score = accuracy_score if hasattr(self, "classes_") else r2_score
        return score(y, self.predict(X), sample_weight=sample_weight)


class TemporalSplit(BaseCrossValidator):
    """Splits for `cross_val_score` by time: each block of times is predicted from all that were before.

    The rows, in any order, are cut into n_splits + 1 blocks of about as many rows, never within a time. The k-th split
    trains on the first k blocks and tests on the next. Times are dates or numbers, one a row.

    gap: nothing from so long before a test block is learned from, as outcomes are often known late: "7 days", a
        timedelta, or a number where times are numbers. None: no gap.

    `cross_val_score(model, X, y, cv=TemporalSplit(), groups=time)`; for a model that takes times as well, add
    `params={"time": time}`. With scikit-learn's metadata routing enabled `params={"time": time}` alone is for both.
    `group=`, the entity of each row, keeps entities whole: each split tests other entities, from which it learns nothing.

    >>> month = np.array(["2024-01", "2024-02", "2024-03", "2024-04", "2024-05"], "datetime64[M]")
    >>> for train, test in TemporalSplit(2, gap="31 days").split(month, time=month):
    ...     print(train, test)
    [0] [2 3]
    [0 1 2] [4]
    """

    __metadata_request__split = {"time": True, "group": True}

    def __init__(self, n_splits: int = 5, *, gap: Any = None) -> None:
        self.n_splits = n_splits
        self.gap = gap

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, time: Any = None, group: Any = None) -> int:
        """Return the number of splits."""
        return self.n_splits

    def split(
        self, X: Any, y: Any = None, groups: Any = None, time: Any = None, group: Any = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield the rows to train on and the rows to test, n_splits times. time, or else groups: the time of each row.
        group: its entity; None: entities are not minded.

        Raise ValueError if there are fewer than n_splits + 1 times, a row has none, a test block has no past before the
        gap, or there are fewer entities than splits.
        """
        time = groups if time is None else time
        if time is None:
            raise ValueError("TemporalSplit needs the time of each row: give groups=time to cross_val_score")
        moments = _frames.moments(time)
        check_consistent_length(X, moments)
        if missing := np.flatnonzero(moments != moments).tolist():
            raise ValueError(f"row {missing[0] + 1} has no time: leave it out")
        values, position, counts = np.unique(moments, return_inverse=True, return_counts=True)
        if self.gap and _frames.seem_dates(values):
            raise ValueError(
                f"the times seem to be dates written as numbers, as {values[0]}, from which no gap can be taken: make "
                'them dates first, as pandas.to_datetime(time, format="%Y%m%d") does'
            )
        if not 1 <= self.n_splits < len(values):
            raise ValueError(f"n_splits is {self.n_splits}: {len(values)} different times allow 1 to {len(values) - 1}")
        share = np.zeros(len(moments), dtype=int) if group is None else self._shares(group)
        past, first = np.cumsum(counts), 0
        ends = []
        for k in range(1, self.n_splits + 1):
            end = int(np.searchsorted(past, k * len(moments) / (self.n_splits + 1))) + 1
            first = int(np.clip(end, first + 1, len(values) - self.n_splits - 1 + k))
            ends.append(first)
        for k, (begin, end) in enumerate(zip(ends, [*ends[1:], len(values)])):
            learned = moments < values[begin] - _step(self.gap, values.dtype)
            tested = (position >= begin) & (position < end)
            if group is not None:
                learned, tested = learned & (share != k), tested & (share == k)
            if not learned.any() or not tested.any():
                raise ValueError(
                    f"split {k + 1} has no row to {'test' if learned.any() else 'learn from'}: "
                    "give fewer splits, a shorter gap or no group"
                )
            yield np.flatnonzero(learned), np.flatnonzero(tested)

    def _shares(self, group: Any) -> NDArray[np.intp]:
        """Return the split that tests each row, by its entity."""
        names, entity = np.unique(np.asarray(group).astype(str), return_inverse=True)
        if len(names) < self.n_splits:
            raise ValueError(f"n_splits is {self.n_splits}, but there are {len(names)} entities: give as many or more")
        return entity % self.n_splits


def _step(gap: Any, dtype: np.dtype[Any]) -> Any:
    """Return a gap as what can be taken from times of a type."""
    dates = dtype.kind == "M"
    if gap is None:
        return np.timedelta64(0, "s") if dates else 0
    if dates and isinstance(gap, str) and (words := re.fullmatch(r" *(\d+) *(second|minute|hour|day|week)s? *", gap)):
        return int(words[1]) * np.timedelta64(datetime.timedelta(**{words[2] + "s": 1}))
    if dates and isinstance(gap, (datetime.timedelta, np.timedelta64)):
        return np.timedelta64(gap, "us")
    if not dates and isinstance(gap, numbers.Real):
        return gap
    what = 'a duration such as "7 days", as the times are dates' if dates else "a number, as the times are numbers"
    raise ValueError(f"gap is {gap!r}: give {what}")


def _duration(gap: Any) -> Any:
    """Return a gap as the program reads it."""
    if isinstance(gap, (datetime.timedelta, np.timedelta64)):
        return f"{np.timedelta64(gap, 's').astype(int) / 3600:g} hours"
    return gap
