"""Writes frames as files that the program reads: Parquet if pyarrow is installed, otherwise CSV.

The two files of a frame mean the same: the program gives the same weights for both. None, NaN and NaT are missing
values. Columns of categories are categories even if their levels look like numbers or dates.
"""

import collections.abc
import csv
import datetime
import decimal
import sys

import numpy as np

try:
    import pyarrow
    import pyarrow.compute
    import pyarrow.parquet
except ImportError:
    pyarrow = None


class Written:
    """A file with a frame: path, number of rows, columns, those of categories, the zones of those of times, and the
    names of the time and the label."""

    def __init__(self, frame, folder, time=None, label=None, unseen=None):
        """Write a frame. time, label: names of columns, or of levels of a pandas index; None: the dates or periods of a
        pandas index are the time, and there is no label. unseen: name of a column, or a bool for each row."""
        self.kind = _kind(frame)
        if self.kind == "pandas":
            pandas = sys.modules["pandas"]
            if time is None and isinstance(frame.index, (pandas.DatetimeIndex, pandas.PeriodIndex)):
                time = "time" if frame.index.name is None else frame.index.name
                while time in frame.columns:
                    time = f"_{time}"
                frame = frame.rename_axis(index=time)
            levels = [n for n in (time, label) if n is not None and n in frame.index.names and n not in frame.columns]
            frame = frame.reset_index(level=levels) if levels else frame
        self.time, self.label = (None if name is None else str(name) for name in (time, label))
        self.categories, self.zones = [], {}
        found, self.unseen = columns(frame), unseen
        if unseen is not None and not isinstance(unseen, str):
            names = {str(name) for name, _ in found}
            self.unseen = "_" * ("unseen" in names) + "unseen"
            found.append((self.unseen, np.asarray(unseen, dtype=bool)))
        names, contents = zip(*found)
        lengths = {len(column) for column in contents}
        if len(lengths) > 1:
            raise ValueError(f"the columns have different lengths: {', '.join(map(str, sorted(lengths)))}")
        self.rows = lengths.pop()
        names = [str(name) for name in names]
        self.columns = dict(zip(names, contents))
        if pyarrow:
            self.path = folder / "frame.parquet"
            contents = [self._arrow(name, column) for name, column in zip(names, contents)]
            pyarrow.parquet.write_table(pyarrow.Table.from_arrays(contents, names), self.path)
        else:
            self.path = folder / "frame.csv"
            contents = [self._texts(name, column) for name, column in zip(names, contents)]
            with open(self.path, "w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(names)
                writer.writerows(zip(*contents))

    def _arrow(self, name, column):
        """Return a column as an Arrow array of a type that the program reads."""
        if isinstance(column, np.ndarray) and column.dtype.kind == "M":
            unit = np.datetime_data(column.dtype)[0]
            column = column if unit in ("D", "s", "ms", "us", "ns") else column.astype("datetime64[us]")
        if hasattr(column, "to_arrow"):  # polars
            column = column.to_arrow()
        if not isinstance(column, (pyarrow.Array, pyarrow.ChunkedArray)):
            try:
                column = pyarrow.array(column, from_pandas=True)
            except (pyarrow.ArrowException, TypeError, OverflowError):  # of several types, or of one unknown to Arrow
                column = pyarrow.array([text or None for text in self._texts(name, column)])
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
        elif types.is_decimal(column.type):
            column = column.cast(pyarrow.float64())
        elif types.is_duration(column.type):
            micros = column.cast(pyarrow.duration("us"), safe=False).cast(pyarrow.int64())
            column = pyarrow.compute.divide(micros.cast(pyarrow.float64()), 1e6)
        if types.is_floating(column.type):
            nothing = pyarrow.scalar(None, column.type)
            column = pyarrow.compute.if_else(pyarrow.compute.is_nan(column), nothing, column)
        return column

    def _texts(self, name, column):
        """Return a column as the texts of a CSV file, made one by one to save memory."""
        dtype = getattr(column, "dtype", None)
        zone = getattr(dtype, "tz", None) or getattr(dtype, "time_zone", None)  # of pandas, of polars
        if zone:
            self.zones[name] = str(zone)
        category = str(dtype) == "category" or str(dtype).startswith(("Categorical", "Enum"))
        if category:
            self.categories.append(name)
        if str(dtype).lower() in ("float16", "float32"):  # as Python's floats they would have other digits
            column = np.asarray(column, dtype=np.float32)
        elif hasattr(column, "isna"):  # pandas
            column = (None if lacks else value for value, lacks in zip(column, column.isna()))
        elif isinstance(column, np.ndarray) and dtype.kind == "M":
            return ("" if text == "NaT" else text for text in np.datetime_as_string(column, unit="us"))
        if category:  # the level 1.0 is called 1
            column = (int(v) if isinstance(v, float) and v.is_integer() else v for v in column)
        return map(_text, column)


def _text(value):
    """Return a value as in a CSV file."""
    if value is None:
        return ""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating, decimal.Decimal)):
        return "" if value != value else str(value)
    if isinstance(value, (datetime.datetime, datetime.date)):  # also pandas' Timestamp
        return "" if value != value else value.isoformat()
    if isinstance(value, np.datetime64):
        return "" if value != value else np.datetime_as_string(value, unit="us")
    if isinstance(value, datetime.timedelta):
        return "" if value != value else str(value.total_seconds())
    if isinstance(value, np.timedelta64):
        return "" if value != value else str(value / np.timedelta64(1, "s"))
    return value.decode() if isinstance(value, bytes) else str(value)


def _kind(frame):
    """Say what a frame is, without importing what it may be of."""
    package = type(frame).__module__.split(".")[0]
    if package in ("pandas", "polars") and type(frame).__name__ in ("DataFrame", "LazyFrame"):
        return package
    if pyarrow and isinstance(frame, (pyarrow.Table, pyarrow.RecordBatch)):
        return "arrow"
    if isinstance(frame, collections.abc.Mapping):
        return "dict"
    if pyarrow and hasattr(frame, "__arrow_c_stream__"):
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
        out = [(name, _timestamps(c if _is_column(c) else np.asarray(c))) for name, c in frame.items()]
        for name, column in out:
            if isinstance(column, np.ndarray) and column.ndim != 1:
                raise ValueError(f'column "{name}" has {column.ndim} dimensions: give each of its columns a name')
    else:
        table = pyarrow.table(frame) if kind == "stream" else frame
        out = list(zip(table.schema.names, table.columns))
    if not out:
        raise ValueError("the frame has no columns")
    return out


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
    """Return times as an array that sorts in time: dates and times as datetime64 (in UTC), numbers as they are.

    Raise ValueError for texts that are not written year first, as 2024-01-31.
    """
    times = _timestamps(times)
    if hasattr(times, "to_numpy"):
        times = times.to_numpy()
    times = np.asarray(times)
    if times.ndim != 1:
        raise ValueError(f"the times have {times.ndim} dimensions: give one time a row")
    if times.dtype.kind in "Miuf":
        return times
    return np.array([_moment(value) for value in times], dtype="datetime64[us]")


def _moment(value):
    """Return a time as datetime64 in UTC."""
    if value is None or value != value:
        return np.datetime64("NaT")
    if getattr(value, "tzinfo", None):
        return np.datetime64(value.astimezone(datetime.timezone.utc).replace(tzinfo=None))
    if isinstance(value, str):
        try:
            return _moment(datetime.datetime.fromisoformat(value))
        except ValueError:
            pass
    elif isinstance(value, (datetime.date, np.datetime64)):
        return np.datetime64(value)
    raise ValueError(f"the time {str(value)!r} does not sort: make it a date first, as pandas.to_datetime does")
