"""Frames: what the program reads of each kind."""

import csv
import datetime
import decimal
import importlib.util
import unittest

import numpy as np
from support import COLUMNS, WithFake

import tvps
from tvps import _frames


def has(*names):
    return unittest.skipUnless(all(map(importlib.util.find_spec, names)), f"{' or '.join(names)} is not installed")


class Frames(WithFake):
    def read(self, frame, time="day", **flags):
        """Write a frame as the package does, and return its columns as lists, None for missing values."""
        tvps.weights(frame, time, quiet=True, **flags)
        path = self.folder / self.call["table"].split("/")[-1]
        if path.suffix == ".parquet":
            self.assertIsNotNone(_frames.pyarrow)
            return _frames.pyarrow.parquet.read_table(path).to_pydict()
        with open(path, newline="", encoding="utf-8") as file:
            names, *rows = csv.reader(file)
        return {name: [v or None for v in column] for name, column in zip(names, zip(*rows))}

    def without_pyarrow(self):
        self.addCleanup(setattr, _frames, "pyarrow", _frames.pyarrow)
        _frames.pyarrow = None

    def test_csv(self):
        self.without_pyarrow()
        read = self.read(
            {
                "day": np.array(["1969-12-31T23:59:59.999999999", "NaT"] + ["2024-02-29"] * 2, "datetime64[ns]"),
                "text": ['a,"b"\n', None, "é", ""],
                "f32": np.array([0.1, np.nan, 1, 2], np.float32),
                "f64": [0.1, 1e-7, None, -3],
                "bool": [True, False, None, np.True_],
                "int": np.array([1, 2**40, -3, 0]),
                "date": [datetime.date(2024, 1, 1), None] * 2,
                "decimal": [decimal.Decimal("1.50")] * 4,
                "span": [datetime.timedelta(minutes=1), np.timedelta64(500, "ms"), None, None],
            }
        )
        self.assertEqual(
            read,
            {
                "day": ["1969-12-31T23:59:59.999999", None] + ["2024-02-29T00:00:00.000000"] * 2,
                "text": ['a,"b"\n', None, "é", None],
                "f32": ["0.1", None, "1.0", "2.0"],
                "f64": ["0.1", "1e-07", None, "-3"],
                "bool": ["true", "false", None, "true"],
                "int": ["1", "1099511627776", "-3", "0"],
                "date": ["2024-01-01", None] * 2,
                "decimal": ["1.50"] * 4,
                "span": ["60.0", "0.5", None, None],
            },
        )

    @has("pyarrow")
    def test_parquet(self):
        read = self.read(
            {
                "day": np.array(["2024-01", "NaT", "NaT"], "datetime64[M]"),
                "text": ["a", None, None],
                "f16": np.array([0.5, np.nan, 1], np.float16),
                "mixed": [1, "a", 2],
                "decimal": [decimal.Decimal("1.50"), None, None],
                "span": np.array([1500, "NaT", "NaT"], "timedelta64[ms]"),
            }
        )
        january = datetime.datetime(2024, 1, 1)
        want = dict(day=january, text="a", f16=0.5, mixed="1", decimal=1.5, span=1.5)
        self.assertEqual({name: column[0] for name, column in read.items()}, want)
        self.assertEqual({name for name, column in read.items() if column[1] is not None}, {"mixed"})

    def check_typed(self, frame):
        """Categories are categories even if they look like numbers; days are those of the time's zone."""
        read = self.read(frame)
        self.assertEqual(read["zip"], ["01", "75001", None])
        self.assertIn(["type", "zip=category"], self.flags)
        self.assertIn(["zone", "Europe/Paris"], self.flags)
        self.assertEqual([None if v is None else int(v) for v in read["count"]], [1, None, 3])
        self.assertEqual([None if v is None else float(v) for v in read["gap"]], [1, None, 3])
        if isinstance(read["small"][0], str):
            self.assertEqual(read["small"][0], "0.1")  # and not 0.10000000149011612
        else:
            self.assertEqual([v and np.float32(v) for v in read["small"]], [np.float32(0.1), None, 2])
        first = read["day"][0]
        first = datetime.datetime.fromisoformat(first) if isinstance(first, str) else first
        self.assertEqual(first.astimezone(datetime.timezone.utc).isoformat(), "2023-12-31T23:00:00+00:00")
        self.read(frame, zone="UTC", type={"zip": "number"})
        self.assertIn(["zone", "UTC"], self.flags)
        self.assertIn(["type", "zip=number"], self.flags)

    def pandas_frame(self):
        import pandas

        return pandas.DataFrame(
            {
                "day": pandas.date_range("2024-01-01", periods=3, tz="Europe/Paris"),
                "zip": pandas.Categorical(["01", "75001", None]),
                "count": pandas.array([1, None, 3], "Int64"),
                "small": pandas.array([0.1, None, 2], "Float32"),
                "gap": [1.0, np.nan, 3.0],
            },
            index=[7, 7, 8],
        )

    @has("pandas", "pyarrow")
    def test_pandas(self):
        self.check_typed(self.pandas_frame())
        self.check_typed(dict(self.pandas_frame().items()))

    @has("pandas")
    def test_pandas_csv(self):
        self.without_pyarrow()
        self.check_typed(self.pandas_frame())

    @has("polars", "pandas", "pyarrow")
    def test_polars_arrow(self):
        import polars

        frame = polars.from_pandas(self.pandas_frame())
        self.check_typed(frame)
        self.check_typed(frame.lazy())
        self.check_typed(frame.to_arrow())
        frame = frame.with_columns(polars.Series("gap", [1.0, float("nan"), 3.0]))
        self.check_typed(frame)
        self.check_typed({name: frame[name] for name in frame.columns})
        self.without_pyarrow()
        self.check_typed(frame)

    @has("pandas")
    def test_pandas_index(self):
        import pandas

        days = pandas.period_range("2024-01", periods=3, freq="M", name="day")
        read = self.read(pandas.DataFrame({0: [1, 2, 3], "x": [1, 2, 3]}, index=days))
        self.assertEqual(list(read), ["day", "0", "x"])
        self.assertEqual(str(read["day"][1])[:10], "2024-02-01")
        for name, want in (("day", "day"), (None, "_time")):  # an index of dates is the time
            index = pandas.date_range("2024-01-01", periods=3, name=name)
            _, details = tvps.weights(pandas.DataFrame({"time": [1, 2, 3]}, index=index), details=True, quiet=True)
            self.assertIn(["time", want], self.flags)
            self.assertEqual(details.time.tolist(), index.tolist())

    @has("pandas")
    def test_float_levels(self):
        """A level has one name, whichever file it passes through: 1.0 is 1."""
        import pandas

        frame = pandas.DataFrame({"day": [1, 2, 3], "level": pandas.Categorical([1.0, 2.5, None])})
        self.assertEqual(self.read(frame)["level"], ["1", "2.5", None])
        self.without_pyarrow()
        self.assertEqual(self.read(frame)["level"], ["1", "2.5", None])

    def test_mistakes(self):
        for frame, sentence in (
            ([1, 2], "builtins.list is not a frame"),
            ({}, "no columns"),
            ({"a": [1], "b": [1, 2]}, "different lengths: 1, 2"),
            ({"a": np.zeros((2, 3))}, "2 dimensions"),
        ):
            with self.assertRaisesRegex(ValueError, sentence):
                tvps.weights(frame, "a")
        self.assertFalse((self.folder / "record").exists())

    def test_columns(self):
        self.assertEqual(list(self.read(COLUMNS)), list(COLUMNS))


if __name__ == "__main__":
    unittest.main()
