"""Finds or builds the program, and runs it."""

import collections
import importlib.metadata
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import urllib.parse
import urllib.request
from pathlib import Path

GRACE = 10  # seconds that an interrupted program has to end


def binary(quiet=False):
    """Return the path of the program.

    It is TVPS_BINARY, or `tvps` on PATH, or it is built with Go from the checkout that this package was installed from
    (TVPS_SOURCE names another one) and kept in the cache folder, by commit. Raise RuntimeError if there is none.
    """
    if named := os.environ.get("TVPS_BINARY"):
        if found := shutil.which(named):
            return found
        raise RuntimeError(f"TVPS_BINARY is {named}, which is not a program: set it to the path of tvps, or unset it")
    if found := shutil.which("tvps"):
        return found
    source = _checkout()
    go = shutil.which("go") or shutil.which("/usr/local/go/bin/go")
    if not source or not go:
        lack = "Go is not installed (https://go.dev/dl/)" if source else "its source is not found (set TVPS_SOURCE)"
        raise RuntimeError(
            f"the program tvps is not on PATH and cannot be built, because {lack}: "
            "`go build -o tvps ./replicate` in a checkout makes it; put it on PATH, or set TVPS_BINARY to it"
        )
    return _build(go, source, quiet)


def cache():
    """Return the cache folder of this package, in that of the program."""
    if "TVPS_CACHE" in os.environ:
        return Path(os.environ["TVPS_CACHE"], "python")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "tvps" / "python"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "tvps", "python")


def _checkout():
    """Return the folder of the Go module: TVPS_SOURCE, or the one that pip installed from, or around this file."""
    if named := os.environ.get("TVPS_SOURCE"):
        if _is_checkout(Path(named)):
            return Path(named)
        raise RuntimeError(f"TVPS_SOURCE is {named}, which is not a checkout of tvps: set it to the folder with go.mod")
    starts = [Path(__file__)]
    try:
        record = importlib.metadata.distribution("tvps").read_text("direct_url.json")  # PEP 610
        url = urllib.parse.urlparse(json.loads(record or "{}").get("url", ""))
        if url.scheme == "file":
            starts.insert(0, Path(urllib.request.url2pathname(url.path), "pyproject.toml"))
    except importlib.metadata.PackageNotFoundError:
        pass
    return next((folder for start in starts for folder in start.parents if _is_checkout(folder)), None)


def _is_checkout(folder):
    module = folder / "go.mod"
    return module.is_file() and re.search(r"^module tvps$", module.read_text(), re.MULTILINE) is not None


def _build(go, source, quiet):
    """Build the program, unless that of the checkout's commit is in the cache. A checkout with changes, or without
    Git, is built at each call: Go's cache makes that a matter of seconds."""
    commit = _git(source, "rev-parse", "--short=12", "HEAD")
    clean = commit and _git(source, "status", "--porcelain") == ""
    folder = cache() / f"tvps-{commit if clean else 'changed'}"
    program = folder / "tvps"
    if clean and program.is_file():
        return str(program)
    folder.mkdir(parents=True, exist_ok=True)
    if not quiet:
        print(f"tvps: building {program} from {source}", file=sys.stderr)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        new = Path(work, "tvps")
        stamp = [] if commit else ["-buildvcs=false"]
        done = subprocess.run(
            [go, "build", *stamp, "-o", str(new), "./replicate"], cwd=source, capture_output=True, text=True
        )
        if done.returncode:
            raise RuntimeError(f"`go build ./replicate` in {source} failed: {done.stderr.strip()[-2000:]}")
        new.replace(program)
    return str(program)


def _git(source, *arguments):
    """Return the output of a Git command, or None if it fails."""
    try:
        done = subprocess.run(["git", "-C", str(source), *arguments], capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


ERROR = re.compile(r"^(?:tvps|replicate): ")  # of the line that says why the program failed


def run(arguments, table, quiet=False, environment=None):
    """Run the program on a file. What it prints goes to stderr, unless quiet, except for the lines that name files of
    the temporary folder, where table is. Errors call the file "frame".

    Raise ValueError with the program's sentence if the table or the request has a mistake (exit code 2), RuntimeError
    if it fails otherwise. If this process is interrupted, so is the program, which then is awaited.
    """
    command = [binary(quiet), *arguments]
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
