"""Figures of crates/laws/tests/isoflop_losses.rs, by SciPy, in the paper's own parameters: E, a, b, eta of
L = E + (a M^eta + b M^-eta) C^-eta with C = 6 N D and M = D / N (Gadre et al. 2024), so by another parametrisation and other optimisers than ours.

    python tools/goldens/over_training.py testdata/published > testdata/fits/over_training.toml

Least squares of the loss (trust region, many starts); Huber's loss of its logarithm, threshold 1e-3, summed (BFGS from the best of many starts,
then Nelder and Mead). Losses at further points by each. Of the Gemstones also the checks on runs left out, of most C and of most M: the fits of the
others, and their errors.
"""

import csv
import json
import sys

import numpy as np
from scipy.optimize import least_squares, minimize

EXACT = dict(xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=2000)


def loss(p, n, d):
    e, a, b, eta = np.exp(p[0]), np.exp(p[1]), np.exp(p[2]), p[3]
    c, m = 6 * n * d / 1e21, d / n / 20
    return e + (a * m**eta + b * m**-eta) * c**-eta


def in_paper(p):
    """a and b by C in FLOPs and M as it is."""
    eta = p[3]
    return [np.exp(p[0]), np.exp(p[1]) * 1e21**eta * 20**-eta, np.exp(p[2]) * 1e21**eta * 20**eta, eta]


STARTS = [
    (np.log(e), np.log(a), np.log(b), eta)
    for e in (0.5, 1.8)
    for a in (0.1, 0.5)
    for b in (0.1, 0.5)
    for eta in (0.06, 0.15, 0.3)
]


def by_squares(n, d, y):
    fits = [least_squares(lambda p: loss(p, n, d) - y, start, **EXACT) for start in STARTS]
    best = min(fits, key=lambda fit: fit.cost)
    return best.x, 2 * best.cost


def huber(p, n, d, y, delta=1e-3):
    r = np.abs(np.log(loss(p, n, d)) - np.log(y))
    return np.where(r <= delta, 0.5 * r * r, delta * (r - 0.5 * delta)).sum()


def by_huber(n, d, y):
    first, _ = by_squares(n, d, y)
    starts = sorted(STARTS, key=lambda p: huber(p, n, d, y))[:2] + [tuple(first)]
    best = None
    for start in starts:
        x = np.array(start)
        for _ in range(4):
            x = minimize(huber, x, (n, d, y), method="BFGS", options=dict(gtol=1e-12)).x
            options = dict(xatol=1e-12, fatol=1e-18, maxiter=4000, maxfev=4000)
            found = minimize(huber, x, (n, d, y), method="Nelder-Mead", options=options)
            x = found.x
        if best is None or found.fun < best.fun:
            best = found
    return best.x, best.fun


def rows(root):
    points = np.array([[float(c) for c in row] for row in list(csv.reader(open(f"{root}/chinchilla/points.csv")))[1:]])
    points = points[np.argsort(points[:, 3])][:-5]
    yield "chinchilla", points[:, 0], points[:, 1], points[:, 3]
    sweep = list(csv.DictReader(open(f"{root}/marin/isoflops.csv")))
    for name in ("comma", "dclm"):
        of = [row for row in sweep if row["dataset"] == name]
        yield (name, *(np.array([float(row[c]) for row in of]) for c in ("params", "tokens", "loss")))
    gems = [json.loads(line) for line in open(f"{root}/gemstones/hot.jsonl")]
    yield ("gemstones", *(np.array([float(row[c]) for row in gems]) for c in ("params_active_precise", "tokens", "final_loss")))


def cut(q):
    """Places of the runs that stay: from the top, runs within 5 % of one another go together, until a fifth is out."""
    order = np.argsort(q)
    kept = len(q)
    while kept and len(q) - kept < np.ceil(0.2 * len(q)):
        kept = int((q[order[:kept]] < q[order[kept - 1]] / 1.05).sum())
    return order[:kept], order[kept:]


def main():
    further = [(7e9, 1e12), (3e8, 3e12)]
    print("# L = E + (a M^eta + b M^-eta) C^-eta, C = 6 N D, M = D / N, by SciPy: tools/goldens/over_training.py")
    for name, n, d, y in rows(sys.argv[1]):
        for method, fit in (("variable_projection", by_squares), ("huber", by_huber)):
            p, objective = fit(n, d, y)
            e, a, b, eta = in_paper(p)
            print(f"\n[{name}.{method}]\nobjective = {objective:.12e}")
            print(f"e = {e:.9e}\na = {a:.9e}\nb = {b:.9e}\neta = {eta:.9e}")
            print("losses =", [float(f"{loss(p, *at):.9f}") for at in further])
            if name != "gemstones" or method == "huber":
                continue
            for by, q in (("compute", n * d), ("multiplier", d / n)):
                stay, out = cut(q)
                known, _ = by_squares(n[stay], d[stay], y[stay])
                error = loss(known, n[out], d[out]) / y[out] - 1
                rms = np.sqrt((error**2).mean())
                print(f"{by} = [{len(out)}, {error.mean():.9e}, {rms:.9e}]")


if __name__ == "__main__":
    main()
