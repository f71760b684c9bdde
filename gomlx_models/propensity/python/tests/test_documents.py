"""The examples of docstrings run, and the types are what mypy understands."""

import doctest
import importlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import tvps

HAS_PROGRAM = True
try:
    tvps.binary()
except RuntimeError:
    HAS_PROGRAM = False

USE = """
import tvps
weight, details = tvps.weights({}, "day", details=True)
total: float = weight.sum() + details.log_omega.mean()
found: list[str] = tvps.drift({}, "day").found
sentence: str = tvps.backtest({}, "day", "y", model="logistic").verdict
split = tvps.TemporalSplit(3, gap="7 days")
model = tvps.TimeWeighted(None, "joint", bin="week").fit([], [], time=[])
folds = [train.max() - test.min() for train, test in split.split([], time=[])]
"""
WRONG = """
import tvps
tvps.drift({}, bins="day").colums
tvps.TemporalSplit("3")
"""


class Documents(unittest.TestCase):
    def examples(self, module):
        test = doctest.testmod(importlib.import_module(module), optionflags=doctest.NORMALIZE_WHITESPACE)
        self.assertEqual((test.failed, test.attempted > 0), (0, True))

    @unittest.skipUnless(HAS_PROGRAM, "there is no program")
    def test_commands(self):
        self.examples("tvps._commands")

    @unittest.skipUnless(importlib.util.find_spec("sklearn"), "scikit-learn is not installed")
    def test_estimators(self):
        self.examples("tvps._estimators")

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed")
    def test_types(self):
        """A strict user has no error, and mistakes are found."""
        package = Path(tvps.__file__).parent
        with tempfile.TemporaryDirectory() as folder:
            for text, errors in ((USE, 0), (WRONG, 2)):
                Path(folder, "use.py").write_text(text)
                command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", folder, "use.py"]
                environment = {**os.environ, "MYPYPATH": "" if "site-packages" in str(package) else str(package.parent)}
                out = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True).stdout
                found = [line for line in out.splitlines() if line.startswith("use.py")]
                self.assertEqual(len(found), errors, out)


if __name__ == "__main__":
    unittest.main()
