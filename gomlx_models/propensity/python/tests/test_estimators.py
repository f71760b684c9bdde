"""The estimators and the splitter for scikit-learn."""

import datetime
import importlib.util
import pickle
import unittest
from unittest import mock

import numpy as np
from support import WithFake

import tvps
from tvps import _frames

HAS = importlib.util.find_spec("sklearn")
if HAS:
    import sklearn
    from sklearn.base import BaseEstimator, ClassifierMixin, clone
    from sklearn.cluster import KMeans
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier
    from sklearn.utils.estimator_checks import check_estimator

    class Recorder(ClassifierMixin, BaseEstimator):
        """A classifier that knows what it was fitted on."""

        def fit(self, X, y, sample_weight=None):
            self.x_, self.y_, self.weight_ = np.asarray(X), np.asarray(y), sample_weight
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return np.full(len(X), self.classes_[0])


X = np.array([[1.0, 10], [2, 20], [3, 30]])
Y = np.array(["a", "b", "a"])
TIME = np.array(["2024-01-01", "2024-01-03", "2024-01-02"], "datetime64[D]")


@unittest.skipUnless(HAS, "scikit-learn is not installed")
class Weights(WithFake):
    def columns(self):
        """The columns that the program read."""
        return _frames.pyarrow.parquet.read_table(self.table).column_names

    def test_conventions(self):
        """Parameters are read, set and cloned; a fitted one is pickled; a misspelt keyword is a TypeError."""
        weights = tvps.TimeWeights(kind="joint", bin="day", flags={"permutations": 0})
        self.assertEqual(tvps.TimeWeights().kind, "auto")
        self.assertEqual(clone(weights.set_params(half_life=2)).get_params()["half_life"], 2)
        with self.assertRaises(TypeError):
            tvps.TimeWeights(half_live=2)
        with self.assertRaises(sklearn.exceptions.NotFittedError):
            weights.weights()
        copy = pickle.loads(pickle.dumps(weights.fit(X, Y, time=TIME)))
        np.testing.assert_array_equal(copy.sample_weight_, [0.5, 0, 1.5])
        np.testing.assert_array_equal(copy.weights(at="2024-01-02"), [0.5, 0, 1.5])
        want = dict(time="time", label="label", at="2024-01-02", kind="joint", bin="day", permutations="0")
        self.assertLessEqual({**want, "half-life": "2"}.items(), dict(self.flags).items())

    def test_table(self):
        """The program gets the features by name, the time and the outcome, under names that X does not have."""
        weights = tvps.TimeWeights(kind="covariate").fit(X, time=TIME)
        self.assertEqual(self.columns(), ["x0", "x1", "time"])
        self.assertNotIn("label", dict(self.flags))
        names = ["time", "_time", "label", "_label", "group", "_group", "__group"]
        weights.fit({name: [1, 2, 3] for name in names}, Y, time=TIME, group=[5, 6, 5])
        self.assertEqual(self.columns(), [*names, "__time", "__label", "___group"])
        self.assertEqual(weights.feature_names_in_.tolist(), names)
        flags = dict(self.flags)
        self.assertEqual([flags[key] for key in ("time", "label", "group")], ["__time", "__label", "___group"])

    def test_auto(self):
        """auto back-tests the given model where there is an outcome, and is covariate without."""
        tvps.TimeWeights(test_model="exec:fit").fit(X, Y, time=TIME)
        self.assertLessEqual({"kind": "auto", "test-model": "exec:fit"}.items(), dict(self.flags).items())
        tvps.TimeWeights(test_model="exec:fit").fit(X, time=TIME)
        self.assertFalse({"kind", "test-model"} & set(dict(self.flags)))

    def test_mistakes(self):
        for arguments, sentence in (
            (dict(X=X), "^time is None: give the time of each row"),
            (dict(X=X, time="day"), "^time is 'day': give the time of each row"),
            (dict(X=X, time=TIME[:2]), "length 3 but got length 2"),
            (dict(X=X, time=TIME[:, None]), "^time has 2 dimensions: give the time of each row"),
            (dict(X={"1": [1, 2, 3], 1: [3, 2, 1]}, time=TIME), '^X has several columns "1"'),
            (dict(X=X[0], time=TIME), "1D array"),
        ):
            with self.assertRaisesRegex(ValueError, sentence):
                tvps.TimeWeights().fit(**arguments)

    def test_failing_refit(self):
        """After a fit that fails there are no weights of an earlier one."""
        weights = tvps.TimeWeights("joint").fit(X, Y, time=TIME)
        self.setenv(FAKE="mistake")
        with self.assertRaises(ValueError):
            weights.fit(X, Y, time=TIME)
        with self.assertRaises(sklearn.exceptions.NotFittedError):
            weights.weights()

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed")
    def test_pandas(self):
        """Types of a DataFrame and the zone of the times reach the program."""
        import pandas

        frame = pandas.DataFrame({"zip": pandas.Categorical(["1", "2", "1"]), "x": [1, 2, 3]}, index=[5, 5, 6])
        time = pandas.Series(pandas.DatetimeIndex(TIME).tz_localize("Europe/Paris"), index=[9, 8, 7])
        model = tvps.TimeWeighted(Recorder(), "joint").fit(frame, pandas.Series(Y), time=time)
        flags = dict(self.flags)
        self.assertEqual((flags["type"], flags["zone"]), ("zip=category", "Europe/Paris"))
        self.assertEqual(model.x_.tolist(), [["1", 1], ["1", 3]])
        tvps.TimeWeights("joint").fit(frame[["x"]], frame["zip"], time=time)
        self.assertEqual(dict(self.flags)["type"], "label=category")


@unittest.skipUnless(HAS, "scikit-learn is not installed")
class Weighted(WithFake):
    def test_check_estimator(self):
        """Without times it is the estimator, and follows scikit-learn's conventions."""
        for estimator in (LogisticRegression(), Ridge(), DecisionTreeClassifier(random_state=0)):
            check_estimator(tvps.TimeWeighted(estimator), on_skip=None)

    def test_weights(self):
        """The estimator learns from the rows with weight, with their weights; sample_weight is multiplied by them."""
        model = tvps.TimeWeighted(Recorder(), "joint", bin="day").fit(X, Y, time=TIME)
        self.assertLessEqual({"kind": "joint", "bin": "day", "label-kind": "class"}.items(), dict(self.flags).items())
        np.testing.assert_array_equal(model.x_, X[[0, 2]])
        self.assertEqual(model.y_.tolist(), ["a", "a"])
        self.assertEqual(model.weight_.tolist(), [0.5, 1.5])
        self.assertEqual(model.weights_.sample_weight_.tolist(), [0.5, 0, 1.5])
        self.assertEqual(model.weights_.weights().tolist(), [0.5, 0, 1.5])
        with self.assertRaisesRegex(ValueError, "^TimeWeighted keeps no rows: fit TimeWeights"):
            model.weights_.weights(at="2024-01-02")
        model.fit(X, Y, sample_weight=[2, 3, 4], time=TIME)
        self.assertEqual(model.weight_.tolist(), [1, 6])
        self.assertEqual(model.predict(X).tolist(), ["a"] * 3)
        self.assertIsNone(model.fit(X, Y).weight_)
        self.assertFalse(hasattr(model, "weights_"))
        self.assertFalse(hasattr(tvps.TimeWeighted(Recorder()), "predict_proba"))

    def test_pickle(self):
        """A pickle has no column of X."""
        x = np.array([0.1, 0.7, 0.4])
        model = tvps.TimeWeighted(Ridge(), "joint").fit(x[:, None], x, time=TIME)
        self.assertNotIn(x.tobytes(), pickle.dumps(model))

    def test_auto(self):
        """The back test of auto is of the estimator itself."""
        tvps.TimeWeighted(make_pipeline(StandardScaler(), Ridge())).fit(X, [1.0, 2, 3], time=TIME)
        flags = dict(self.flags)
        self.assertRegex(flags["test-model"], "^serve:.* # StandardScaler . Ridge$")
        self.assertEqual(flags["label-kind"], "number")

    def test_no_outcome(self):
        """An estimator that learns without an outcome is fitted without one."""
        for estimator in (KMeans(1), Ridge()):
            model = tvps.TimeWeighted(estimator)
            with self.subTest(estimator), mock.patch.object(tvps._estimators, "_fit") as fit:
                model.fit(X, time=TIME)
            self.assertFalse({"label", "label-kind"} & set(dict(self.flags)))
            self.assertIsNone(fit.call_args.args[2])
        np.testing.assert_allclose(tvps.TimeWeighted(KMeans(1)).fit(X, time=TIME).cluster_centers_, [[2.5, 25]])

    def test_no_weights(self):
        from sklearn.neighbors import KNeighborsClassifier

        with self.assertRaisesRegex(ValueError, "^KNeighborsClassifier.fit takes no sample_weight"):
            tvps.TimeWeighted(make_pipeline(StandardScaler(), KNeighborsClassifier())).fit(X, Y, time=TIME)
        self.assertFalse((self.folder / "record").exists())

    def test_cross_validation(self):
        """Each fold's training rows come with their times: by params alone, and by metadata routing."""
        x, day = np.arange(12.0)[:, None], np.arange(12)[::-1].copy()  # the last row is the first day
        y, seen = np.resize(["a", "b"], 12), []

        def weights(frame, time, *_, **__):
            seen.append(sorted(frame[time].tolist()))
            return np.ones(len(frame[time])), None

        split = tvps.TemporalSplit(2)
        for enable in (False, True):
            model = make_pipeline(StandardScaler(), LogisticRegression())
            arguments = dict(params={"time": day}) if enable else dict(params={"time": day}, groups=day)
            with mock.patch.object(tvps._commands, "weights", weights):
                with sklearn.config_context(enable_metadata_routing=enable):
                    scores = cross_val_score(tvps.TimeWeighted(model, "joint"), x, y, cv=split, **arguments)
            self.assertEqual(len(scores), 2)
            self.assertTrue(np.isfinite(scores).all())
        self.assertEqual(seen, [list(range(4)), list(range(8))] * 2)

    def test_pipeline(self):
        """A Pipeline hands time to the weights of its last step, by metadata routing."""
        with sklearn.config_context(enable_metadata_routing=True):
            model = make_pipeline(StandardScaler(), tvps.TimeWeighted(Recorder(), "joint", bin="day"))
            model.fit(X, Y, time=TIME)
        self.assertEqual(model[-1].weight_.tolist(), [0.5, 1.5])
        np.testing.assert_allclose(model[-1].x_[:, 0], [-1.5**0.5, 1.5**0.5])

    def test_gap_and_group(self):
        """Both reach the program: the gap with its back test alone."""
        tvps.TimeWeighted(Ridge(), gap=datetime.timedelta(7)).fit(X, [1.0, 2, 3], time=TIME, group=[5, 6, 5])
        flags = dict(self.flags)
        self.assertEqual((flags["gap"], flags["group"]), ("168 hours", "group"))
        tvps.TimeWeights("joint", gap=datetime.timedelta(1)).fit(X, Y, time=TIME)
        self.assertFalse({"gap", "group"} & set(dict(self.flags)))


@unittest.skipUnless(HAS, "scikit-learn is not installed")
class Committees(WithFake):
    def test_check_estimator(self):
        """Without times it is the estimator, and follows scikit-learn's conventions."""
        for estimator in (LogisticRegression(), Ridge(), DecisionTreeClassifier(random_state=0)):
            check_estimator(tvps.Committee(estimator), on_skip=None)

    def fit(self, estimator, X, y, weights):
        """Fit with the members of the fake program's back test: half-life 4 and last 2. The flags of each weighting."""
        asked = []

        def weigh(frame, time, label=None, **flags):
            asked.append((flags.get("half_life"), flags.get("window"), flags["kind"], flags["at"]))
            return np.array(weights[flags.get("half_life"), flags.get("window")], dtype=float), None

        with mock.patch.object(tvps._commands, "weights", weigh):
            model = tvps.Committee(estimator, bin="day", at="2024-01-03").fit(X, y, time=TIME)
        self.assertEqual(asked, [(4, None, "none", "2024-01-03"), (None, 2, "none", "2024-01-03")])
        self.assertEqual(model.weightings_, ["half-life 4", "last 2"])
        np.testing.assert_allclose(model.shares_, [0.6 / 0.995, 0.395 / 0.995])
        model_kind = "class" if hasattr(model, "predict_proba") else "number"
        want = {"rules": "committee", "kinds": "none", "at": "2024-01-03", "bin": "day", "label-kind": model_kind}
        self.assertLessEqual(want.items(), dict(self.flags).items())
        return model

    def test_regressor(self):
        """The mean of what the members predict, which learn with the weights of their time scales."""
        weights = {(4, None): [0.5, 1.5, 1], (None, 2): [0, 2, 1]}
        y = np.array([1.0, 5, 2])
        model = self.fit(Ridge(), X, y, weights)
        a = Ridge().fit(X, y, [0.5, 1.5, 1]).predict(X)
        b = Ridge().fit(X[1:], y[1:], [2, 1]).predict(X)
        np.testing.assert_allclose(model.predict(X), (0.6 * a + 0.395 * b) / 0.995)
        self.assertFalse(hasattr(model, "predict_proba"))
        self.assertAlmostEqual(model.score(X, model.predict(X)), 1)
        self.assertEqual(model.n_features_in_, 2)
        copy = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(copy.predict(X), model.predict(X))
        model.fit(X, y)  # without time
        for name in ("members_", "shares_", "weightings_", "backtest_"):
            self.assertFalse(hasattr(model, name), name)

    def test_classifier(self):
        """Classes that a member has not seen have probability 0 there; one that has seen a single class predicts it."""
        weights = {(4, None): [1, 1, 1], (None, 2): [0, 3, 0]}
        y = np.array(["c", "b", "a"])
        model = self.fit(LogisticRegression(), X, y, weights)
        first = LogisticRegression().fit(X, y).predict_proba(X)
        self.assertEqual(model.classes_.tolist(), ["a", "b", "c"])
        want = (0.6 * first + 0.395 * np.array([0, 1, 0])) / 0.995
        np.testing.assert_allclose(model.predict_proba(X), want)
        self.assertEqual(model.predict(X).tolist(), model.classes_[want.argmax(axis=1)].tolist())
        self.assertEqual(model.score(X, model.predict(X)), 1)
        self.assertEqual(model.n_features_in_, 2)

    def test_flags(self):
        """A flag that one of the commands does not have is refused before the back test."""
        for name, command in (("last", "weights"), ("reuse", "weights"), ("rules", "backtest"), ("model", "backtest")):
            with self.assertRaisesRegex(TypeError, rf"{command}\(\) got .* {name!r}"):
                tvps.Committee(Ridge(), flags={name: 3}).fit(X, [1.0, 2, 3], time=TIME)
        self.assertFalse((self.folder / "record").exists())

    def test_search(self):
        """GridSearchCV gives each fold's training rows, without the gap, to the back test and the members."""
        x, day = np.arange(12.0)[:, None], np.arange(12)
        asked = []

        def backtest(frame, time, label, **flags):
            asked.append((frame[time].tolist(), flags["model"].alpha, flags["gap"]))
            member = {"weighting": "uniform", "half-life": 0, "window": 0, "share": 1.0}
            return mock.Mock(json={"rules": [{"rule": "committee", "members": [member]}]})

        def weigh(frame, time, label=None, **flags):
            return np.ones(len(frame[time])), None

        search = GridSearchCV(tvps.Committee(Ridge(), gap=2), {"estimator__alpha": [1, 9]}, refit=False,
                              cv=tvps.TemporalSplit(2, gap=2))
        with mock.patch.multiple(tvps._commands, weights=weigh, backtest=backtest):
            with sklearn.config_context(enable_metadata_routing=True):
                search.fit(x, x[:, 0], time=day)
        self.assertEqual(asked, [(list(range(n)), alpha, 2) for alpha in (1, 9) for n in (2, 6)])
        self.assertTrue(np.isfinite(search.cv_results_["mean_test_score"]).all())

    def test_no_weights(self):
        from sklearn.neighbors import KNeighborsClassifier

        with self.assertRaisesRegex(ValueError, "^KNeighborsClassifier.fit takes no sample_weight"):
            tvps.Committee(KNeighborsClassifier()).fit(X, Y, time=TIME)
        with self.assertRaisesRegex(ValueError, "^y is None: give the outcome of each row"):
            tvps.Committee(Ridge()).fit(X, time=TIME)
        self.assertFalse((self.folder / "record").exists())


@unittest.skipUnless(HAS, "scikit-learn is not installed")
class Split(unittest.TestCase):
    def test_blocks(self):
        """Rows in any order; the past trains, the next block tests; no time is on both sides; sizes are alike."""
        time = np.random.default_rng(0).integers(0, 50, 600)
        splits = list(tvps.TemporalSplit(4).split(np.zeros((600, 1)), groups=time))
        tested = np.concatenate([test for _, test in splits])
        self.assertEqual(len(splits), 4)
        self.assertEqual(len(set(tested)), len(tested))
        for train, test in splits:
            self.assertLess(time[train].max(), time[test].min())
            self.assertTrue(100 < len(test) < 140, len(test))
            self.assertEqual(set(train), set(np.flatnonzero(time < time[test].min())))
        self.assertEqual(set(tested) | set(splits[0][0]), set(range(600)))

    def test_uneven(self):
        """Each block has a time, also where one time has most rows."""
        for time in ([0] * 97 + [1, 2, 3], [0, 1, 2] + [3] * 97, [0, 1] + [2] * 97 + [3]):
            got = [sorted(set(np.array(time)[test])) for _, test in tvps.TemporalSplit(3).split(time, groups=time)]
            self.assertEqual(got, [[1], [2], [3]])

    def test_kinds_of_time(self):
        """Texts sort as dates, not as texts; zones are minded; months of pandas are times."""
        want = [([0, 2], [1])]
        times = [["2024-09-30", "2024-10-02", "2024-09-30"], np.array([1.5, 3, 1.5]), TIME[[0, 1, 0]].astype(object)]
        if importlib.util.find_spec("pandas"):
            import pandas

            times += [pandas.PeriodIndex(["2024-09", "2024-10", "2024-09"], freq="M"), pandas.Series(TIME[[0, 1, 0]])]
            zoned = ["2024-01-01T23:00:00+02:00", "2024-01-01T22:00:00+00:00", "2024-01-01T23:00:00+02:00"]
            times += [zoned, pandas.Series(list(map(pandas.Timestamp, zoned)))]
        for time in times:
            got = [(a.tolist(), b.tolist()) for a, b in tvps.TemporalSplit(1).split(X, time=time)]
            self.assertEqual(got, want, time)

    def test_gap(self):
        """Nothing from the gap before a test block is learned from, however the gap is given."""
        day = np.arange("2024-01-01", "2024-01-21", dtype="datetime64[D]")[::-1]
        for gap in ("3 days", datetime.timedelta(3), np.timedelta64(3, "D"), "72 hours"):
            for train, test in tvps.TemporalSplit(3, gap=gap).split(day, time=day):
                self.assertEqual(day[test].min() - day[train].max(), np.timedelta64(4, "D"))
        for gap, kind in ((1.5, np.int64), (np.int64(1), np.uint8), (1, np.int8)):
            for train, test in tvps.TemporalSplit(3, gap=gap).split(day, time=np.arange(20, dtype=kind)):
                self.assertEqual(test.min() - train.max(), 2)
        for time, gap, sentence in (
            (day, 3, r"^gap is 3: give a duration"),
            (np.arange(20), "3 days", "^gap is '3 days': give a number"),
            (day, "9 days", "^split 1 has no row to learn from"),
            (np.arange(20, dtype=np.uint8), 13, "^split 1 has no row to learn from"),
            (np.arange(20, dtype=np.int8), 300, "^split 1 has no row to learn from"),
            (20240112 + np.arange(20), 3, "^the times seem to be dates written as numbers, as 20240112,"),
            (202301.0 + np.arange(20), 3, "^the times seem to be dates"),
            (2024010100 + np.arange(20), "3 days", "^the times seem to be dates"),
        ):
            with self.assertRaisesRegex(ValueError, sentence):
                list(tvps.TemporalSplit(3, gap=gap).split(day, time=time))
        for time, gap in ((20240112 + np.arange(20), None), (202340 + np.arange(20), 3)):  # no gap; 202354 is no week
            self.assertEqual(len(list(tvps.TemporalSplit(3, gap=gap).split(day, time=time))), 3)

    def test_group(self):
        """No entity is learned from and tested in one split, and each is tested once."""
        time, shop = np.repeat(np.arange(30), 6), np.tile(["a", "b", "c", "d", "e", "f"], 30)
        tested = []
        for train, test in tvps.TemporalSplit(3).split(time, time=time, group=shop):
            self.assertFalse(set(shop[train]) & set(shop[test]))
            self.assertLess(time[train].max(), time[test].min())
            tested += sorted(set(shop[test]))
        self.assertEqual(sorted(tested), ["a", "b", "c", "d", "e", "f"])
        with self.assertRaisesRegex(ValueError, "^n_splits is 7, but there are 6 entities"):
            list(tvps.TemporalSplit(7).split(time, time=time, group=shop))

    def test_mistakes(self):
        for time, sentence in (
            (None, "needs the time of each row"),
            (["2024-1", "2024-10", "2024-2"], "the times do not sort .*\"2024-1\""),
            ([1.0, np.nan, 2], "row 2 has no time"),
            (["20240131", "20240201", "20240202"], "texts of digits alone"),
            (TIME[[0, 1, 2, 0]], "inconsistent numbers of samples"),
            (TIME[[0, 0, 1]], "n_splits is 3: 2 different times allow 1 to 1"),
        ):
            with self.assertRaisesRegex(ValueError, sentence):
                list(tvps.TemporalSplit(3).split(X, groups=time))


if __name__ == "__main__":
    unittest.main()
