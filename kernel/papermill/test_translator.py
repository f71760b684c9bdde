"""Run by the Go test of this folder, with papermill and tvps_papermill installed."""

import unittest

from papermill.exceptions import PapermillException
from papermill.translators import papermill_translators

CELL = """import "time"

var (
	scale string = "tiny // no comment"  // tiny, small or paper
	seeds        = "0,1,2"
	rate  float64 = 3
	n            = -3
	d            = 90 * time.Second // how long
	on           = true
	f            = 1e-3
	other        = call()
	lags         = []int{1, 2} // steps
	of map[string]float64 = map[string]float64{"a": 1}
)
const limit uint8 = 7
var raw = `a"b`
%%
var inner = 3
"""


class TestTranslator(unittest.TestCase):
    def setUp(self):
        self.go = papermill_translators.find_translator("tvps", "go")  # found through an entry point

    def codify(self, **values):
        self.go.inspect({"source": CELL})
        return self.go.codify(values).splitlines()[1:]

    def test_inspect(self):
        found = [tuple(p) for p in self.go.inspect({"source": CELL})]
        self.assertEqual(found, [
            ("scale", "string", '"tiny // no comment"', "tiny, small or paper"),
            ("seeds", "string", '"0,1,2"', ""),
            ("rate", "float64", "3", ""),
            ("n", "int", "-3", ""),
            ("d", "time.Duration", "90 * time.Second", "how long"),
            ("on", "bool", "true", ""),
            ("f", "float64", "1e-3", ""),
            ("other", "", "call()", ""),
            ("lags", "[]int", "[]int{1, 2}", "steps"),
            ("of", "map[string]float64", 'map[string]float64{"a": 1}', ""),
            ("limit", "uint8", "7", ""),
            ("raw", "string", '`a"b`', ""),
        ])

    def test_declarations(self):
        self.assertEqual(
            self.codify(scale='a"\\\n\ufeff\u00e4\x00', seeds=0, rate=5, n=4.0, d="1h30m1.5s", on=False, limit=9, new="x"),
            ['var scale string = "a\\"\\\\\\n\\ufeff\u00e4\\u0000"', 'var seeds string = "0"', "var rate float64 = 5",
             "var n int = 4.0", "var d time.Duration = time.Duration(5401500000000)", "var on bool = false",
             "const limit uint8 = 9", 'var new = "x"'])

    def test_composites(self):
        self.assertEqual(
            self.codify(lags=[3, 4.0], of={"b": 2, "c d": 0.5}, new=["a", "b"], mixed=[1, 0.5], scale=True),
            ["var lags []int = []int{3, 4.0}", 'var of map[string]float64 = map[string]float64{"b": 2, "c d": 0.5}',
             'var new = []string{"a", "b"}', "var mixed = []float64{1, 0.5}", 'var scale string = "True"'])
        for values in ({"lags": {"a": 1}}, {"lags": ["a"]}, {"lags": [[1]]}, {"new": [1, "a"]}, {"scale": [1]},
                       {"new": []}):
            with self.assertRaises(PapermillException, msg=values):
                self.codify(**values)

    def test_forgets(self):
        """The types of one notebook are not those of the next."""
        self.codify(rate=1)
        self.assertEqual(self.go.codify({"rate": 2}).splitlines()[1:], ["var rate = 2"])

    def test_refuses(self):
        for name, value in [("n", 2.5), ("n", "x"), ("on", 1), ("d", "1 hour"), ("rate", float("nan")), ("rate", True),
                            ("a b", 1), ("func", 1), ("new", None), ("new", [None]), ("scale", None), ("scale", "\ud800")]:
            with self.assertRaises(PapermillException, msg=f"{name}={value!r}"):
                self.codify(**{name: value})


if __name__ == "__main__":
    unittest.main()
