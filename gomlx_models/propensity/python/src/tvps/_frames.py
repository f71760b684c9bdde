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
    """A file with a frame: path, number of rows, columns that are categories, and the zone of its times by column."""

    def __init__(self, frame, folder, index=()):
        """Write a frame. index: names of levels of a pandas index that count as columns."""
        self.kind = _kind(frame)
        if self.kind == "pandas":
            levels = [name for name in index if name in frame.index.names and name not in frame.columns]
            frame = frame.reset_index(level=levels) if levels else frame
        self.categories, self.zones = [], {}
        names, columns = zip(*_columns(frame, self.kind)) or ((), ())
        lengths = {len(column) for column in columns}
        if len(lengths) > 1:
            raise ValueError(f"the columns have different lengths: {', '.join(map(str, sorted(lengths)))}")
        self.rows = lengths.pop()
        names = [str(name) for name in names]
        if pyarrow:
            self.path = folder / "frame.parquet"
            columns = [self._arrow(name, column) for name, column in zip(names, columns)]
            pyarrow.parquet.write_table(pyarrow.Table.from_arrays(columns, names), self.path)
        else:
            self.path = folder / "frame.csv"
            columns = [self._texts(name, column) for name, column in zip(names, columns)]
            with open(self.path, "w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(names)
                writer.writerows(zip(*columns))

    def _arrow(self, name, column):
        """Return a column as an Arrow array of a type that the program reads."""
        if isinstance(column, np.ndarray) and column.dtype.kind == "M":
            unit = np.datetime_data(column.dtype)[0]
            column = column if unit in ("D", "s", "ms", "us", "ns") else column.astype("datetime64[us]")
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
    if package in ("pandas", "polars") and type(frame).__name__ == "DataFrame":
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


def _columns(frame, kind):
    """List the names and columns of a frame."""
    if kind == "pandas":
        period = sys.modules["pandas"].PeriodDtype
        columns = [(name, frame.iloc[:, i]) for i, name in enumerate(frame.columns)]
        columns = [(name, c.dt.to_timestamp() if isinstance(c.dtype, period) else c) for name, c in columns]
    elif kind == "polars" and not pyarrow:
        columns = [(c.name, c) for c in frame.get_columns()]
    elif kind == "dict":
        columns = [(name, c if isinstance(c, (list, tuple)) else np.asarray(c)) for name, c in frame.items()]
        for name, column in columns:
            if np.ndim(column) != 1 and isinstance(column, np.ndarray):
                raise ValueError(f'column "{name}" has {column.ndim} dimensions: give each of its columns a name')
    else:
        table = frame.to_arrow() if kind == "polars" else pyarrow.table(frame) if kind == "stream" else frame
        columns = list(zip(table.schema.names, table.columns))
    if not columns:
        raise ValueError("the frame has no columns")
    return columns
