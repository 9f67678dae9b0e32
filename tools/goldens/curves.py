"""Curves fitted by SciPy: testdata/fits/curves.toml.

Each form by scipy.optimize.least_squares on ln y from many starts, the lowest kept; the broken power law by a line on
each side for every break of a fine grid, then refined. Run from the repository's root.
"""

import numpy as np
import scipy
from scipy.optimize import least_squares, minimize_scalar



def values():
    random = np.random.default_rng(20387)
    # A clear floor, 1 % scatter.
    x = np.array([1e6, 3e6, 1.2e7, 5e7, 2.1e8, 9e8, 4e9, 1.5e10])
    yield "floor", x, (25 * x**-0.3 + 0.35) * np.exp(0.01 * random.standard_normal(len(x)))
    # A fall that grows steeper in the logarithm: no floor is the best floor.
    x = np.array([3e3, 9e3, 2.5e4, 7.6e4, 2.2e5, 6.2e5, 1.9e6])
    yield "steepening", x, (2.9 - 0.14 * np.log(x)) * np.exp(0.008 * random.standard_normal(len(x)))


def aicc(rss, n, p):
    k = p + 1
    return n * np.log(rss / n) + 2 * k + 2 * k * (k + 1) / (n - k - 1)


def multistart(residual, starts, bounds=(-np.inf, np.inf)):
    best = None
    for start in starts:
        try:
            found = least_squares(residual, start, bounds=bounds, xtol=1e-15, ftol=1e-15, gtol=1e-15, x_scale="jac")
        except ValueError:
            continue
        if best is None or found.cost < best.cost:
            best = found
    return best.x, 2 * best.cost


def power(x, y):
    u, v = np.log(x), np.log(y)
    slope, intercept = np.polyfit(u, v, 1)
    return [np.exp(intercept), -slope], np.sum((v - intercept - slope * u) ** 2)


def floor(x, y):
    g, h = np.exp(np.mean(np.log(x))), np.exp(np.mean(np.log(y)))
    t, v = x / g, np.log(y / h)
    starts = [(np.log(a), b, c) for a in (0.1, 0.5, 0.9) for b in (0.05, 0.2, 0.5, 1.0) for c in (0.0, 0.2, 0.5)]
    p, rss = multistart(
        lambda p: v - np.log(np.exp(p[0]) * t ** -p[1] + p[2]), starts, ([-50, 1e-6, 0.0], [50, 20, np.inf]))
    return [h * np.exp(p[0]) * g ** p[1], p[1], h * p[2]], rss


def exponential(x, y):
    g = x.max()
    slope, intercept = np.polyfit(x / g, np.log(y), 1)
    return [np.exp(intercept), -slope / g], np.sum((np.log(y) - intercept - slope * x / g) ** 2)


def log_linear(x, y):
    u = np.log(x) - np.mean(np.log(x))
    def residual(p):
        level = p[0] - p[1] * u
        return np.where(level > 0, np.log(y) - np.log(np.maximum(level, 1e-300)), 1e3)
    starts = [(y.mean() * m, s * y.mean() / (u.max() - u.min())) for m in (0.8, 1, 1.2) for s in (-0.5, 0.1, 0.5, 1, 1.5)]
    p, rss = multistart(residual, starts)
    return [p[0] + p[1] * np.mean(np.log(x)), p[1]], rss


def broken(x, y):
    u, v = np.log(x), np.log(y)
    def at(b):
        basis = np.stack([np.ones_like(u), -u, -np.maximum(u - b, 0)], axis=1)
        beta = np.linalg.lstsq(basis, v, rcond=None)[0]
        return np.sum((v - basis @ beta) ** 2), beta
    grid = np.linspace(u[1], u[-2], 4001)
    least = grid[np.argmin([at(b)[0] for b in grid])]
    width = grid[1] - grid[0]
    low, high = max(u[1], least - width), min(u[-2], least + width)
    b = minimize_scalar(lambda b: at(b)[0], bounds=(low, high), method="bounded", options={"xatol": 1e-13}).x
    b = min((b, low, high, least), key=lambda b: at(b)[0])
    rss, beta = at(b)
    return [np.exp(beta[0] - beta[1] * b), beta[1], beta[1] + beta[2], np.exp(b)], rss


FORMS = {
    "power law": power,
    "power law with floor": floor,
    "exponential": exponential,
    "log-linear": log_linear,
    "broken power law": broken,
}


def main():
    with open("testdata/fits/curves.toml", "w") as out:
        out.write("# Curves by least squares of ln y. Written by tools/goldens/curves.py: do not edit.\n")
        out.write(f"# SciPy {scipy.__version__}, NumPy {np.__version__}.\n")
        for name, x, y in values():
            for form, fit in FORMS.items():
                parameters, rss = fit(x, y)
                out.write(f'\n[[curve]]\nname = "{name}"\nform = "{form}"\n')
                out.write(f"x = {[float(v) for v in x]}\ny = {[float(v) for v in y]}\n")
                out.write(f"parameters = {[float(v) for v in parameters]}\n")
                out.write(f"residual_sum_of_squares = {float(rss)!r}\n")
                out.write(f"aicc = {float(aicc(rss, len(x), len(parameters)))!r}\n")


main()
