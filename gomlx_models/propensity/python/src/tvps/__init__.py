"""Weights for data that drift, from the program tvps.

weights   a weight for each row of a frame, for `sample_weight`
drift     whether a frame has drifted, when, and in which columns
backtest  whether weights would have helped, and which
trainer   makes a function a trainer for `tvps backtest --model exec:...` or serve:...

TimeWeights, TimeWeighted, Committee and TemporalSplit are for scikit-learn, which need not be installed for the rest.

A frame is a pandas or polars DataFrame, an Arrow table, or a dict of columns (numpy arrays or lists).
"""

from typing import TYPE_CHECKING, Any

from ._binary import binary
from ._commands import Backtest, Details, Drift, backtest, drift, weights
from ._training import trainer

if TYPE_CHECKING:
    from ._estimators import Committee, TemporalSplit, TimeWeighted, TimeWeights

__all__ = ["Backtest", "Details", "Drift", "backtest", "binary", "drift", "trainer", "weights"]
if TYPE_CHECKING:  # a star import must not need scikit-learn
    __all__ += ["Committee", "TemporalSplit", "TimeWeighted", "TimeWeights"]


def __getattr__(name: str) -> Any:
    if name not in ("Committee", "TemporalSplit", "TimeWeighted", "TimeWeights"):
        raise AttributeError(f"module 'tvps' has no attribute {name!r}")
    try:
        from . import _estimators
    except ImportError as error:
        raise ImportError(f"tvps.{name} needs scikit-learn 1.6 or later: pip install -U scikit-learn") from error
    return getattr(_estimators, name)
