"""Tests of a line by NumPy and SciPy: testdata/fits/judge.toml.

Curvature and its error by a regression on 1, x and x²; the chance of shares under four kinds of scatter by 200 000 draws each
of NumPy's own generator, the largest of the four kept. Run from the repository's root.
"""

import numpy as np
import scipy
from scipy import stats

DRAWS = 200_000


def cases():
    random = np.random.default_rng(20387)
    x = np.linspace(0.0, 6.9, 6)
    yield "six, sound", x, -0.12 * x + 0.02 * random.standard_normal(6)
    x = np.array([11.0, 12.1, 12.9, 14.2, 15.0, 16.4, 17.1, 18.9])
    yield "eight, bent", x, 0.004 * (x - 15) ** 2 - 0.2 * x + 0.02 * random.standard_normal(8)
    x = np.linspace(3.0, 9.0, 8)
    y = -0.12 * x + 0.02 * random.standard_normal(8)
    y[2] += 0.3
    yield "eight, a point off", x, y
    x = np.linspace(0.0, 6.9, 10)
    yield "ten, two lines", x, -np.where(np.arange(10) % 2, 0.10, 0.12) * x + 0.02 * random.standard_normal(10)
    x = np.array([1.0, 2.0, 4.0, 4.5, 9.0])
    yield "five", x, np.array([0.3, 0.1, -0.35, -0.2, -0.9])


def scatter(kind, place, random):
    shape = (DRAWS, len(place))
    if kind == "heavy":
        return random.standard_t(3, size=shape)
    size = {"equal": np.ones_like(place), "falling": 4 - 3 * place, "rising": 1 + 3 * place}[kind]
    return random.standard_normal(shape) * size


def direction(columns, known):
    basis, _ = np.linalg.qr(known)
    out = columns - basis @ (basis.T @ columns)
    return out / np.linalg.norm(out, axis=0)


def shares(values, x):
    """Bend, the largest point, every other point: shares of the residual sum of squares, a row of values each."""
    n = len(x)
    place = (x - x.min()) / np.ptp(x)
    line = np.column_stack([np.ones(n), place])
    hat = line @ np.linalg.solve(line.T @ line, line.T)
    rest = values - values @ hat
    squares = (rest**2).sum(axis=1)
    bend = (rest @ direction((place**2)[:, None], line))[:, 0] ** 2 / squares
    point = (rest**2 / (1 - np.diag(hat))).max(axis=1) / squares
    turn = (-1.0) ** np.arange(n)
    turns = ((rest @ direction(np.column_stack([turn, turn * place, turn * (1 - place)]), line)) ** 2).max(axis=1)
    return bend, point, turns / squares


def main():
    print(f"# Written by tools/goldens/judge.py with NumPy {np.__version__}, SciPy {scipy.__version__}.")
    for name, x, y in cases():
        random = np.random.default_rng(7)
        n = len(x)
        design = np.column_stack([np.ones(n), x - x.mean(), (x - x.mean()) ** 2])
        inverse = np.linalg.inv(design.T @ design)
        coefficients = inverse @ design.T @ y
        variance = ((y - design @ coefficients) ** 2).sum() / (n - 3)
        error = np.sqrt(variance * inverse[2, 2])
        place = (x - x.min()) / np.ptp(x)
        seen = [share[0] for share in shares(y[None, :], x)]
        tails = {
            kind: [(drawn >= share).mean() for drawn, share in zip(shares(scatter(kind, place, random), x), seen)]
            for kind in ("equal", "falling", "rising", "heavy")
        }
        exact = 2 * stats.t.sf(abs(coefficients[2] / error), n - 3)
        bend = max([exact] + [tail[0] for kind, tail in tails.items() if kind != "equal"])
        print(f'\n[[case]]\nname = "{name}"\nx = {list(map(float, x))}\ny = {list(map(float, y))}')
        print(f"curvature = {float(coefficients[2])!r}\nstandard_error = {float(error)!r}\nbend_p = {float(bend):.5f}")
        print(f"point_p = {max(tail[1] for tail in tails.values()):.5f}")
        print(f"turns_p = {max(tail[2] for tail in tails.values()):.5f}")


main()
