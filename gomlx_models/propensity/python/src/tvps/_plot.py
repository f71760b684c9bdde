"""Plots of results, with matplotlib, which only this module imports."""

import base64
import html as _html
import io

import numpy as np

from . import _frames

BLOCKS = 60  # into which more times are grouped


def _axes(ax):
    """Return the axes to draw on: new ones unless given."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plot() needs matplotlib: pip install matplotlib") from error
    return pyplot.subplots(figsize=(8, 3), layout="constrained")[1] if ax is None else ax


def weights(ax, time, weight):
    """Plot the mean weight of each time, with the band from the 10th to the 90th percentile."""
    ax = _axes(ax)
    time = _frames.moments(time)
    numbers = time.astype(np.int64 if time.dtype.kind == "M" else float)
    values, block = np.unique(numbers, return_inverse=True)
    if len(values) > BLOCKS:
        share = (numbers - values[0]) / (values[-1] - values[0])
        block = np.minimum(BLOCKS * share, BLOCKS - 1).astype(int)
    rows = [np.flatnonzero(block == b) for b in np.unique(block)]
    middle = np.array([np.sort(time[r])[len(r) // 2] for r in rows])
    low, high = np.transpose([np.percentile(weight[r], (10, 90)) for r in rows])
    ax.fill_between(middle, low, high, alpha=0.2, linewidth=0, label="10th to 90th percentile")
    ax.plot(middle, [weight[r].mean() for r in rows], label="mean")
    ax.axhline(1, color="gray", linewidth=0.8)
    ax.set(xlabel="time", ylabel="weight")
    ax.legend()
    return ax


def losses(ax, rules, metric):
    """Plot the loss of each rule, with the interval of its difference from equal weights."""
    ax = _axes(ax)
    rules = sorted(rules, key=lambda rule: -rule["scores"][metric])
    loss = [rule["scores"][metric] for rule in rules]
    uniform = next(rule["scores"][metric] for rule in rules if rule["rule"] == "uniform")
    ax.plot(loss, range(len(rules)), "o")
    for at, rule in enumerate(rules):
        if interval := rule.get("against-uniform"):
            ax.plot([uniform + interval["low"], uniform + interval["high"]], [at, at], color="C0", linewidth=1)
    ax.axvline(uniform, color="gray", linewidth=0.8)
    ax.set_yticks(range(len(rules)), [rule["rule"] for rule in rules])
    ax.set(xlabel=metric.replace("-", " ") + ", with the 95% interval of the difference from uniform")
    return ax


def likeness(ax, rows):
    """Plot how much each block resembles the present, dark where it differs."""
    ax = _axes(ax)
    colors = ["#1f4e79" if row["differs"] else "#a6c8e4" for row in rows]
    ax.bar(range(len(rows)), [row["alike"] for row in rows], width=1, color=colors)
    every = -(-len(rows) // 8)  # so that the names do not overlap
    ax.set_xticks(range(0, len(rows), every), [row["time"][:10] for row in rows[::every]])
    ax.set(xlabel="time (dark: a test finds a difference from the present)", ylabel="like the present", ylim=(0, 1.05))
    return ax


def html(verdict, plot):
    """Return a sentence and a plot for Jupyter; without matplotlib the sentence alone."""
    text = f"<p>{_html.escape(verdict)}</p>"
    try:
        import matplotlib.figure
    except ImportError:
        return text
    figure, file = matplotlib.figure.Figure(figsize=(8, 3), layout="constrained"), io.BytesIO()  # of no window
    plot(figure.subplots())
    figure.savefig(file, format="png", dpi=100)
    picture = base64.b64encode(file.getvalue()).decode()
    return f'{text}<img alt="{_html.escape(verdict)}" src="data:image/png;base64,{picture}">'
