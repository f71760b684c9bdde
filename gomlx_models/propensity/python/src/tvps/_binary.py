"""Finds the program, and runs it."""

import collections
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

try:
    import grp
    import pwd
except ImportError:
    raise ImportError("the Python package tvps needs Linux or macOS: use WSL, or the program tvps without it") from None

GRACE = 10  # seconds that an interrupted program has to end


def binary():
    """Return the path of the program: TVPS_BINARY, or the one that the wheel contains, or `tvps` on PATH.

    Raise RuntimeError if there is none, or if others than its owner may write it or its folder.
    """
    if named := os.environ.get("TVPS_BINARY"):
        if found := shutil.which(named):
            return _safe(found)
        raise RuntimeError(f"TVPS_BINARY is {named}, which is not a program: set it to the path of tvps, or unset it")
    if found := shutil.which(str(Path(__file__).with_name("tvps"))) or shutil.which("tvps"):
        return _safe(found)
    raise RuntimeError(
        "the program tvps is missing, as this installation is editable: `go build -o tvps ./replicate` in a checkout "
        "makes it; put it on PATH, or set TVPS_BINARY to it"
    )


def _safe(program):
    """Return the path of a program that only this user, the owner of this package or root can have written."""
    trusted = {0, os.geteuid(), os.stat(__file__).st_uid}
    path = Path(program).resolve()
    for place in (path, path.parent):
        status = place.stat()
        shared = status.st_mode & stat.S_IWGRP and not _private(status)
        if status.st_uid not in trusted or status.st_mode & stat.S_IWOTH or shared:
            raise RuntimeError(
                f"{program} is not run, because other users may write {place}: `chmod go-w` it, or copy the program to "
                "a folder of yours and set TVPS_BINARY to it"
            )
    return str(program)


def _private(status):
    """Tell whether the group of a file is root's, or has the name of its owner, as many systems give each user one."""
    try:
        return status.st_gid == 0 or grp.getgrgid(status.st_gid).gr_name == pwd.getpwuid(status.st_uid).pw_name
    except KeyError:
        return False


def cache():
    """Return the cache folder of this package, in that of the program."""
    if "TVPS_CACHE" in os.environ:
        return Path(os.environ["TVPS_CACHE"], "python")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "tvps" / "python"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "tvps", "python")


def output(arguments):
    """Run the program, and return what it prints."""
    return subprocess.run([binary(), *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout


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
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, **(environment or {})},
        start_new_session=True,  # Ctrl-C reaches this process alone, which passes it on once
    )
    tail = collections.deque(maxlen=100)

    def forward(stream, keep):
        failed = False
        with stream:
            for line in stream:
                keep.append(line)
                failed = failed or ERROR.match(line) is not None
                if not quiet and not failed and str(table.parent) not in line:
                    sys.stderr.write(line)
                    sys.stderr.flush()

    readers = [
        threading.Thread(target=forward, args=(child.stdout, collections.deque(maxlen=0)), daemon=True),
        threading.Thread(target=forward, args=(child.stderr, tail), daemon=True),
    ]
    try:
        for reader in readers:
            reader.start()
        child.wait()
    except BaseException:
        _interrupt(child)
        raise
    finally:
        for reader in readers:
            if reader.ident:
                reader.join(GRACE)
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
