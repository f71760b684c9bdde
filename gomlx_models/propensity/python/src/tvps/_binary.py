"""Finds the program, and runs it."""

import collections
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

if sys.platform == "win32":
    raise ImportError("the Python package tvps needs Linux or macOS: use WSL, or the program tvps without it")

GRACE = 10  # seconds that an interrupted program has to end


def binary():
    """Return the path of the program: TVPS_BINARY, or the one that the wheel contains, or `tvps` on PATH.

    Raise RuntimeError if there is none.
    """
    if named := os.environ.get("TVPS_BINARY"):
        if found := shutil.which(named):
            return found
        raise RuntimeError(f"TVPS_BINARY is {named}, which is not a program: set it to the path of tvps, or unset it")
    if found := shutil.which(str(Path(__file__).with_name("tvps"))) or shutil.which("tvps"):
        return found
    raise RuntimeError(
        "the program tvps is missing, as this installation is editable: `go build -o tvps ./replicate` in a checkout "
        "makes it; put it on PATH, or set TVPS_BINARY to it"
    )


def cache():
    """Return the cache folder of this package, in that of the program."""
    if "TVPS_CACHE" in os.environ:
        return Path(os.environ["TVPS_CACHE"], "python")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "tvps" / "python"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "tvps", "python")


ERROR = re.compile(r"^(?:tvps|replicate): ")  # of the line that says why the program failed


def run(arguments, table, quiet=False, environment=None):
    """Run the program on a file. What it prints goes to stderr, unless quiet, except for the lines that name files of
    the temporary folder, where table is. Errors call the file "frame".

    Raise ValueError with the program's sentence if the table or the request has a mistake (exit code 2), RuntimeError
    if it fails otherwise. If this process is interrupted, so is the program, which then is awaited.
    """
    command = [binary(), *arguments]
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, "TVPS_WITH_PARENT": "1", **(environment or {})},  # it ends when this process is killed
        start_new_session=True,  # Ctrl-C reaches this process alone, which passes it on once
    )
    tail, failed = collections.deque(maxlen=100), False
    try:
        with child.stdout:
            for line in child.stdout:
                tail.append(line)
                failed = failed or ERROR.match(line) is not None
                if not quiet and not failed and str(table.parent) not in line:
                    sys.stderr.write(line)
                    sys.stderr.flush()
        child.wait()
    except BaseException:
        _interrupt(child)
        raise
    if child.returncode == 0:
        return
    lines = list(tail)
    first = next((i for i, line in enumerate(lines) if ERROR.match(line)), None)
    text = ERROR.sub("", "".join(lines[first:]).strip())
    text = re.sub(r" \(line \d+\)", "", text.replace(str(table), "frame"))
    text = re.sub(r"`(?:tvps|replicate) (\w+) --help`", r"help(tvps.\1)", text)
    if child.returncode == 2 and first is not None:
        raise ValueError(text)
    raise RuntimeError(text or f"`{' '.join(command[:2])}` ended with exit code {child.returncode}")


def _interrupt(child):
    """Interrupt the program, and end it and what it started if it does not end by itself."""
    try:
        child.send_signal(signal.SIGINT)
        child.wait(GRACE)
    except BaseException:  # a second Ctrl-C, or it takes too long
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
