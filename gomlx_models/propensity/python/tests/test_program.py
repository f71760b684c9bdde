"""The real program, if there is one: weights of a table whose rule from x to y turns round in the middle."""

import contextlib
import functools
import importlib.util
import io
import tempfile
import unittest
import warnings

import numpy as np

import tvps

ROWS = 240
FAST = dict(time="month", label="y", at="2024-11", updates=30, permutations=0, quiet=True)


def columns():
    rng = np.random.default_rng(0)
    month, x = np.arange(ROWS) // 20, rng.normal(size=ROWS)
    small = rng.normal(size=ROWS).astype(np.float32)
    small[::7] = np.nan
    return {
        "month": np.datetime64("2024-01") + month,
        "x": x,
        "small": small,
        "when": np.datetime64("1969-12-31T23:59:59.999999", "ns") + rng.integers(0, 10**9, ROWS),
        "text": np.array(["a", "b,c", 'd"'], dtype=object)[rng.integers(0, 3, ROWS)],
        "flag": rng.random(ROWS) < 0.5,
        "y": np.where((x > 0) == (month < 6), "yes", "no"),
    }


@functools.cache
def weighted():
    return tvps.weights(columns(), details=True, **FAST)


def missing():
    try:
        tvps.binary()
    except RuntimeError as error:
        return str(error)


@unittest.skipIf(missing(), missing())
class Program(unittest.TestCase):
    def test_drift_of_the_rule(self):
        """Rows of the old rule weigh less; rows after T weigh nothing; the mean is 1 over the rows up to T."""
        weight, details = weighted()
        self.assertEqual(len(weight), ROWS)
        old, new, later = weight[:120], weight[120:220], weight[220:]
        self.assertLess(old.mean(), 0.7 * new.mean())
        self.assertAlmostEqual(weight[:220].mean(), 1, places=9)
        self.assertEqual(later.tolist(), [0] * 20)
        self.assertTrue(np.isnan(details.log_omega[220:]).all() and np.isfinite(details.log_omega[:220]).all())
        kinds = {c["name"]: (c["kind"], c["missing"]) for c in details.json["schema"]["columns"]}
        want = dict(month="time", x="number", small="number", when="time", text="category", flag="boolean")
        want["y"] = "category"
        self.assertEqual(kinds, {name: (kind, 35 if name == "small" else 0) for name, kind in want.items()})
        self.assertEqual(details.json["kind"], "conditional")

    def test_missing_levels(self):
        """A class that is read as missing gives a warning, and none if it is kept."""
        day = np.arange(90)
        frame = {"day": day, "x": day % 7, "y": np.array(["None", "low", "high"])[day % 3]}
        arguments = dict(time="day", label="y", kind="none", permutations=0, quiet=True)
        with self.assertWarnsRegex(UserWarning, 'y "None" 30; missing=\\[""\\] keeps them'):
            self.assertEqual((tvps.weights(frame, **arguments) == 0).sum(), 30)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertTrue(tvps.weights(frame, missing=[""], **arguments).all())

    def test_unseen(self):
        """New rows of the old rule weigh less than new rows of the present one; they change nothing else."""
        frame, new = columns(), np.arange(ROWS) % 4 == 3
        weight = tvps.weights(frame, unseen=new, **FAST)
        rest = {name: np.asarray(column)[~new] for name, column in frame.items()}
        np.testing.assert_allclose(weight[~new], tvps.weights(rest, **FAST), rtol=1e-9)
        self.assertLess(weight[:120][new[:120]].mean(), 0.7 * weight[120:220][new[120:220]].mean())

    @unittest.skipUnless(all(map(importlib.util.find_spec, ("sklearn", "pandas"))), "not all are installed")
    def test_group(self):
        """The group reaches the program, which learns nothing from it, not even where it is a category of pandas."""
        import pandas

        frame = columns()
        shop = pandas.Series(np.arange(ROWS) % 20, dtype="category")
        weights = tvps.TimeWeights("covariate", flags={"updates": 1, "permutations": 99})
        weights.fit(pandas.DataFrame({"x": frame["x"]}), time=frame["month"], group=shop)
        found = weights.details_.json
        self.assertEqual((found["group"], found["features"]), ("group", ["x"]))
        self.assertEqual(tvps.drift(dict(frame, shop=shop), "month", group="shop", updates=1, quiet=True).json["group"], "shop")

    @unittest.skipUnless(all(map(importlib.util.find_spec, ("sklearn",))), "not all are installed")
    def test_backtest(self):
        """Where the rule turned round, the last block is a better teacher than all blocks: with an estimator in another
        process as with the built-in model."""
        from sklearn.linear_model import LogisticRegression

        frame = columns()
        request = dict(time="month", label="y", at="2024-10", last=4, rules=["last"], kinds="none",
                       drop=["small", "when", "text"])
        with tempfile.TemporaryDirectory() as folder:
            request.update(results=folder, quiet=True)
            tests = [tvps.backtest(frame, model=model, **request) for model in ("logistic", LogisticRegression())]
            stderr = io.StringIO()
            with contextlib.redirect_stderr(stderr):
                again = tvps.backtest(frame, model=LogisticRegression(), **{**request, "quiet": False, "reuse": True})
        for test in tests:
            loss = dict(zip(test.rules["rule"].tolist(), test.rules["log_loss"]))
            self.assertLess(loss["last"], loss["uniform"] - 0.1)
            self.assertEqual(test.blocks["rows"].tolist(), [20] * len(test.blocks["rows"]))
            self.assertIn(test.verdict, test.json["verdict"]["sentence"])
        self.assertEqual(again.json["rules"], tests[1].json["rules"])
        self.assertIn(again.verdict, stderr.getvalue())
        self.assertIn("taken from a back test that began on", stderr.getvalue())

    @unittest.skipUnless(all(map(importlib.util.find_spec, ("sklearn", "pandas"))), "not all are installed")
    def test_committee(self):
        """The members that learn from recent months have most of the shares, and predict by the new rule."""
        import pandas
        from sklearn.linear_model import LogisticRegression

        frame = columns()
        x, month = pandas.DataFrame({"x": frame["x"]}), frame["month"]
        model = tvps.Committee(LogisticRegression(), at="2024-10", flags={"updates": 30}).fit(x, frame["y"], time=month)
        self.assertAlmostEqual(model.shares_.sum(), 1)
        self.assertNotEqual(model.weightings_[0], "uniform")
        want = sum(s * m.predict_proba(x) for s, m in zip(model.shares_, model.members_))
        np.testing.assert_allclose(model.predict_proba(x), want)
        self.assertGreater(model.score(x[200:], frame["y"][200:]), 0.9)
        self.assertLess(model.score(x[:100], frame["y"][:100]), 0.1)
        loss = dict(zip(model.backtest_.rules["rule"], model.backtest_.rules["log_loss"]))
        self.assertLess(loss["committee"], loss["uniform"])

    @unittest.skipUnless(all(map(importlib.util.find_spec, ("sklearn",))), "not all are installed")
    def test_failing_estimator(self):
        from sklearn.svm import LinearSVC

        request = dict(time="month", label="y", drop=["text", "small"], quiet=True)
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(ValueError, "predict_proba"):
            tvps.backtest(columns(), model=LinearSVC(), results=folder, **request)

    @unittest.skipUnless(all(map(importlib.util.find_spec, ("sklearn", "pandas", "matplotlib"))), "not all are installed")
    def test_day(self):
        """A day of a data scientist: a frame with a time index, has it drifted, a Pipeline and a search with its times."""
        import matplotlib
        import pandas
        import sklearn
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import GridSearchCV
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        matplotlib.use("agg")
        frame = columns()
        x = columns()["x"]
        day = pandas.date_range("2024-01-01", periods=ROWS, name="day")
        frame = pandas.DataFrame({"x": x, "y": np.where((x > 0) == (np.arange(ROWS) < 126), "yes", "no")}, index=day)
        drift = tvps.drift(frame, label="y", bin="week", updates=60, quiet=True)
        self.assertEqual(drift.found, ["y given x"])
        self.assertEqual(sorted(drift.columns["column"]), ["x", "y"])
        self.assertEqual((len(drift.when), drift.when["time"][0]), (len(drift.plot().patches), "2024-W01"))
        self.assertLess(drift.when["alike"].iloc[0], 0.8 * drift.when["alike"].iloc[-1])
        self.assertIn("<img", drift._repr_html_())
        X, y, new = frame[["x"]], frame["y"], slice(126, None)
        with sklearn.config_context(enable_metadata_routing=True):
            weighted = tvps.TimeWeighted(LogisticRegression(), "conditional", bin="week", flags={"updates": 60})
            model = make_pipeline(StandardScaler(), weighted).fit(X, y, time=day)
            committee = tvps.Committee(LogisticRegression(), bin="week", gap="7 days")
            search = GridSearchCV(committee, {"estimator__C": [1.0]}, cv=tvps.TemporalSplit(1, gap="7 days"))
            search.fit(X, y, time=day)
        plain = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y).score(X[new], y[new])
        self.assertGreater(min(model.score(X[new], y[new]), search.score(X[new], y[new])), max(0.8, plain))
        self.assertLess(search.best_score_, 0.2)  # of the days after the turn, from those before it

    def test_mistakes(self):
        frame = columns()
        with self.assertRaisesRegex(ValueError, '^frame: there is no column "date"; the columns are month, x, small,'):
            tvps.weights(frame, **{**FAST, "time": "date"})
        with self.assertRaisesRegex(TypeError, "'half_live'"):
            tvps.weights(frame, half_live=2, **FAST)
        frame["x"][3] = np.inf
        with self.assertRaisesRegex(ValueError, '^frame, row 4, column "x": "(inf|\\+Inf)" is not a finite number'):
            tvps.weights(frame, **FAST)

    @unittest.skipUnless(all(map(importlib.util.find_spec, ("pandas", "polars"))), "not all are installed")
    def test_all_frames(self):
        """pandas, polars and a dict: the same weights, bit for bit."""
        import pandas
        import polars

        frame = columns()
        frame["month"] = frame["month"].astype("datetime64[ms]")
        want, _ = weighted()
        pandas_frame = pandas.DataFrame(frame).astype({"small": "Float32", "text": "category"})
        np.testing.assert_array_equal(tvps.weights(pandas_frame, **FAST), want)
        np.testing.assert_array_equal(tvps.weights(polars.DataFrame(frame), **FAST), want)


if __name__ == "__main__":
    unittest.main()
