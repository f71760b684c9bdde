"""Writes frames as Parquet files, which the program reads.

None, NaN and NaT are missing values. Columns of categories are categories even if their levels look like numbers or
dates.
"""

import collections.abc
import re
import sys
import warnings

import numpy as np
import pyarrow
import pyarrow.compute
import pyarrow.parquet


class Written:
    """A file with a frame: path, number of rows, columns, those of categories, the zones of those of times, and the
    names of the time and the label."""

    def __init__(self, frame, folder, time=None, label=None, unseen=None):
        """Write a frame. time, label: names of columns, or of levels of a pandas index; None: the dates or periods of a
        pandas index are the time, and there is no label. unseen: name of a column, or a bool for each row."""
        for what, name in (("time", time), ("label", label)):
            if hasattr(name, "__len__") and not isinstance(name, (str, bytes, tuple)):
                raise ValueError(f"{what} is a {type(name).__name__}: give the name of a column of the frame")
        self.kind = _kind(frame)
        if self.kind == "pandas":
            pandas = sys.modules["pandas"]
            if time is None and isinstance(frame.index, (pandas.DatetimeIndex, pandas.PeriodIndex)):
                time = unused("time" if frame.index.name is None else frame.index.name, frame.columns)
                frame = frame.rename_axis(index=time)
            levels = [n for n in (time, label) if n is not None and n in frame.index.names and n not in frame.columns]
            frame = frame.reset_index(level=levels) if levels else frame
        self.time, self.label = (None if name is None else str(name) for name in (time, label))
        self.categories, self.zones = [], {}
        found, self.unseen = columns(frame), unseen
        if unseen is not None and not isinstance(unseen, str):
            names = {str(name) for name, _ in found}
            self.unseen = unused("unseen", names)
            marks = np.atleast_1d(unseen)
            for i, mark in enumerate([] if marks.dtype.kind == "b" else marks.tolist()):
                if not isinstance(mark, (bool, np.bool_, int, float)) or mark not in (0, 1):
                    raise ValueError(f"unseen is {mark!r} in row {i + 1}: it must be True or False in each row")
            found.append((self.unseen, marks.astype(bool)))
        names, contents = zip(*found)
        names = [str(name) for name in names]
        self.columns = dict(zip(names, contents))
        self.path = folder / "frame.parquet"
        table = pyarrow.Table.from_arrays([self._arrow(*column) for column in zip(names, contents)], names)
        self.rows = table.num_rows
        pyarrow.parquet.write_table(table, self.path)

    def _arrow(self, name, column):
        """Return a column as an Arrow array of a type that the program reads."""
        if isinstance(column, np.ndarray) and column.dtype.kind == "M":
            unit = np.datetime_data(column.dtype)[0]
            column = column if unit in ("D", "s", "ms", "us", "ns") else column.astype("datetime64[us]")
        if is_categorical(column) and isinstance(column.dtype.categories, sys.modules["pandas"].IntervalIndex):
            column = column.cat.rename_categories(str)
        if hasattr(column, "to_arrow"):  # polars
            column = column.to_arrow()
        if not isinstance(column, (pyarrow.Array, pyarrow.ChunkedArray)):
            try:
                column = pyarrow.array(column, from_pandas=True)
            except (pyarrow.ArrowException, TypeError, OverflowError):  # of several types, or of one unknown to Arrow
                missing = column.isna() if hasattr(column, "isna") else [v is None or v != v for v in column]
                column = pyarrow.array([None if lacks else str(v) for v, lacks in zip(column, missing)])
        types = pyarrow.types
        if isinstance(column.type, pyarrow.BaseExtensionType):
            column = pyarrow.array([None if v is None else str(v) for v in column.to_pylist()])
        if types.is_dictionary(column.type):
            self.categories.append(name)
            column = column.cast(column.type.value_type).cast(pyarrow.large_string())
        if types.is_timestamp(column.type) and column.type.tz:
            self.zones[name] = column.type.tz
        if types.is_float16(column.type):
            column = column.cast(pyarrow.float32())
        elif types.is_duration(column.type):
            micros = column.cast(pyarrow.duration("us"), safe=False).cast(pyarrow.int64())
            column = pyarrow.compute.divide(micros.cast(pyarrow.float64()), 1e6)
        if types.is_floating(column.type):
            nothing = pyarrow.scalar(None, column.type)
            column = pyarrow.compute.if_else(pyarrow.compute.is_nan(column), nothing, column)
        return column


def _kind(frame):
    """Say what a frame is, without importing what it may be of."""
    package = type(frame).__module__.split(".")[0]
    if package in ("pandas", "polars") and type(frame).__name__ in ("DataFrame", "LazyFrame"):
        return package
    if isinstance(frame, (pyarrow.Table, pyarrow.RecordBatch)):
        return "arrow"
    if isinstance(frame, collections.abc.Mapping):
        return "dict"
    if hasattr(frame, "__arrow_c_stream__"):
        return "stream"
    raise ValueError(
        f"a {type(frame).__module__}.{type(frame).__name__} is not a frame: give a DataFrame of pandas or polars, "
        "an Arrow table, or a dict of columns"
    )


def columns(frame):
    """List the names and columns of a frame. A polars LazyFrame is collected."""
    kind = _kind(frame)
    if kind == "polars" and type(frame).__name__ == "LazyFrame":
        frame = frame.collect()
    if kind == "pandas":
        out = [(name, _timestamps(frame.iloc[:, i])) for i, name in enumerate(frame.columns)]
    elif kind == "polars":
        out = [(c.name, c) for c in frame.get_columns()]
    elif kind == "dict":
        out = [(name, _timestamps(c if _is_column(c) else np.asanyarray(c))) for name, c in frame.items()]
        for name, column in out:
            if isinstance(column, np.ndarray) and column.ndim != 1:
                raise ValueError(f'column "{name}" has {column.ndim} dimensions: give each of its columns a name')
    else:
        table = pyarrow.table(frame) if kind == "stream" else frame
        out = list(zip(table.schema.names, table.columns))
    if not out:
        raise ValueError("the frame has no columns")
    return out


def unused(name, names):
    """Return a name, with as many underscores before it as make it differ from the names."""
    while name in names:
        name = f"_{name}"
    return name


def is_categorical(column):
    """Tell a categorical column of pandas."""
    pandas = sys.modules.get("pandas")
    return bool(pandas) and isinstance(getattr(column, "dtype", None), pandas.CategoricalDtype)


def _is_column(value):
    """Tell a list, or a Series of pandas or polars, or an Arrow array, from what NumPy must make an array."""
    return isinstance(value, (list, tuple)) or type(value).__module__.split(".")[0] in ("pandas", "polars", "pyarrow")


def _timestamps(column):
    """Turn a pandas Series or index of periods into their first moments."""
    pandas = sys.modules.get("pandas")
    if pandas and isinstance(column, pandas.Index):
        column = column.to_series()
    if pandas and isinstance(getattr(column, "dtype", None), pandas.PeriodDtype):
        return column.dt.to_timestamp()
    return column


def moments(times):
    """Return times as an array that sorts in time: dates and times as datetime64 (in UTC), whole numbers as int64.

    Raise ValueError for texts that are not written year first, as 2024-01-31.
    """
    times = _timestamps(times)
    if getattr(getattr(times, "dt", None), "tz", None) is not None:  # pandas would make each time an object
        times = times.dt.tz_convert(None)
    if hasattr(times, "to_numpy"):
        times = times.to_numpy()
    times = np.asarray(times)
    if times.ndim != 1:
        raise ValueError(f"the times have {times.ndim} dimensions: give one time a row")
    if times.dtype.kind in "iu":  # differences of small or unsigned ones would overflow
        return times.astype(np.int64)
    if times.dtype.kind in "Mf":
        return times
    if any(isinstance(value, str) and re.fullmatch("[0-9]{5,}", value) for value in times):
        raise ValueError("the times are texts of digits alone: make them dates first, as pandas.to_datetime does")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy says that it turns zones into UTC
            return np.array([None if value != value else value for value in times], dtype="datetime64[us]")
    except ValueError as error:
        raise ValueError(f"the times do not sort ({error}): make them dates first, as pandas.to_datetime does") from None


_DATE = re.compile(  # 20240131, perhaps with hours, minutes and seconds, or the month 202401, or the week 202452
    r"(1[7-9]|2[01])\d\d((0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(([01]\d|2[0-3])([0-5]\d){0,2})?|0[1-9]|[1-4]\d|5[0-3])"
)


def seem_dates(values):
    """Tell whether numbers all seem to be dates, such as 20240131."""
    return values.dtype.kind in "if" and all(_DATE.fullmatch(f"{value:.15g}") for value in values)
