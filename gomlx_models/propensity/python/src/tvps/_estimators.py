"""Estimators and a splitter for scikit-learn, which only this module imports."""

import numpy as np
from sklearn import config_context, get_config
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import _safe_indexing, check_array, column_or_1d, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from . import _commands, _frames, _training


class TimeWeights(BaseEstimator):
    """A weight for each row, for `sample_weight`, as an estimator of scikit-learn: `weights` for X, y and time.

    kind: as of `weights`. "auto" is what a back test of test_model advises, which takes minutes; without y, which a
        back test needs, it is "covariate".
    bin, at, half_life, floor, clip, seed, quiet: as of `weights`.
    test_model: model of the back test, as `model` of `backtest`; None: "logistic".
    flags: a dict of other flags of the command, as {"permutations": 0, "zone": "Europe/Paris"}.

    Fitted, it has sample_weight_ (mean 1 over the rows up to T, 0 after), details_ (a Details), feature_names_in_ and
    n_features_in_.
    """

    __metadata_request__fit = {"time": True}

    def __init__(
        self, kind="auto", *, bin=None, at=None, half_life=None, floor=None, clip=None, test_model=None, seed=None,
        flags=None, quiet=True,
    ):
        self.kind = kind
        self.bin = bin
        self.at = at
        self.half_life = half_life
        self.floor = floor
        self.clip = clip
        self.test_model = test_model
        self.seed = seed
        self.flags = flags
        self.quiet = quiet

    def fit(self, X, y=None, time=None):
        """Weigh the rows of X. time: the time of each row, as an array or a Series of dates or numbers."""
        if time is None or isinstance(time, str):
            raise ValueError(f"time is {time!r}: give the time of each row, as in fit(X, y, time=table['date'])")
        try:
            columns = _frames.columns(X)
        except ValueError:  # not a frame
            columns = [(f"x{i}", c) for i, c in enumerate(check_array(X, dtype=None, ensure_all_finite=False).T)]
        self.feature_names_in_ = np.array([str(name) for name, _ in columns], dtype=object)
        self.n_features_in_ = len(columns)
        names = set(self.feature_names_in_)
        self._time, self._label = ("_" * (name in names) + name for name in ("time", "label"))
        self._frame = dict(zip(self.feature_names_in_, (column for _, column in columns)))
        self._frame[self._time] = time
        if y is not None:
            self._frame[self._label] = column_or_1d(y)
        self.sample_weight_, self.details_ = self._weigh(self.at)
        return self

    def _weigh(self, at):
        has_label = self._label in self._frame
        flags = dict(self.flags or {}, bin=self.bin, half_life=self.half_life, floor=self.floor, clip=self.clip)
        if self.kind == "auto" and has_label:
            flags["test_model"] = self.test_model
        return _commands.weights(
            self._frame, self._time, self._label if has_label else None, at=at, seed=self.seed, quiet=self.quiet,
            kind=None if self.kind == "auto" and not has_label else self.kind, details=True, **flags,
        )

    def weights(self, at=None):
        """Return the weights of the rows of fit for another T, from the rows up to it. None: sample_weight_."""
        check_is_fitted(self)
        return self.sample_weight_ if at is None else self._weigh(at)[0]

    def plot(self, ax=None):
        """Plot the weights over time, as Details.plot."""
        check_is_fitted(self)
        return self.details_.plot(ax)


class TimeWeighted(BaseEstimator):
    """An estimator that is fitted with TimeWeights: on rows, outcomes and their times, for predictions after them.

    estimator: a classifier or regressor whose fit takes sample_weight, or a Pipeline whose last step does.
    Other arguments are those of TimeWeights; the back test of kind "auto" tests the estimator itself.

    Without time, or at predict, it is the estimator: all rows have equal weights. fit(sample_weight=) is multiplied by
    the weights. Rows without weight, such as those after T, take no part, not even in a scaler of a Pipeline, of which
    the last step alone gets the weights.
    Fitted, it has estimator_, with time weights_ (a TimeWeights), and the estimator's own fitted attributes.
    """

    __metadata_request__fit = {"time": True}

    def __init__(
        self, estimator, kind="auto", *, bin=None, at=None, half_life=None, floor=None, clip=None, seed=None,
        flags=None, quiet=True,
    ):
        self.estimator = estimator
        self.kind = kind
        self.bin = bin
        self.at = at
        self.half_life = half_life
        self.floor = floor
        self.clip = clip
        self.seed = seed
        self.flags = flags
        self.quiet = quiet

    def fit(self, X, y=None, sample_weight=None, time=None):
        """Fit the weights, and the estimator with them. time: the time of each row; None: equal weights."""
        estimator = clone(self.estimator)
        if time is not None:
            _training.weight_keyword(estimator)  # before the weights are fitted
            given = self.get_params(deep=False)
            given["test_model"] = given.pop("estimator")
            given["flags"] = {"label_kind": "class" if is_classifier(estimator) else "number", **(self.flags or {})}
            self.weights_ = TimeWeights(**given).fit(X, y, time=time)
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
    return _safe_indexing(X, rows), _safe_indexing(y, rows), sample_weight[rows]


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
    bin, at, seed, quiet: as of TimeWeights; T is the last time that is learned from.
    flags: a dict of other flags that both `weights` and `backtest` have, as {"drop": ["id"]}.
    workers: models that train at the same time in the back test; None: one for each processor.

    Without time it is the estimator, as TimeWeighted. Fitted with time it has members_ (fitted estimators), shares_ (sum
    1), weightings_ (their names) and backtest_ (a Backtest), next to classes_ of a classifier.
    """

    def __init__(
        self, estimator, *, bin=None, at=None, least_share=0.01, workers=None, seed=None, flags=None, quiet=True,
    ):
        self.estimator = estimator
        self.bin = bin
        self.at = at
        self.least_share = least_share
        self.workers = workers
        self.seed = seed
        self.flags = flags
        self.quiet = quiet

    def fit(self, X, y=None, sample_weight=None, time=None):
        """Find the shares, and fit the members. time: the time of each row; None: fit the estimator alone."""
        if time is None:
            self.estimator_ = _fit(clone(self.estimator), X, y, sample_weight)
            return self
        _training.weight_keyword(self.estimator)  # before the back test
        flags = {"label_kind": "class" if is_classifier(self.estimator) else "number", **(self.flags or {})}
        weights = TimeWeights("none", bin=self.bin, at=self.at, seed=self.seed, flags=flags, quiet=self.quiet)
        weights.fit(X, y, time=time)
        self.backtest_ = _commands.backtest(
            weights._frame, weights._time, weights._label, model=self.estimator, rules=["committee"], kinds="none",
            at=self.at, bin=self.bin, workers=self.workers, seed=self.seed, quiet=self.quiet, **flags,
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

    `cross_val_score(model, X, y, cv=TemporalSplit(), groups=time)`; for a model that takes times as well, add
    `params={"time": time}`. With scikit-learn's metadata routing enabled `params={"time": time}` alone is for both.
    """

    __metadata_request__split = {"time": True}

    def __init__(self, n_splits=5):
        self.n_splits = n_splits

    def get_n_splits(self, X=None, y=None, groups=None, time=None):
        """Return the number of splits."""
        return self.n_splits

    def split(self, X, y=None, groups=None, time=None):
        """Yield the rows to train on and the rows to test, n_splits times. time, or else groups: the time of each row.

        Raise ValueError if there are fewer than n_splits + 1 times, or a row has none.
        """
        time = groups if time is None else time
        if time is None:
            raise ValueError("TemporalSplit needs the time of each row: give groups=time to cross_val_score")
        moments = _frames.moments(time)
        if missing := np.flatnonzero(moments != moments).tolist():
            raise ValueError(f"row {missing[0] + 1} has no time: leave it out")
        values, position, counts = np.unique(moments, return_inverse=True, return_counts=True)
        if not 1 <= self.n_splits < len(values):
            raise ValueError(f"n_splits is {self.n_splits}: {len(values)} different times allow 1 to {len(values) - 1}")
        past, first = np.cumsum(counts), 0
        ends = []
        for k in range(1, self.n_splits + 1):
            end = np.searchsorted(past, k * len(moments) / (self.n_splits + 1)) + 1
            first = int(np.clip(end, first + 1, len(values) - self.n_splits - 1 + k))
            ends.append(first)
        for begin, end in zip(ends, [*ends[1:], len(values)]):
            yield np.flatnonzero(position < begin), np.flatnonzero((position >= begin) & (position < end))
