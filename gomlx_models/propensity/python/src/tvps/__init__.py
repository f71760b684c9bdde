"""Weights for data that drift, from the program tvps.

weights   a weight for each row of a frame, for `sample_weight`
drift     whether a frame has drifted, when, and in which columns
backtest  whether weights would have helped, and which
trainer   makes a function a trainer for `tvps backtest --model exec:...` or serve:...

A frame is a pandas or polars DataFrame, an Arrow table, or a dict of columns (numpy arrays or lists).
"""

from ._binary import binary
from ._commands import Backtest, Details, backtest, drift, weights
from ._training import trainer

__all__ = ["Backtest", "Details", "backtest", "binary", "drift", "trainer", "weights"]
