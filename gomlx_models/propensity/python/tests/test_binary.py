"""How the program is found, and that none is run which others may have written."""

import importlib
import os
import stat
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
        """Without the modules of Unix the import says where the package runs."""
        with mock.patch.dict(sys.modules, grp=None), self.assertRaisesRegex(ImportError, "needs Linux or macOS"):
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

    def test_others_may_write(self):
        """A program is not run if its file or its folder may be written by others, also through a link."""
        program = Path(self.program("bin"))
        link = self.folder / "link"
        link.symlink_to(program)
        for place in (program, program.parent):
            for mode in (stat.S_IWOTH, stat.S_IWOTH | stat.S_ISVTX):
                place.chmod(0o755 | mode)
                for name in (None, str(link)):
                    setenv(self, TVPS_BINARY=name)
                    with self.assertRaisesRegex(RuntimeError, f"not run, because other users may write {place}:"):
                        _binary.binary()
            place.chmod(0o755)
        self.assertEqual(_binary.binary(), str(link))

    def test_group(self):
        """A group may write only if it is root's, or has its owner's name."""
        program = Path(self.program("bin"))
        program.chmod(0o775)
        names = mock.Mock(gr_name="me", pw_name="me")
        with mock.patch.object(_binary.grp, "getgrgid", lambda _: names):
            with mock.patch.object(_binary.pwd, "getpwuid", lambda _: names):
                self.assertEqual(_binary.binary(), str(program))
                names.gr_name = "all"
                if program.stat().st_gid != 0:
                    with self.assertRaisesRegex(RuntimeError, "other users may write"):
                        _binary.binary()
                status = mock.Mock(st_gid=100, st_uid=100)
                self.assertFalse(_binary._private(status))
                names.gr_name = "me"
                self.assertTrue(_binary._private(status))
        self.assertTrue(_binary._private(mock.Mock(st_gid=0, st_uid=100)))

    @unittest.skipUnless(os.geteuid() == 0, "only root can give files away")
    def test_owner(self):
        """Another user's program is run only if this package is that user's as well."""
        program = self.program("bin")
        os.chown(program, 12345, 0)
        with self.assertRaisesRegex(RuntimeError, "other users may write"):
            _binary.binary()
        os.chown(self.package / "_binary.py", 12345, 0)
        self.assertEqual(_binary.binary(), program)


class Import(unittest.TestCase):
    def run_python(self, script):
        path = str(Path(_binary.__file__).parents[1])
        script = f"import sys; sys.path.insert(0, {path!r})\n{script}"
        return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)

    def test_numpy_alone(self):
        """The package itself imports nothing that need not be installed."""
        optional = "['pandas', 'sklearn', 'matplotlib', 'polars']"
        done = self.run_python(f"import tvps; print([m for m in {optional} if m in sys.modules])")
        self.assertEqual((done.stdout, done.stderr), ("[]\n", ""))

    def test_without_sklearn(self):
        done = self.run_python("sys.modules['sklearn'] = None\nimport tvps\ntvps.TimeWeights()")
        self.assertIn("\nImportError: tvps.TimeWeights needs scikit-learn 1.6 or later", done.stderr)


if __name__ == "__main__":
    unittest.main()
