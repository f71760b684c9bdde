"""How the program is found."""

import importlib
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from support import setenv

from tvps import _binary


class Find(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        self.package = self.folder / "package"
        setenv(self, TVPS_BINARY=None, PATH=str(self.folder / "bin"))
        self.package.mkdir()
        (self.package / "_binary.py").touch()
        local = mock.patch.object(_binary, "__file__", str(self.package / "_binary.py"))
        local.start()
        self.addCleanup(local.stop)

    def program(self, folder, name="tvps"):
        path = self.folder / folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        return str(path)

    def test_windows(self):
        """On Windows the import says where the package runs."""
        with mock.patch.object(sys, "platform", "win32"), self.assertRaisesRegex(ImportError, "needs Linux or macOS"):
            importlib.reload(_binary)

    def test_order(self):
        """TVPS_BINARY, then the program of the wheel, then PATH."""
        with self.assertRaisesRegex(RuntimeError, "^the program tvps is missing"):
            _binary.binary()
        for folder in ("bin", "package"):
            program = self.program(folder)
            self.assertEqual(_binary.binary(), program)
        named = self.program("elsewhere", "other")
        setenv(self, TVPS_BINARY=named)
        self.assertEqual(_binary.binary(), named)
        setenv(self, TVPS_BINARY="/nowhere/tvps")
        with self.assertRaisesRegex(RuntimeError, "TVPS_BINARY is /nowhere/tvps, which is not a program"):
            _binary.binary()


class Import(unittest.TestCase):
    def run_python(self, script):
        path = str(Path(_binary.__file__).parents[1])
        script = f"import sys; sys.path.insert(0, {path!r})\n{script}"
        return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)

    def test_alone(self):
        """The package itself imports nothing that need not be installed."""
        optional = "['pandas', 'sklearn', 'matplotlib', 'polars']"
        done = self.run_python(f"import tvps; print([m for m in {optional} if m in sys.modules])")
        self.assertEqual((done.stdout, done.stderr), ("[]\n", ""))

    def test_without_sklearn(self):
        done = self.run_python("sys.modules['sklearn'] = None\nimport tvps\ntvps.TimeWeights()")
        self.assertIn("\nImportError: tvps.TimeWeights needs scikit-learn 1.6 or later", done.stderr)


if __name__ == "__main__":
    unittest.main()
