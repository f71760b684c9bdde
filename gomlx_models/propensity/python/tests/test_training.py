"""Trainers: the examples, tvps.trainer, and estimators that are served. Their predictions follow the weights."""

import importlib.util
import os
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
from support import setenv

import tvps
from tvps import _training

EXAMPLES = Path(__file__).resolve().parents[4] / "data" / "table" / "examples"
OWN = Path(__file__).resolve().parents[1] / "examples"
PATHS = os.pathsep.join([str(Path(tvps.__file__).parents[1]), str(Path(__file__).parent)])


def has(*names):
    return unittest.skipUnless(all(map(importlib.util.find_spec, names)), f"{' or '.join(names)} is not installed")


def last_two_classes(x, y, weight, test):
    """A fit_predict whose results tell what it got, in the tests of the protocol."""
    print("noise that is no answer")
    os.write(1, b"noise of a library\n")
    if len(test) == 1:
        raise KeyError("one\nrow")
    return np.full((len(test), 2), weight.mean())


@has("pandas")
class Training(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        setenv(self, TVPS_LABEL="y", TVPS_TASK="class", TVPS_CLASSES='["no", "yes"]', PYTHONPATH=PATHS)
        setenv(self, TVPS_CACHE=str(self.folder / "cache"), PYTHONDONTWRITEBYTECODE="1", OMP_NUM_THREADS="1")

    def tables(self, favoured, labels=("no", "yes"), rows=400):
        """Write a training table with two contrary rules, of which the favoured one has the weight, and a test table.
        Returns their paths and x of the test table."""
        import pandas

        rng = np.random.default_rng(0)
        rule, x = np.arange(rows) % 2, rng.normal(size=rows)
        y = np.asarray(labels)[((x > 0) == (rule == 0)).astype(int)]
        levels = np.array(["a", "b", None], dtype=object)[rng.integers(0, 3, rows)]
        gaps = np.where(rng.random(rows) < 0.2, np.nan, rng.normal(size=rows))
        weight = np.where(rule == favoured, 1.99, 0.01)
        frame = pandas.DataFrame({"x": x, "level": levels, "gap": gaps, "flag": rng.random(rows) < 0.5})
        train, test = self.folder / "train.parquet", self.folder / "test.parquet"
        frame.assign(y=y, weight=weight).to_parquet(train)
        ahead = pandas.DataFrame(
            {"x": [-1.5, -1.0, 1.0, 1.5], "level": ["a", "c", None, "b"], "gap": [0, 1, np.nan, 0], "flag": True}
        )
        ahead.to_parquet(test)
        return train, test, ahead["x"].to_numpy()

    def check(self, train_once, labels=("no", "yes"), number=False):
        """Predictions follow the rule that has the weight, for either rule."""
        import pandas

        for favoured in (0, 1):
            train, test, x = self.tables(favoured, labels)
            out = self.folder / f"out{favoured}"
            train_once(train, test, out)
            predictions = pandas.read_parquet(out)
            if number:
                self.assertEqual(list(predictions), ["prediction"])
                second = predictions["prediction"]
            else:
                self.assertEqual(list(predictions), list(map(str, labels)))
                np.testing.assert_allclose(predictions.sum(axis=1), 1)
                second = predictions.iloc[:, 1]
            self.assertEqual((second > 0.5).tolist(), ((x > 0) == (favoured == 0)).tolist())

    def execute(self, script):
        def train_once(*files):
            subprocess.run([sys.executable, script, *map(str, files)], check=True)

        return train_once

    def serve(self, command):
        """Return a function that trains through one process, as serve: does."""
        child = subprocess.Popen(
            shlex.split(command, comments=True),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

        def end():
            _, self.stderr = child.communicate()
            self.assertEqual(child.returncode, 0, self.stderr)

        self.addCleanup(end)

        def train_once(*files, answer="ok"):
            child.stdin.write("\t".join(map(str, files)) + "\n")
            child.stdin.flush()
            self.assertEqual(child.stdout.readline(), answer + "\n")

        return train_once

    @has("lightgbm")
    def test_lightgbm(self):
        self.check(self.execute(EXAMPLES / "lightgbm_trainer.py"))

    @has("sklearn")
    def test_sklearn(self):
        self.check(self.execute(EXAMPLES / "sklearn_trainer.py"))

    @has("sklearn")
    def test_tvps_trainer(self):
        script = OWN / "tvps_trainer.py"
        self.check(self.execute(script))
        self.check(self.serve(shlex.join([sys.executable, str(script)])))

    @has("sklearn")
    def test_tvps_trainer_number(self):
        setenv(self, TVPS_TASK="number", TVPS_CLASSES=None)
        self.check(self.execute(OWN / "tvps_trainer.py"), labels=(0, 1), number=True)

    def served(self, model):
        return self.serve(_training.served(model)[0].removeprefix("serve:"))

    def test_changed_function(self):
        """A function of a module is another model when its file has changed, of which a pickle says nothing."""
        module = self.folder / "own_model.py"
        sys.path.insert(0, str(self.folder))
        self.addCleanup(sys.path.remove, str(self.folder))
        self.addCleanup(sys.modules.pop, "own_model", None)
        names = set()
        for power in (1, 1, 2):
            module.write_text(f"def fit_predict(x, y, weight, test):\n    return {power}\n")
            sys.modules.pop("own_model", None)
            importlib.invalidate_caches()
            names.add(_training.served(importlib.import_module("own_model").fit_predict)[0])
        self.assertEqual(len(names), 2)

    @has("sklearn")
    def test_estimators(self):
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
        from sklearn.impute import SimpleImputer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.compose import make_column_transformer

        boosted = HistGradientBoostingClassifier(categorical_features="from_dtype")
        linear = make_pipeline(make_column_transformer((SimpleImputer(), ["x", "gap"])), LogisticRegression())
        self.check(self.served(boosted))
        self.check(self.served(linear))
        setenv(self, TVPS_CLASSES='["false", "true"]')
        self.check(self.served(linear), labels=(False, True))
        setenv(self, TVPS_CLASSES='["-1", "1"]')
        self.check(self.served(linear), labels=(-1.0, 1.0))
        setenv(self, TVPS_TASK="number", TVPS_CLASSES=None)
        model = HistGradientBoostingRegressor(categorical_features="from_dtype")
        self.check(self.served(model), labels=(0, 1), number=True)

    @has("sklearn")
    def test_absent_classes(self):
        """A class that a model was not trained on is missing, which the program takes for 0."""
        import pandas
        from sklearn.ensemble import HistGradientBoostingClassifier

        setenv(self, TVPS_CLASSES='["maybe", "no", "yes"]')
        model = HistGradientBoostingClassifier(categorical_features="from_dtype")
        train_once, out = self.served(model), self.folder / "out"
        for labels in (("no", "yes"), ("yes", "yes")):
            train, test, _ = self.tables(0, labels)
            train_once(train, test, out)
            read = pandas.read_parquet(out)
            self.assertEqual(list(read), sorted(set(labels)))
            if labels == ("yes", "yes"):
                self.assertEqual(read["yes"].tolist(), [1] * 4)

    def test_protocol(self):
        """An error is the answer for its line alone, and what a trainer prints is none."""
        import pandas

        train, test, _ = self.tables(0)
        one, out = self.folder / "one.parquet", self.folder / "out"
        pandas.read_parquet(test)[:1].to_parquet(one)
        train_once = self.served(last_two_classes)
        train_once(train, one, out, answer="KeyError: 'one\\nrow'")
        train_once(train, test, out)
        np.testing.assert_allclose(pandas.read_parquet(out).to_numpy(), np.ones((4, 2)))

    def test_wrong_predictions(self):
        train, test, _ = self.tables(0)
        for predictions, sentence in (
            (np.zeros((4, 3)), r"\(4, 3\), indices imply \(4, 2\)"),
            (np.zeros((4, 3, 2)), "2-d input"),
        ):
            with self.assertRaisesRegex(ValueError, sentence):
                _training._answer(lambda *_: predictions, train, test, self.folder / "out")
        self.assertFalse((self.folder / "out").exists())

    def test_features(self):
        """Texts are categories with the levels of the training table."""
        import pandas

        train = pandas.DataFrame({"s": ["a", "b"], "n": [1, 2], "y": [0, 1], "weight": 1})
        train.to_parquet(self.folder / "train")
        train[["s", "n"]].replace("b", "c").to_parquet(self.folder / "test")
        seen = []

        def fit_predict(x, y, weight, test):
            seen.extend((x, test))
            return np.zeros(2)

        _training._answer(fit_predict, self.folder / "train", self.folder / "test", self.folder / "out")
        for frame in seen:
            self.assertEqual(list(frame), ["s", "n"])
            self.assertEqual(frame["s"].cat.categories.tolist(), ["a", "b"])
        self.assertTrue(seen[1]["s"].isna()[1])


if __name__ == "__main__":
    unittest.main()
