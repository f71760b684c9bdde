"""The plots of results: what matplotlib is given."""

import importlib.util
import sys
import unittest
from unittest import mock

import numpy as np
from support import COLUMNS, WithFake

import tvps

HAS = importlib.util.find_spec("matplotlib")
if HAS:
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot


class WithoutMatplotlib(WithFake):
    def test_sentence(self):
        _, details = tvps.weights(COLUMNS, "day", details=True, quiet=True)
        with mock.patch.dict(sys.modules, matplotlib=None):
            with self.assertRaisesRegex(ImportError, r"^plot\(\) needs matplotlib"):
                details.plot()
            page = tvps.drift(COLUMNS, "day", quiet=True)._repr_html_()
        self.assertEqual(page, "<p>The table drifts in y &lt;given&gt; x</p>")


@unittest.skipUnless(HAS, "matplotlib is not installed")
class Plots(WithFake):
    def tearDown(self):
        pyplot.close("all")

    def details(self, time, weight):
        rows = np.where(weight > 0, 0.0, np.nan)
        return tvps.Details(rows, rows, {}, weight, time)

    def test_weights(self):
        """The mean of each time; rows after T are not drawn."""
        time = np.array(["2024-01", "2024-01", "2024-02", "2024-03"], "datetime64[M]")
        given = pyplot.subplots()[1]
        ax = self.details(time, np.array([1.0, 4, 2, 0])).plot(given)
        self.assertIs(ax, given)
        x, mean = ax.lines[0].get_data(orig=True)
        self.assertEqual(list(mean), [2.5, 2])
        self.assertEqual(x.astype("datetime64[M]").tolist(), time[1:3].astype("datetime64[M]").tolist())

    def test_many_times(self):
        """More than 60 times are grouped; the weights and their count stay."""
        time = np.random.default_rng(0).permutation(6000)
        ax = self.details(time, 1.0 + time).plot()
        x, mean = ax.lines[0].get_data()
        self.assertEqual(len(x), 60)
        np.testing.assert_allclose(mean, 50.5 + 100 * np.arange(60), atol=1)
        np.testing.assert_allclose(x, mean, atol=2)

    def test_without_time(self):
        _, details = tvps.weights(COLUMNS, details=True, quiet=True)
        self.assertEqual(details.plot().lines[0].get_xdata().tolist(), [0, 2])

    def test_estimator(self):
        if not importlib.util.find_spec("sklearn"):
            self.skipTest("scikit-learn is not installed")
        weights = tvps.TimeWeights("joint").fit(np.zeros((3, 1)), time=[3, 2, 1])
        self.assertEqual(list(weights.plot().lines[0].get_ydata()), [1.5, 0.5])

    def test_losses(self):
        """A point for each rule, the best on top, with the interval around its loss."""
        ax = tvps.backtest(COLUMNS, "day", "y", quiet=True).plot()
        self.assertEqual([label.get_text() for label in ax.get_yticklabels()], ["uniform", "forgetting"])
        self.assertEqual(list(ax.lines[0].get_xdata()), [0.5, 0.4])
        np.testing.assert_allclose(ax.lines[1].get_xdata(), [0.3, 0.45])

    def test_drift(self):
        """A bar for each block, as high as it is like the present; dark where it differs. Jupyter shows it."""
        drift = tvps.drift(COLUMNS, "day", "y", quiet=True)
        bars = drift.plot().patches
        self.assertEqual([bar.get_height() for bar in bars], [0.5, 0.75, 1])
        self.assertEqual(bars[0].get_facecolor(), bars[1].get_facecolor())
        self.assertNotEqual(bars[0].get_facecolor(), bars[2].get_facecolor())
        for answer in (drift, tvps.backtest(COLUMNS, "day", "y", quiet=True)):
            self.assertIn('src="data:image/png;base64,iVBOR', answer._repr_html_())
            self.assertIn(f"<p>{answer.verdict.replace('<', '&lt;').replace('>', '&gt;')}</p>", answer._repr_html_())


if __name__ == "__main__":
    unittest.main()
