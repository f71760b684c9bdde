"""How the program is found and built."""

import stat
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from support import setenv

from tvps import _binary

GO = """#!/bin/sh
echo "$@" >> "{log}"
[ -e "{log}.fail" ] && echo "broken.go:1: no" >&2 && exit 1
while [ "$1" != -o ]; do shift; done
echo '#!/bin/sh' > "$2" && chmod +x "$2"
"""


class Find(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        self.bin, self.source = self.folder / "bin", self.folder / "source"
        self.source.mkdir()
        (self.source / "go.mod").write_text("module tvps\n")
        git = Path(_binary.shutil.which("git")).parent
        setenv(
            self,
            TVPS_BINARY=None,
            TVPS_SOURCE=str(self.source),
            TVPS_CACHE=str(self.folder / "cache"),
            PATH=f"{self.bin}:{git}",
        )
        which = _binary.shutil.which
        only_path = lambda name: None if name.endswith("/go/bin/go") else which(name)
        local = mock.patch.object(_binary.shutil, "which", only_path)
        local.start()
        self.addCleanup(local.stop)

    def program(self, name, text="#!/bin/sh\n"):
        self.bin.mkdir(exist_ok=True)
        path = self.bin / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    def go(self):
        self.program("go", GO.format(log=self.folder / "log"))

    def builds(self):
        log = self.folder / "log"
        return len(log.read_text().splitlines()) if log.exists() else 0

    def test_order(self):
        self.go()
        built = _binary.binary(quiet=True)
        self.assertTrue(built.startswith(str(self.folder / "cache")), built)
        on_path = self.program("tvps")
        self.assertEqual(_binary.binary(), on_path)
        named = self.program("other")
        setenv(self, TVPS_BINARY=named)
        self.assertEqual(_binary.binary(), named)
        setenv(self, TVPS_BINARY="/nowhere/tvps")
        with self.assertRaisesRegex(RuntimeError, "TVPS_BINARY is /nowhere/tvps, which is not a program"):
            _binary.binary()

    def test_build_once_a_commit(self):
        self.go()
        git = ["git", "-C", str(self.source), "-c", "user.name=a", "-c", "user.email=a@b"]
        _binary.binary(quiet=True)
        _binary.binary(quiet=True)
        self.assertEqual(self.builds(), 2)  # without Git it cannot tell what has changed
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", "one"], check=True)
        first = _binary.binary(quiet=True)
        self.assertEqual(_binary.binary(quiet=True), first)
        self.assertEqual(self.builds(), 3)
        (self.source / "main.go").write_text("package main\n")
        self.assertNotEqual(_binary.binary(quiet=True), first)
        self.assertEqual(self.builds(), 4)

    def test_nothing(self):
        with self.assertRaisesRegex(RuntimeError, "^the program tvps is not on PATH .* Go is not installed"):
            _binary.binary()
        self.go()
        (self.folder / "log.fail").touch()
        with self.assertRaisesRegex(RuntimeError, r"failed: broken\.go:1: no$"):
            _binary.binary(quiet=True)
        setenv(self, TVPS_SOURCE=str(self.bin))
        with self.assertRaisesRegex(RuntimeError, "not a checkout of tvps"):
            _binary.binary()
        setenv(self, TVPS_SOURCE=None)
        with mock.patch.object(_binary, "_checkout", lambda: None):
            with self.assertRaisesRegex(RuntimeError, "source is not found .set TVPS_SOURCE"):
                _binary.binary()

    def test_checkout(self):
        """The package knows the checkout that it was installed from."""
        setenv(self, TVPS_SOURCE=None)
        self.assertTrue((_binary._checkout() / "replicate").is_dir())


if __name__ == "__main__":
    unittest.main()
