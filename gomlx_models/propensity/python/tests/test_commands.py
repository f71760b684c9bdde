"""The commands: their flags, results and errors."""

import contextlib
import importlib.util
import io
import os
import signal
import subprocess
import sys
import threading
import unittest
from pathlib import Path

import numpy as np
from support import COLUMNS, WithFake

import tvps
from tvps import _frames, _training


class Weights(WithFake):
    def test_rows_after_t(self):
        weight, details = tvps.weights(COLUMNS, "day", "y", details=True, quiet=True)
        np.testing.assert_array_equal(weight, [0.5, 0, 1.5])
        np.testing.assert_array_equal(details.log_omega, [-1e-05, np.nan, 0])
        np.testing.assert_array_equal(details.spread, [0.1, np.nan, 0.2])
        self.assertEqual(details.json["schema"], {"file": "frame"})

    def test_flags(self):
        tvps.weights(
            COLUMNS,
            "day",
            label="y",
            at=np.datetime64("2024-01-02"),
            drop=["a,b", 'c"d'],
            half_life=2,
            quiet=True,
            type={"x": "number"},
            missing=["", "NaN"],
            permutations=0,
            results="here",
        )
        self.assertEqual(self.call["command"], "weights")
        self.assertCountEqual(
            self.flags,
            [
                ["time", "day"],
                ["label", "y"],
                ["at", "2024-01-02"],
                ["drop", '"a,b"'],
                ["drop", '"c""d"'],
                ["half-life", "2"],
                ["type", "x=number"],
                ["missing", '""'],
                ["missing", "NaN"],
                ["permutations", "0"],
                ["results", "here"],
            ],
        )
        with self.assertRaisesRegex(ValueError, "rename it"):
            tvps.weights(COLUMNS, "day", type={"a=b": "number"})

    def test_unseen(self):
        """Rows are marked by a column of the frame, or by one that is added under a name that the frame does not have."""
        frame = {**COLUMNS, "unseen": [1, 2, 3], "_unseen": [4, 5, 6]}
        tvps.weights(frame, "day", unseen=np.array([True, False, False]), quiet=True)
        self.assertIn(["unseen", "__unseen"], self.flags)
        self.assertIn("__unseen", _frames.pyarrow.parquet.read_schema(self.table).names)
        tvps.weights(COLUMNS, "day", unseen="x", quiet=True)
        self.assertIn(["unseen", "x"], self.flags)
        with self.assertRaisesRegex(ValueError, "expected length 3 but got length 1"):
            tvps.weights(COLUMNS, "day", unseen=[True], quiet=True)
        for lacking in (None, float("nan"), "False", np.datetime64("NaT")):
            with self.assertRaisesRegex(ValueError, "^unseen is .* in row 2: it must be True or False"):
                tvps.weights(COLUMNS, "day", unseen=np.array([1, lacking, 0], object), quiet=True)
        tvps.weights(COLUMNS, "day", unseen=[1, 0.0, True], quiet=True)
        self.assertEqual(_frames.pyarrow.parquet.read_table(self.table)["unseen"].to_pylist(), [True, False, True])

    def test_nothing_remains(self):
        tvps.weights(COLUMNS, "day", quiet=True)
        self.assertFalse(os.path.exists(os.path.dirname(self.call["table"])))

    def test_progress(self):
        for quiet, want in ((False, "halfway\n"), (True, "")):
            with contextlib.redirect_stderr(io.StringIO()) as stderr:
                tvps.weights(COLUMNS, "day", quiet=quiet)
            self.assertEqual(stderr.getvalue(), want)

    def test_errors(self):
        for mode, kind, sentence in (
            ("mistake", ValueError, 'frame, row 3, column "x": "1,5" is not a number; mend it'),
            ("failure", RuntimeError, "the trainer failed:\nTraceback\nKeyError"),
            ("crash", RuntimeError, "panic: a bug"),
        ):
            self.setenv(FAKE=mode)
            with contextlib.redirect_stderr(io.StringIO()) as stderr, self.assertRaises(kind) as caught:
                tvps.weights(COLUMNS, "day")
            self.assertEqual(str(caught.exception), sentence)
            self.assertEqual(stderr.getvalue(), "panic: a bug\n" if mode == "crash" else "")

    def test_misspelt(self):
        """A keyword that is no flag is a TypeError."""
        with self.assertRaisesRegex(TypeError, r"^weights\(\) got an .* 'half_live'$"):
            tvps.weights(COLUMNS, "day", half_live=2, quiet=True)

    def test_failing_model(self):
        """A model's error is a ValueError with one sentence, without the command that served it."""
        self.setenv(FAKE="model")
        with self.assertRaisesRegex(ValueError, '^the model failed: KeyError: "x" is missing$'):
            tvps.backtest(COLUMNS, "day", "y", model=max, quiet=True)
        self.setenv(FAKE="weights")
        with self.assertRaisesRegex(ValueError, "^the model max does not learn with the weights$"):
            tvps.backtest(COLUMNS, "day", "y", model=max, quiet=True)
        self.setenv(FAKE="model")
        with self.assertRaisesRegex(RuntimeError, "answered"):
            tvps.backtest(COLUMNS, "day", "y", model="serve:python x.py", quiet=True)


class Interrupt(WithFake):
    def test_interrupt(self):
        """Ctrl-C interrupts the program once, waits for it, and leaves no file."""
        script = (
            "import sys; sys.path[:0] = %r\nimport tvps\n"
            "tvps.weights({'day': [1, 2], 'x': [1, 2]}, 'day')" % [str(Path(tvps.__file__).parents[1])]
        )
        self.setenv(FAKE="slow")
        with subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, start_new_session=True) as child:
            self.assertEqual(child.stderr.readline(), b"waiting\n")
            os.killpg(child.pid, signal.SIGINT)  # as a terminal does
            stderr = child.stderr.read().decode()
        self.assertIn("KeyboardInterrupt", stderr)
        self.assertEqual((self.folder / "record.interrupted").read_text(), "x")
        self.assertFalse(os.path.exists(os.path.dirname(self.call["table"])))


class Drift(WithFake):
    def test_drift(self):
        """Where: columns by their shares. When: blocks of a stretch that differs from the present."""
        result = tvps.drift(COLUMNS, "day", "y", bin="day", out=self.folder, quiet=True)
        self.assertEqual((result.json["file"], result.found), ("frame", ["y given x"]))
        self.assertEqual(repr(result), "The table drifts in y <given> x")
        self.assertEqual({name: values.tolist() for name, values in result.columns.items()},
                         {"column": ["x", "y"], "share": [0.75, 0.25]})
        self.assertEqual(result.when["alike"].tolist(), [0.5, 0.75, 1])
        self.assertEqual(result.when["differs"].tolist(), [True, True, False])
        self.assertTrue((self.folder / "page.html").exists())
        self.assertEqual(self.flags, [["time", "day"], ["label", "y"], ["bin", "day"]])


class Backtest(WithFake):
    def test_result(self):
        result = tvps.backtest(COLUMNS, "day", "y", model="logistic", bin="day", last=3, quiet=True)
        self.assertEqual(result.verdict, "forgetting is enough")
        self.assertEqual(result.json["metric"], "log-loss")
        self.assertEqual(result.rules["rule"].tolist(), ["uniform", "forgetting"])
        self.assertEqual(result.rules["log_loss"].tolist(), [0.5, 0.4])
        self.assertEqual(result.rules["against_uniform"][1], -0.1)
        self.assertTrue(np.isnan(result.rules["against_uniform_low"][0]))
        self.assertEqual(result.blocks["forgetting"].tolist(), [0.4])
        self.assertIn("forgetting is enough", repr(result))
        self.assertIn(["model", "logistic"], self.flags)
        self.assertIn(["last", "3"], self.flags)
        self.assertIn(["results", str(self.folder / "cache" / "python" / "results")], self.flags)
        self.assertEqual(result.json["model"], "Ridge")
        self.assertNotIn("chosen", result.rules)
        self.assertEqual(os.path.dirname(dict(self.call["flags"])["out"]), os.path.dirname(self.call["table"]))

    def test_pandas(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        rules = tvps.backtest(pandas.DataFrame(COLUMNS), "day", "y", quiet=True).rules
        self.assertIsInstance(rules, pandas.DataFrame)
        self.assertEqual(rules["half_life"].tolist()[1], 4)

    def test_callable(self):
        tvps.backtest(COLUMNS, "day", "y", model=max, quiet=True)
        first = dict(self.flags)["model"]
        self.assertRegex(first, r"^serve:\S+ -m tvps._serve \S+\.pickle # max$")
        self.assertIn(str(Path(tvps.__file__).parents[1]), self.call["PYTHONPATH"].split(os.pathsep))
        tvps.backtest(COLUMNS, "day", "y", model=max, quiet=True)
        self.assertEqual(dict(self.flags)["model"], first)
        lock = threading.Lock().acquire
        for wrong, sentence in ((3, "neither"), (lock, "cannot be pickled"), (dict, "give an estimator, as dict..")):
            with self.assertRaisesRegex(ValueError, sentence):
                tvps.backtest(COLUMNS, "day", "y", model=wrong)


class Untyped:
    """A classifier without scikit-learn."""

    def fit(self, x, y, sample_weight):
        return self

    def predict_proba(self, x):
        return np.zeros((len(x), 2))


class Old(Untyped):
    """A regressor as of scikit-learn before 1.6."""

    _estimator_type = "regressor"


@unittest.skipUnless(importlib.util.find_spec("sklearn"), "scikit-learn is not installed")
class LabelKind(WithFake):
    def test_of_estimator(self):
        """An estimator's type says whether the label is a class or a number, unless the flag is given."""
        from sklearn.cluster import KMeans
        from sklearn.linear_model import LogisticRegression, Ridge
        from sklearn.model_selection import GridSearchCV
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        for model, want in (
            (LogisticRegression(), "class"),
            (make_pipeline(StandardScaler(), LogisticRegression()), "class"),
            (GridSearchCV(make_pipeline(StandardScaler(), Ridge()), {}), "number"),
            (KMeans(), None),
            (Old(), "number"),
            (Untyped(), "class"),
            (max, None),
            ("logistic", None),
        ):
            self.assertEqual(_training.label_kind(model), want, model)
        for given, want in (({}, "number"), ({"label_kind": "class"}, "class")):
            tvps.backtest(COLUMNS, "day", "y", model=Ridge(), quiet=True, **given)
            self.assertEqual(dict(self.flags)["label-kind"], want)
            tvps.weights(COLUMNS, "day", "y", kind="auto", test_model=Ridge(), quiet=True, **given)
            self.assertEqual(dict(self.flags)["label-kind"], want)
        tvps.weights(COLUMNS, "day", kind="auto", test_model=Ridge(), quiet=True)
        self.assertNotIn("label-kind", dict(self.flags))


if __name__ == "__main__":
    unittest.main()
