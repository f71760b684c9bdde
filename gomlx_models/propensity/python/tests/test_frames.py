"""Frames: what the program reads of each kind."""

import datetime
import decimal
import importlib.util
import unittest

import numpy as np
import pyarrow.parquet
from support import COLUMNS, WithFake

import tvps
from tvps import _frames


def has(*names):
    return unittest.skipUnless(all(map(importlib.util.find_spec, names)), f"{' or '.join(names)} is not installed")


class Frames(WithFake):
    def read(self, frame, time="day", **flags):
        """Write a frame as the package does, and return its columns as lists, None for missing values."""
        tvps.weights(frame, time, quiet=True, **flags)
        return pyarrow.parquet.read_table(self.table).to_pydict()

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
        self.assertEqual((read["count"], read["gap"]), ([1, None, 3], [1, None, 3]))
        self.assertEqual([v and np.float32(v) for v in read["small"]], [np.float32(0.1), None, 2])
        self.assertEqual(read["day"][0].astimezone(datetime.timezone.utc).isoformat(), "2023-12-31T23:00:00+00:00")
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

    @has("pandas")
    def test_pandas(self):
        self.check_typed(self.pandas_frame())
        self.check_typed(dict(self.pandas_frame().items()))

    @has("polars", "pandas")
    def test_polars_arrow(self):
        import polars

        frame = polars.from_pandas(self.pandas_frame())
        self.check_typed(frame)
        self.check_typed(frame.lazy())
        self.check_typed(frame.to_arrow())
        frame = frame.with_columns(polars.Series("gap", [1.0, float("nan"), 3.0]))
        self.check_typed(frame)
        self.check_typed({name: frame[name] for name in frame.columns})

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
    def test_moments(self):
        """Times with a zone are moments in UTC. They keep their unit, as no object is made of each."""
        import pandas

        want = np.array(["2024-03-31T01:30:00.123456", "NaT", "1960-07-01"], "datetime64[ns]")
        zoned = pandas.Series(want).dt.tz_localize("UTC").dt.tz_convert("Europe/Paris")
        for times in (zoned, pandas.Index(zoned), zoned.astype("timestamp[ns, Europe/Paris][pyarrow]")):
            got = _frames.moments(times)
            self.assertEqual(got.dtype, want.dtype)
            np.testing.assert_array_equal(got, want)

    @has("pandas")
    def test_float_levels(self):
        """A level has one name, whichever file it passes through: 1.0 is 1."""
        import pandas

        frame = pandas.DataFrame({"day": [1, 2, 3], "level": pandas.Categorical([1.0, 2.5, None])})
        self.assertEqual(self.read(frame)["level"], ["1", "2.5", None])

    def test_masked(self):
        """What a mask of NumPy hides is missing."""
        read = self.read({"day": [1, 2, 3], "x": np.ma.masked_array([-999.0, 1, 2], [True, False, False])})
        self.assertEqual(read["x"], [None, 1, 2])

    @has("pandas")
    def test_intervals(self):
        """Intervals, as of pandas.cut, are categories."""
        import pandas

        read = self.read(pandas.DataFrame({"day": [1, 2, 3], "x": pandas.cut([0.5, 1.5, 9], [0, 1, 2])}))
        self.assertEqual(read["x"], ["(0, 1]", "(1, 2]", None])
        self.assertIn(["type", "x=category"], self.flags)

    def test_zones(self):
        """Days are those of the time's zone, whatever it is called; offsets have no days of their own."""
        for zone, passed in (("CET", True), ("Japan", True), ("Europe/Paris", True), ("+02:00", False)):
            self.read({"day": pyarrow.array([1, 2, 3], pyarrow.timestamp("s", zone))})
            self.assertEqual(["zone", zone] in self.flags, passed, zone)

    def test_names(self):
        """The time and the label are named, not given."""
        for time, label, sentence in (
            ([1, 2], None, "^time is a list: give the name"),
            ("a", np.zeros(2), "^label is a ndarray"),
        ):
            with self.assertRaisesRegex(ValueError, sentence):
                tvps.weights({"a": [1, 2]}, time, label)

    def test_mistakes(self):
        for frame, sentence in (
            ([1, 2], "builtins.list is not a frame"),
            ({}, "no columns"),
            ({"a": [1], "b": [1, 2]}, "expected length 1 but got length 2"),
            ({"a": np.zeros((2, 3))}, "2 dimensions"),
        ):
            with self.assertRaisesRegex(ValueError, sentence):
                tvps.weights(frame, "a")
        self.assertFalse((self.folder / "record").exists())

    def test_columns(self):
        self.assertEqual(list(self.read(COLUMNS)), list(COLUMNS))


if __name__ == "__main__":
    unittest.main()
