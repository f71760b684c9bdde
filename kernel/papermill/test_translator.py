"""Run by the Go test of this folder, with papermill and tvps_papermill installed."""

import unittest

from papermill.exceptions import PapermillException
from papermill.translators import papermill_translators

CELL = """var (
	scale string = "tiny // no comment"  // tiny, small or paper
	seeds        = "0,1,2"
	rate  float64 = 3
	n            = -3
	on           = true
	f            = 1e-3
	other        = call()
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
            ("on", "bool", "true", ""),
            ("f", "float64", "1e-3", ""),
            ("other", "", "call()", ""),
            ("limit", "uint8", "7", ""),
            ("raw", "string", '`a"b`', ""),
        ])

    def test_declarations(self):
        self.assertEqual(
            self.codify(scale='a"\\\n\ufeff\u00e4\x00', seeds=0, rate=5, n=4.0, on=False, limit=9, new="x"),
            ['var scale string = "a\\"\\\\\\n\\ufeff\u00e4\\u0000"', 'var seeds string = "0"', "var rate float64 = 5",
             "var n int = 4.0", "var on bool = false",
             "const limit uint8 = 9", 'var new = "x"'])

    def test_forgets(self):
        """The types of one notebook are not those of the next."""
        self.codify(rate=1)
        self.assertEqual(self.go.codify({"rate": 2}).splitlines()[1:], ["var rate = 2"])

    def test_refuses(self):
        for name, value in [("n", 2.5), ("n", "x"), ("on", 1), ("rate", float("nan")), ("rate", True),
                            ("a b", 1), ("func", 1), ("new", None), ("new", [1]), ("scale", None), ("scale", "\ud800")]:
            with self.assertRaises(PapermillException, msg=f"{name}={value!r}"):
                self.codify(**{name: value})


if __name__ == "__main__":
    unittest.main()
