"""Figures of stats' ridge tests and of crates/laws/tests/forecast.rs, by scikit-learn and scipy.

    python tools/goldens/forecast.py testdata/published/pythia

Ridge: `StandardScaler`, then `Ridge` with a constant; errors of points left out by fitting again. Pythia: accuracies of seven tasks
forecast from LAMBADA's perplexity (a loss) or its accuracy (a rank: every token of the last word first). By size: a sigmoid a task
through the smaller models, lower limit at chance or at the least accuracy seen. By task: one shape through the other tasks, heights free, the left task's height by
its smallest models. Each fit is the best of many starts.
"""

import csv
import pathlib
import sys

import numpy as np
from scipy.optimize import least_squares
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

EXACT = dict(xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=300)


def ridge():
    y = np.array([0.3, 1.1, 0.9, 2.2, 2.0, 3.4])
    u = np.arange(6.0)
    rows = np.column_stack([u, np.sin(0.9 * u), 100 + u * u, np.full(6, 7.0)])
    scaler = StandardScaler().fit(rows)
    z = scaler.transform(rows)
    best = None
    for penalty in (0.01, 1.0, 100.0):
        fit = Ridge(alpha=penalty, solver="cholesky").fit(z, y)
        left_out = []
        for at in range(6):
            others = np.arange(6) != at
            # The columns stay as all points standardise them, hence are no longer centred: the constant is free.
            left_out.append(y[at] - Ridge(alpha=penalty, solver="cholesky").fit(z[others], y[others]).predict(z[at : at + 1])[0])
        new = fit.predict(scaler.transform([[6.5, 0.2, 142.25, 7.0]]))[0]
        print(penalty, repr(float(fit.intercept_)), fit.coef_.tolist(), repr(float(new)), np.array(left_out).tolist())
        total = float(np.sum(np.square(left_out)))
        best = min(best or (total, penalty), (total, penalty))
    print("chosen", best[1])


def best(residuals, starts, bounds):
    fits = [least_squares(residuals, start, bounds=bounds, **EXACT) for start in starts]
    return min(fits, key=lambda fit: fit.cost).x


def starts_of(loss):
    low, high = loss.min(), loss.max()
    return [(rate, midpoint) for rate in (0.5, 2, 6, 20, 80) for midpoint in (-4, -1.5, -0.5, 0, 0.5, 1.5)]


def scaled(loss):
    centre, span = (loss.min() + loss.max()) / 2, np.ptp(loss)
    return lambda value: (value - centre) / span


def logistic(p, u):
    return 1 / (1 + np.exp(np.minimum(p[0] * (u - p[1]), 700)))


def by_size(feature, accuracy, chance, held_out):
    known = np.arange(len(feature)) < len(feature) - held_out
    to = scaled(feature[known])
    u, a = to(feature), accuracy
    chance = min(chance, a[known].min())
    value = lambda p, u: chance + (p[2] - chance) * logistic(p, u)
    starts = [(*start, upper) for start in starts_of(feature) for upper in (min(0.999, a[known].max() + 0.05), 0.99)]
    low = max(a[known].mean(), chance)
    starts = [(r, m, max(h, low + 1e-6)) for r, m, h in starts]
    p = best(lambda p: value(p, u[known]) - a[known], starts, ([0.02, -10, low], [200, 10, 1]))
    return value(p, u[~known]) - a[~known]


def heights(g, rise, chance):
    below = (g * g).sum()
    return float(np.clip((g * rise).sum() / below, 0, 1 - chance)) if below > 0 else 0.0


def by_task(feature, tasks, left, given):
    others = [(a, min(c, a.min())) for name, (a, c) in tasks.items() if name != left]
    to = scaled(feature)
    u = to(feature)

    def residuals(p):
        g = logistic(p, u)
        return np.concatenate([heights(g, a - c, c) * g - (a - c) for a, c in others])

    p = best(residuals, starts_of(feature), ([0.02, -10], [200, 10]))
    a, c = tasks[left]
    c = min(c, a[:given].min())
    g = logistic(p, u)
    return c + heights(g[:given], (a - c)[:given], c) * g[given:] - a[given:]


def pythia(folder):
    read = lambda name: list(csv.DictReader(open(folder / name), delimiter="\t"))
    models = sorted(read("lambada.tsv"), key=lambda row: float(row["S"]))
    features = {
        "loss": np.log([float(row["lambada_ppl"]) for row in models]),
        "rank": -np.log([float(row["lambada_acc"]) for row in models]),
        "size": -np.log([float(row["S"]) for row in models]),
    }
    table = {(row["model"], row["task"]): row for row in read("tasks.tsv")}
    names = sorted({task for _, task in table})
    tasks = {}
    for name in names:
        rows = [table[row["model"], name] for row in models]
        tasks[name] = (np.array([float(row["accuracy"]) for row in rows]), float(rows[0]["chance"]))
    for held_out in (1, 2, 3):
        for name, feature in features.items():
            errors = np.array([by_size(feature, *tasks[task], held_out) for task in names])
            print("by size", held_out, name, np.abs(errors).mean(), errors.mean())
    for name, feature in features.items():
        errors = np.array([by_task(feature, tasks, left, 3) for left in names])
        print("by task", name, np.abs(errors).mean(), errors.mean())


ridge()
if len(sys.argv) > 1:
    pythia(pathlib.Path(sys.argv[1]))
