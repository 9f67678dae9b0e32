#!/usr/bin/env python3
"""Writes testdata/fits/lines.toml and testdata/fits/quantiles.toml, which the tests of `relscale-stats` read.

Run by hand, never needed to build or to test:

    pip install numpy==2.4.6 scipy==1.17.1
    python tools/goldens/stats.py

Lines are solved in exact rational arithmetic for the doubles as they are stored, so the answers hold to
the last digit whatever the conditioning; where the problem is benign they are compared with SciPy on the
way. Quantiles are SciPy's and NumPy's.
"""

from fractions import Fraction
from math import isclose, sqrt
from pathlib import Path

import numpy as np
import scipy
from scipy import stats

assert (np.__version__, scipy.__version__) == ("2.4.6", "1.17.1"), "see the head of this file"
FITS = Path(__file__).resolve().parents[2] / "testdata" / "fits"

# NIST Statistical Reference Datasets, Norris: calibration of ozone monitors, lower level of difficulty.
NORRIS = """
0.1 0.2  338.8 337.4  118.1 118.2  888.0 884.6  9.2 10.1  228.1 226.5  668.5 666.3  998.5 996.3  449.1 448.6
778.9 777.0  559.2 558.2  0.3 0.4  0.1 0.6  778.1 775.5  668.8 666.9  339.3 338.0  448.9 447.5  10.8 11.6
557.7 556.0  228.3 228.1  998.0 995.8  888.8 887.6  119.6 120.2  0.3 0.3  0.6 0.3  557.6 556.8  339.3 339.1
888.0 887.2  998.5 999.0  778.9 779.0  10.2 11.1  117.6 118.3  228.9 229.2  668.4 669.1  449.2 448.9  0.2 0.5
"""
NORRIS_Y, NORRIS_X = np.array(NORRIS.split(), float).reshape(-1, 2).T
NORRIS_CERTIFIED = {
    "slope": 1.00211681802045,
    "intercept": -0.262323073774029,
    "slope_standard_error": 0.429796848199937e-03,
    "intercept_standard_error": 0.232818234301152,
    "r_squared": 0.999993745883712,
    "residual_sum_of_squares": 26.6173985294224,
}


def cases():
    rng = np.random.default_rng(20387)
    yield "norris", "NIST StRD Norris, exact for the stored doubles", NORRIS_X, NORRIS_Y, None, 500.0
    yield (
        "norris_shifted",
        "Norris with 1e9 added to x and taken from y: the offset costs digits of the data, none of the method",
        NORRIS_X + 1e9, NORRIS_Y - 1e9, None, 1e9 + 500.0,
    )
    yield (
        "norris_scaled",
        "Norris with x times 1e120 and y times 1e-120: their squares stand far from 1",
        NORRIS_X * 1e120, NORRIS_Y * 1e-120, None, 5e122,
    )
    yield (
        "anscombe_1", "Anscombe 1973, first set",
        np.array([10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5], float),
        np.array([8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68]), None, 20.0,
    )
    yield (
        "gpt2_rbp1", "ln of -ln RBP_1 of GPT-2 on ln S (arXiv 2510.20387, read off its figure)",
        np.log([85056000, 302311424, 708390400, 1475561600]), np.log([0.877, 0.803, 0.7695, 0.748]), None,
        float(np.log(1e10)),
    )
    x = np.log(np.geomspace(3e3, 3e6, 7))
    sigma = rng.uniform(0.002, 0.05, 7)
    yield (
        "weighted_family", "seven sizes, weights 1/error^2 over a range of 600",
        x, 1.3 - 0.12 * x + sigma * rng.standard_normal(7), sigma**-2, float(np.log(1e8)),
    )
    x = np.sort(rng.uniform(-3, 3, 12))
    yield (
        "tiny_weights", "weights of 1e-200: only ratios may matter to slope and errors",
        x, 0.3 * x + rng.standard_normal(12), rng.uniform(1, 2, 12) * 1e-200, 4.0,
    )
    yield (
        "neighbouring_x", "x that differ in the last bits only",
        1.0 + np.arange(6) * 2.0**-50, np.array([1.0, 1.5, 1.25, 2.0, 2.5, 2.25]), None, 1.0,
    )
    yield "three_points", "the fewest with an interval", np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 3.0]), None, 3.0


def root(value):
    """Square root of a fraction to the last digit of a double."""
    if value == 0:
        return 0.0
    shift = 4 ** max(0, 200 - (value.numerator.bit_length() - value.denominator.bit_length()) // 2)
    from math import isqrt
    return float(Fraction(isqrt(value.numerator * shift**2 // value.denominator), shift))


def exact(x, y, weights, at):
    x, y = [Fraction(float(v)) for v in x], [Fraction(float(v)) for v in y]
    w = [Fraction(1)] * len(x) if weights is None else [Fraction(float(v)) for v in weights]
    total = sum(w)
    mean_x = sum(a * b for a, b in zip(w, x)) / total
    mean_y = sum(a * b for a, b in zip(w, y)) / total
    sxx = sum(a * (b - mean_x) ** 2 for a, b in zip(w, x))
    sxy = sum(a * (b - mean_x) * (c - mean_y) for a, b, c in zip(w, x, y))
    syy = sum(a * (b - mean_y) ** 2 for a, b in zip(w, y))
    slope = sxy / sxx
    intercept = mean_y - slope * mean_x
    residuals = [b - intercept - slope * a for a, b in zip(x, y)]
    rss = sum(a * e**2 for a, e in zip(w, residuals))
    variance = rss / (len(x) - 2)
    leverage = [a / total + a * (b - mean_x) ** 2 / sxx for a, b in zip(w, x)]
    at = Fraction(at)
    factor = 1 / total + (at - mean_x) ** 2 / sxx
    t = float(stats.t.ppf(0.975, len(x) - 2))
    slope_error = root(variance / sxx)
    prediction_error = root(variance * (1 + factor))
    value = float(intercept + slope * at)
    return {
        "slope": float(slope),
        "intercept": float(intercept),
        "r_squared": float(1 - rss / syy),
        "residual_sum_of_squares": float(rss),
        "slope_standard_error": slope_error,
        "intercept_standard_error": root(variance * (1 / total + mean_x**2 / sxx)),
        "covariance": float(-variance * mean_x / sxx),
        "slope_interval": [float(slope) - t * slope_error, float(slope) + t * slope_error],
        "at": float(at),
        "prediction": value,
        "prediction_interval": [value - t * prediction_error, value + t * prediction_error],
        "leverage": [float(h) for h in leverage],
        "left_out_errors": [float(e / (1 - h)) for e, h in zip(residuals, leverage)],
    }


def show(value):
    if isinstance(value, list):
        return "[" + ", ".join(show(v) for v in value) + "]"
    return '"' + value + '"' if isinstance(value, str) else repr(float(value))


def main():
    out = [
        "# Straight lines with their exact answers. Written by tools/goldens/stats.py: do not edit.",
        f"# Python fractions; Student t quantiles by SciPy {scipy.__version__}. Intervals at 95 %.",
    ]
    for name, source, x, y, weights, at in cases():
        answer = exact(x, y, weights, at)
        if name in ("norris", "anscombe_1", "gpt2_rbp1", "three_points"):
            peer = stats.linregress(x, y)
            for ours, theirs in [
                ("slope", peer.slope), ("intercept", peer.intercept), ("r_squared", peer.rvalue**2),
                ("slope_standard_error", peer.stderr), ("intercept_standard_error", peer.intercept_stderr),
            ]:
                assert isclose(answer[ours], theirs, rel_tol=1e-9), (name, ours, answer[ours], theirs)
        if name == "norris":
            for key, certified in NORRIS_CERTIFIED.items():
                assert isclose(answer[key], certified, rel_tol=2e-14), (key, answer[key], certified)
        if name == "weighted_family":
            (slope, intercept), covariance = np.polyfit(x, y, 1, w=np.sqrt(weights), cov=True)
            assert isclose(answer["slope"], slope, rel_tol=1e-9)
            assert isclose(answer["slope_standard_error"], sqrt(covariance[0, 0]), rel_tol=1e-9)
            assert isclose(answer["covariance"], covariance[0, 1], rel_tol=1e-9)
        out += ["", "[[line]]", f"name = {show(name)}", f"source = {show(source)}"]
        out += [f"x = {show(list(x))}", f"y = {show(list(y))}"]
        if weights is not None:
            out.append(f"weights = {show(list(weights))}")
        out += [f"{key} = {show(value)}" for key, value in answer.items()]
    out += ["", "# The certificate itself, 15 digits.", "[norris_certified]"]
    out += [f"{key} = {show(value)}" for key, value in NORRIS_CERTIFIED.items()]
    (FITS / "lines.toml").write_text("\n".join(out) + "\n")

    out = [
        "# Quantiles. Written by tools/goldens/stats.py: do not edit.",
        f"# Student t, chi-squared: SciPy {scipy.__version__}; sample quantiles: NumPy {np.__version__}, its default method.",
    ]
    for level in (0.5, 0.9, 0.95, 0.99, 0.999):
        for freedom in (1, 2, 3, 5, 8, 30, 1000):
            t = stats.t.ppf(0.5 + level / 2, freedom)
            out += ["", "[[student]]", f"level = {level}", f"degrees_of_freedom = {freedom}", f"t = {show(t)}"]
    for freedom in (1, 2, 5, 10):
        for value in (0.01, 1.0, 10.0, 100.0, 700.0):
            tail = stats.chi2.sf(value, freedom)
            out += ["", "[[chi_squared]]", f"value = {value}", f"degrees_of_freedom = {freedom}", f"tail = {show(tail)}"]
    sample = sorted(np.random.default_rng(7).standard_normal(41))
    probabilities = [0.0, 0.025, 0.1, 0.5, 0.77, 0.975, 1.0]
    out += ["", "[sample]", f"ascending = {show(sample)}", f"probabilities = {show(probabilities)}"]
    out.append(f"quantiles = {show([float(np.quantile(sample, p)) for p in probabilities])}")
    (FITS / "quantiles.toml").write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
