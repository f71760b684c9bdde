"""Draw where the commands of own tables spend their processor time, as figures/gallery/archive/own-tables.svg shows it.

perf record -F 99 -g -o NAME.perf tvps COMMAND ...   # for each bar
python profile.py OUT.svg NAME.perf ...              # a bar is called NAME; needs matplotlib

A sample counts for the first part of which a function, or else the program's file, is in its stack.
"""
import re
import subprocess
import sys
from pathlib import Path

from matplotlib import pyplot

PARTS = {  # what is searched for in a stack
    "XLA compiles": r"llvm::|mlir::|LLVM|Compile|HloPass|xla::Hlo",
    "XLA computes": r"XLAEigen|pjrt_c_api|\[JIT\]|libm\.so",
    "garbage collection": r"runtime\.gc|runtime\.bgsweep|runtime\.scan|runtime\.greyobject",
    "g": r"crossfit\.Fit|propensity\.Fit|crossfit\.\(\*Fitted\)|crossfit\.\(\*pass\)|crossfit\.\(\*adam\)|addRows",
    "tests for drift": r"crossfit\.FindDrift|crossfit\.\(\*tester\)",
    "tests over time": r"drift\.\(\*measurement\)\.overTime|drift\.\(\*split\)",
    "models of the back test": r"backtest\.\(\*computation\)\.predict|backtest\.logistic|backtest\.\(\*sparse\)|backtest\.softmax",
    "all else": "",
}

out, *records = sys.argv[1:]
_, ax = pyplot.subplots(figsize=(9, 1.4 + 0.4 * len(records)), layout="constrained")
for name in reversed(records):
    script = ["perf", "script", "-i", name, "-F", "comm,period,event,ip,sym,dso"]
    stacks = subprocess.run(script, capture_output=True, text=True, check=True).stdout.strip().split("\n\n")
    count = dict.fromkeys(PARTS, 0)
    for stack in stacks:
        count[next(part for part, words in PARTS.items() if re.search(words, stack))] += 1
    left = 0.0
    for color, (part, n) in zip(pyplot.cm.tab10.colors, count.items()):
        ax.barh(Path(name).stem, n / 99, left=left, color=color, label=part if name == records[-1] else None)
        left += n / 99
    print(Path(name).stem, f"{left:.1f} s:", ", ".join(f"{part} {n / 99:.1f}" for part, n in count.items() if n))
ax.set_xlabel("seconds of a processor")
ax.figure.legend(loc="outside upper center", ncols=4, fontsize="small", frameon=False)
pyplot.rcParams["svg.hashsalt"] = "tvps"
pyplot.savefig(out, metadata={"Date": None})
