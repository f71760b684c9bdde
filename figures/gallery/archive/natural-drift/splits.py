"""Single splits of tables with few times: `python splits.py [--repository FOLDER] [--stored] [NAME ...]`.

Needs pandas 2 (for the loaders), pyarrow, scipy, scikit-learn, lightgbm and the package tvps. FOLDER is a checkout of
Drift-Resilient TabPFN (github.com/automl/Drift-Resilient_TabPFN), whose loaders make its tables; without it these are
left out. Scores go to splits.csv and to splits.md; --stored computes nothing.
"""

import argparse
import importlib.util
import os
import random
import sys
import types

import lightgbm as lgb
import numpy as np
import pandas as pd
from scipy import stats
from sklearn.metrics import roc_auc_score

HERE = os.path.dirname(os.path.abspath(__file__))
UNLIKELY = 1e-6  # the least probability in a log loss, as in a back test
LOADERS = {
    "electricity": "electricity", "absenteeism": "absenteeism", "heart": "cleveland_heart_disease",
    "parking-cuts": "parking_birmingham", "ames": "housing_ames", "chess": "chess",
    "mortality": "free_light_chain_mortality", "occupancy-cuts": "occupancy_detection",
    "traffic": "urban_traffic_sao_paulo", "istanbul": "istanbul_stock_exchange",
    "pima": "diabetes_pima_indians", "liver": "indian_liver_patients", "diabetes": "diabetes_questionaire",
}


def employment():
    """Return the features, the classes as numbers from 0 and the times as numbers from 0 of each row, and cuts."""
    x = pd.read_parquet(os.path.join(HERE, "tables", "employment.parquet"))
    time, y = (pd.factorize(x.pop(c), sort=True)[0] for c in ("time", "label"))
    return typed(x), y, time, [(time < time.max(), time == time.max())]


def typed(x):
    """Make texts categories, and the rest numbers."""
    return x.apply(lambda c: c.astype(float) if pd.api.types.is_numeric_dtype(c) else c.astype("category"))


def theirs(repository, loader):
    """The same of a table of Drift-Resilient TabPFN, whose loader is run without torch."""
    sys.modules.setdefault("torch", types.ModuleType("torch"))
    path = os.path.join(repository, "tabpfn", "datasets", "dist_shift_datasets.py")
    spec = importlib.util.spec_from_file_location("loaders", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.dataframe_to_distribution_shift_ds = lambda name, df, target, domain_name, **_: (df, target, domain_name)
    d, target, domain = getattr(module, f"get_{loader}_data")()
    d = d.reset_index(drop=True)
    time, y = (pd.factorize(d.pop(c), sort=True)[0] for c in (domain, target))
    return typed(d), y, time, list(cuts(y, time))


def cuts(y, time, n=3):
    """Yield training and test rows: the cut between them, and seeds, are those of generate_valid_split there."""
    ends = np.concatenate([[0], np.bincount(time).cumsum()])
    domains, rows, used = len(ends) - 1, len(time), []
    first = max(int(np.ceil(.3 * domains)), 2, int(np.argmax(ends >= .3 * rows)))
    last = min(int(np.floor(.8 * domains)), int(np.argmax(ends > .8 * rows)) - 1)
    for split in range(1, n + 1):
        pool = [cut for cut in range(first, last + 1) if cut not in used]
        for seed in range(100 * split, 100 * split + 101 if pool else 0):
            random.seed(seed)
            cut = random.choice(pool)
            train, test = time < cut, time >= cut
            if set(y[train]) != set(y) or set(y[test]) != set(y):
                continue
            rng = np.random.default_rng(seed)  # a tenth of each domain
            left = np.concatenate([rng.permutation(k) >= .9 * k for k in np.diff(ends)])
            if set(y[train & left]) == set(y[train & ~left]):
                used.append(cut)
                yield train & ~left, test
                break


def fit(x, y, weight, test, classes):
    """Return the probabilities of classes for test rows; those that no row with weight has are 0."""
    rows, p = np.flatnonzero(weight), np.zeros((len(test), classes))
    if len(set(y[rows])) == 1:
        p[:, y[rows[0]]] = 1
        return p
    model = lgb.LGBMClassifier(n_estimators=60, verbose=-1, n_jobs=1, random_state=0)
    model.fit(x.iloc[rows], y[rows], sample_weight=weight[rows] / weight[rows].mean())
    p[:, model.classes_] = model.predict_proba(test)
    return p


def chances(p, y):
    return np.maximum(p[np.arange(len(y)), y], UNLIKELY)


def shares(past):
    """AdaHedge on slopes: of each earlier time, those of the models, summed over rows (replicate/tables/backtest)."""
    total, gap = np.zeros(len(past[0])), 0.
    for slopes in [*past, None]:
        eta = np.log(len(total)) / gap if gap else np.inf
        share = np.exp(-eta * (total - total.min())) if gap else (total == total.min()).astype(float)
        share /= share.sum()
        if slopes is None:
            return share
        least = slopes[share > 0].min()
        mix = least - np.log((share * np.exp(-eta * (slopes - least))).sum()) / eta if gap else least
        gap += max(0, share @ slopes - mix)
        total += slopes


def predictions(x, y, time, train, test):
    """Return the probabilities of the test rows by each rule."""
    import tvps

    classes, now = y.max() + 1, time[test].min()
    scales = {"uniform": lambda age: age * 0. + 1}
    scales |= {f"life {h}": lambda age, h=h: .5 ** (age / h) for h in (1, 2, 4, 8)}
    scales |= {f"last {w}": lambda age, w=w: (age < w) * 1. for w in (2, 4, 8)}

    def models(past, at, rows):  # of all scales, for a time
        age = at - 1 - time[past]
        return {s: fit(x[past], y[past], w(age), x[rows], classes) for s, w in scales.items()}

    losses, slopes = {s: 0. for s in scales}, []
    for at in range(2, now):
        past, rows = train & (time < at), train & (time == at)
        found = models(past, at, rows)
        mix = sum(s * p for s, p in zip(shares(slopes or [np.zeros(len(scales))]), found.values()))
        slopes.append(np.array([-(chances(p, y[rows]) / chances(mix, y[rows])).sum() for p in found.values()]))
        for s, p in found.items():
            losses[s] -= np.log(chances(p, y[rows])).sum()
    tuned = min((s for s in scales if not s.startswith("last")), key=losses.get)
    found, age = models(train, now, test), now - 1 - time[train]
    out = {"uniform": found["uniform"], "forgetting": found[tuned]}
    out["committee"] = sum(s * p for s, p in zip(shares(slopes or [np.zeros(len(scales))]), found.values()))
    out["last"] = fit(x[train], y[train], (age == 0) * 1., x[test], classes)
    rng, weight = np.random.default_rng(1), scales[tuned](age)
    drawn = [np.bincount(rng.integers(0, len(age), len(age)), minlength=len(age)) * weight for _ in scales]
    out["bagged"] = sum(fit(x[train], y[train], w, x[test], classes) for w in drawn) / len(drawn)
    frame = x[train].assign(time=time[train], label=y[train].astype(str))
    omega = tvps.weights(frame, "time", "label", label_kind="class", quiet=True)
    out["omega"] = fit(x[train], y[train], omega, x[test], classes)
    return out


def scores(name, x, y, time, splits):
    for k, (train, test) in enumerate(splits, 1):
        answer, base = predictions(x, y, time, train, test), None
        for rule in ["uniform", *sorted(set(answer) - {"uniform"})]:
            p, of = answer[rule], y[test]
            loss = -np.log(chances(p, of))
            base = loss if base is None else base
            d = loss - base
            p = p / p.sum(axis=1, keepdims=True)
            yield {"table": name, "cut": k, "rule": rule, "train": train.sum(), "test": test.sum(),
                   "accuracy": (p.argmax(axis=1) == of).mean(),
                   "auc": roc_auc_score(of, p[:, 1] if p.shape[1] == 2 else p, multi_class="ovo"),
                   "loss": loss.mean(), "minus_uniform": d.mean(), "error": d.std() / np.sqrt(len(d))}


def page(d):
    """Write the page's block: AUC and accuracy by table and rule, and the differences over tables."""
    mean = d.groupby(["table", "rule"])[["auc", "accuracy"]].mean().unstack("rule")
    rules = ["uniform", "last", "forgetting", "committee", "bagged", "omega"]
    lines = ["", "| ROC AUC (accuracy) | " + " | ".join(rules) + " |", "|---" * (len(rules) + 1) + "|"]
    for table, row in mean.loc[[t for t in ["employment", *LOADERS] if t in mean.index]].iterrows():
        cells = [f"{row['auc', r]:.3f} ({row['accuracy', r]:.3f})" for r in rules]
        lines.append(f"| {table} | " + " | ".join(cells) + " |")
    theirs = mean.drop(index="employment", errors="ignore")
    lines.append(f"| mean of the last {len(theirs)} | " + " | ".join(
        f"{theirs['auc', r].mean():.3f} ({theirs['accuracy', r].mean():.3f})" for r in rules) + " |")
    cells = ["AUC minus equal weights'", ""]
    for r in rules[1:]:
        v = theirs["auc", r] - theirs["auc", "uniform"]
        half = stats.t.ppf(.975, len(v) - 1) * v.std() / np.sqrt(len(v))
        cells.append(f"{v.mean():+.3f} [{v.mean() - half:+.3f}, {v.mean() + half:+.3f}]")
    lines.append("| " + " | ".join(cells) + " |")
    one = d[d.table == "employment"].set_index("rule")
    if len(one):
        cells = ["employment: log loss minus equal weights'", ""]
        for r in rules[1:]:
            v, e = one.minus_uniform[r], 1.96 * one.error[r]
            cells.append(f"{v:+.4f} [{v - e:+.4f}, {v + e:+.4f}]")
        lines.append("| " + " | ".join(cells) + " |")
    path = os.path.join(HERE, "splits.md")
    text = open(path).read()
    begin, end = text.index("<!-- splits:begin -->\n") + 22, text.index("<!-- splits:end -->")
    with open(path, "w") as f:
        f.write(text[:begin] + "\n".join(lines) + "\n\n" + text[end:])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repository", help="checkout of Drift-Resilient TabPFN")
    parser.add_argument("--stored", action="store_true", help="draw splits.csv")
    parser.add_argument("names", nargs="*", help=f"default: employment, with a checkout also {', '.join(LOADERS)}")
    args = parser.parse_args()
    path = os.path.join(HERE, "splits.csv")
    d = pd.read_csv(path) if os.path.exists(path) else pd.DataFrame()
    for name in [] if args.stored else args.names or ["employment", *(LOADERS if args.repository else [])]:
        made = employment() if name == "employment" else theirs(args.repository, LOADERS[name])
        rows = pd.DataFrame(scores(name, *made))
        d = pd.concat([d[d.table != name] if len(d) else d, rows], ignore_index=True)
        d.to_csv(path, index=False, float_format="%.5g")
        print(rows.groupby("rule")[["accuracy", "auc", "loss"]].mean().to_string(), name, flush=True)
    page(d)
