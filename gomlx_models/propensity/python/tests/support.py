"""What the tests share: a program that records how it is called, and small frames."""

import json
import os
import stat
import sys
import tempfile
import unittest
from pathlib import Path

# The program's part that the package relies on, without its computation. FAKE says what it does.
FAKE = '''#!{python}
import json, os, shutil, signal, sys, time
record = os.environ["FAKE_RECORD"]
if any(f.startswith("--half-live") for f in sys.argv):
    print('replicate: unknown flag: --half-live; did you mean "--half-life"? (see `replicate x --help`)', file=sys.stderr)
    sys.exit(2)
command, table, *rest = sys.argv[1:]
flags = [f[2:].split("=", 1) for f in rest]
with open(record, "w") as f:
    json.dump({{"command": command, "table": table, "flags": flags, "PYTHONPATH": os.environ.get("PYTHONPATH")}}, f)
shutil.copy(table, os.path.join(os.path.dirname(record), os.path.basename(table)))
mode = os.environ.get("FAKE", "")
if mode == "mistake":
    print(f'replicate: {{table}}, row 3 (line 4), column "x": "1,5" is not a number; mend it', file=sys.stderr)
    sys.exit(2)
if mode == "failure":
    sys.exit("replicate: the trainer failed:\\nTraceback\\nKeyError")
if mode == "model":
    sys.exit('replicate: the trainer "python -m tvps._serve" answered "KeyError: \\\\"x\\\\" is missing" instead of ok')
if mode == "weights":
    sys.exit(f'replicate: the model "{{dict(flags)["model"]}}" does not learn with the weights')
if mode == "crash":
    print("panic: a bug", file=sys.stderr)
    sys.exit(2)
if mode == "slow":
    def stop(*_):
        open(record + ".interrupted", "a").write("x")
        time.sleep(.3)  # for a second signal, which would be recorded, too
        sys.exit(130)
    signal.signal(signal.SIGINT, stop)
    print("waiting", file=sys.stderr, flush=True)
    time.sleep(60)
    sys.exit("replicate: it was not interrupted")
print("halfway", file=sys.stderr)
flags = dict(flags)
if command == "weights":
    with open(flags["out"], "w") as f:
        f.write("row,weight,log_omega,spread\\n1,.5,-1e-05,.1\\n3,1.5,0,.2\\n")
    print("Weights: " + flags["out"])
    result = {{"file": table, "schema": {{"file": table}}, "notes": []}}
elif command == "drift":
    open(os.path.join(flags["out"], "page.html"), "w").close() if os.path.isdir(flags["out"]) else None
    result = {{
        "file": table,
        "verdict": {{"sentence": "The table drifts in y <given> x", "drift": ["y given x"]}},
        "columns": {{"list": [{{"column": "x", "change": 2, "share": .75}}, {{"column": "y", "share": .25}}]}},
        "blocks": [{{"name": "2024-01-01", "time": 0, "rows": 1}}, {{"name": "2024-01-02", "time": 1, "rows": 1}},
                   {{"name": "2024-01-03", "time": 2, "rows": 1}}],
        "maps": [{{"in": "x", "worth": []}}, {{"in": "x and y", "worth": [[], [], [.5, .75, 1]]}}],
        "tests": {{"stretches": [{{"name": "2024-01-01", "rows": 2}}, {{"name": "2024-01-03", "rows": 1}}],
                  "list": [{{"stretch": 0, "against": "present", "in": "x", "drift": True}},
                           {{"stretch": 1, "against": "before", "in": "x", "drift": True}}]}},
    }}
else:
    result = {{
        "file": table,
        "metric": "log-loss",
        "model": "serve:python -m tvps._serve x.pickle # Ridge",
        "rules": [
            {{"rule": "uniform", "kind": "", "tuned": False, "scores": {{"log-loss": .5, "accuracy": .8}}}},
            {{"rule": "forgetting", "kind": "joint", "tuned": True, "scores": {{"log-loss": .4, "accuracy": .9}},
             "against-uniform": {{"mean": -.1, "low": -.2, "high": -.05}}, "half-life": 4, "chosen": ["none", "4"]}},
        ] + [{{"rule": "committee", "kind": "", "tuned": False, "scores": {{"log-loss": .3}}, "members": [
            {{"weighting": "half-life 4", "half-life": 4, "window": 0, "share": .6}},
            {{"weighting": "last 2", "half-life": 0, "window": 2, "share": .395}},
            {{"weighting": "uniform", "half-life": 0, "window": 0, "share": .005}},
        ]}}] * (flags.get("rules") == "committee"),
        "blocks": [{{"time": "2024-02", "rows": 3, "scores": {{"uniform": .5, "forgetting": .4}}}}],
        "verdict": {{"sentence": "forgetting is enough", "rule": "forgetting", "kind": "", "half-life": 4}},
    }}
with open(flags["json"], "w") as f:
    json.dump(result, f)
'''

COLUMNS = {"day": ["2024-01-01", "2024-01-02", "2024-01-03"], "x": [1.5, float("nan"), -2.0], "y": ["a", "b", "a"]}


class WithFake(unittest.TestCase):
    """A test in which TVPS_BINARY is a program that records how it is called."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        program = self.folder / "fake"
        program.write_text(FAKE.format(python=sys.executable))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        setenv(self, TVPS_BINARY=str(program), TVPS_CACHE=str(self.folder / "cache"))
        setenv(self, FAKE_RECORD=str(self.folder / "record"))

    def setenv(self, **values):
        setenv(self, **values)

    @property
    def call(self):
        """The last call: command, table, flags, PYTHONPATH."""
        return json.loads((self.folder / "record").read_text())

    @property
    def table(self):
        """The table that the program read."""
        return self.folder / Path(self.call["table"]).name

    @property
    def flags(self):
        """The flags of the last call, without the files of the result."""
        return [f for f in self.call["flags"] if f[0] not in ("out", "json")]


def setenv(test, **values):
    """Set environment variables until a test ends; None removes one."""
    for name, value in values.items():
        test.addCleanup(_restore, name, os.environ.get(name))
        _restore(name, value)


def _restore(name, value):
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value
