#!/usr/bin/env python3
"""Writes testdata/fits/discrete.toml, which the tests of `relscale-stats` read.

Run by hand, never needed to build or to test:

    pip install numpy==2.4.6 scipy==1.17.1 mpmath==1.3.0 powerlaw==2.0.0
    python tools/goldens/discrete.py

Three kinds of answers, none of which shares a line with the program:

* masses, cumulatives and tails of every distribution by mpmath with 40 digits, from closed forms or added term by term;
* maximum likelihood by SciPy's Nelder-Mead over arrays of all masses, those from scipy.stats wherever it has the distribution,
  with standard errors from second differences of the likelihood in the parameters themselves;
* the `powerlaw` package: exponent of a zeta, lognormals in both of its discrete normalisations, likelihood ratios.
"""

from pathlib import Path

import mpmath
import numpy as np
import powerlaw
import scipy
from mpmath import mp, mpf
from scipy import optimize, special, stats

VERSIONS = (np.__version__, scipy.__version__, mpmath.__version__, powerlaw.__version__)
assert VERSIONS == ("2.4.6", "1.17.1", "1.3.0", "2.0.0"), VERSIONS
OUT = Path(__file__).resolve().parents[2] / "testdata" / "fits" / "discrete.toml"
mp.dps = 40

# ---------------------------------------------------------------------------------------------------------------------
# Masses by mpmath. Each returns (weight of k, weight of low < j <= high), up to a common factor.


def from_tail(tail):
    """Weights of a distribution known by P(R > k) before truncation."""
    return (lambda k: tail(k - 1) - tail(k)), (lambda low, high: tail(low) - tail(high))


def from_terms(term):
    """Weights that are added one by one, once."""
    sums = [mpf(0)]

    def between(low, high):
        while len(sums) <= high:
            sums.append(sums[-1] + term(len(sums)))
        # A tail by its own terms: a difference of sums would not keep its digits.
        if high - low < len(sums) / 2:
            return mp.fsum(term(j) for j in range(low + 1, high + 1))
        return sums[high] - sums[low]

    return term, between


def lognormal(mu, sigma):
    return from_tail(lambda k: mpf(1) if k == 0 else mp.erfc((mp.log(k) - mu) / (sigma * mp.sqrt(2))) / 2)


def point_mass(mu, sigma):
    return from_terms(lambda k: mp.exp(-((mp.log(k) - mu) ** 2) / (2 * sigma**2)) / k)


def zeta(s):
    if s > 1:
        return (lambda k: mpf(k) ** -s), (lambda low, high: mp.zeta(s, low + 1) - mp.zeta(s, high + 1))
    return from_terms(lambda k: mpf(k) ** -s)


def zipf_mandelbrot(s, q):
    return (lambda k: (k + q) ** -s), (lambda low, high: mp.zeta(s, low + 1 + q) - mp.zeta(s, high + 1 + q))


def yule_simon(rho):
    return from_tail(lambda k: mpf(1) if k == 0 else k * mp.beta(k, rho + 1))


def weibull(rate, beta):
    return from_tail(lambda k: mp.exp(-rate * mpf(k) ** beta))


def log_logistic(ln_scale, shape):
    return from_tail(lambda k: 1 / (1 + (k / mp.exp(ln_scale)) ** shape))


def geometric(p):
    return from_tail(lambda k: (1 - p) ** k)


def negative_binomial(r, p):
    return from_terms(lambda k: mp.exp(mp.loggamma(k - 1 + r) - mp.loggamma(k) + (k - 1) * mp.log(1 - p)))


MASSES = [
    (lognormal, (0.8, 2.0), 152_064),
    (lognormal, (-20.0, 9.0), 50_257),
    (point_mass, (0.8, 2.0), 50_257),
    (point_mass, (-65.19, 12.89), 50_257),
    (zeta, (1.402,), 152_064),
    (zeta, (0.6,), 20_000),
    (zipf_mandelbrot, (1.7, -0.45), 152_064),
    (zipf_mandelbrot, (2.5, 40.0), 50_257),
    (yule_simon, (0.6,), 152_064),
    (weibull, (0.9, 0.3), 152_064),
    (log_logistic, (0.4, 0.7), 152_064),
    (geometric, (0.001,), 50_257),
    (negative_binomial, (0.15, 0.0005), 20_000),
]


def masses():
    for family, parameters, upper in MASSES:
        weight, between = family(*map(mpf, parameters))
        total = between(0, upper)
        ks = [1, 2, 3, 10, 100, 1000, 17_000 if upper < 50_000 else 48_000]
        yield {
            "kind": family.__name__,
            "parameters": list(parameters),
            "upper": upper,
            "k": ks,
            "ln_mass": [float(mp.log(weight(k) / total)) for k in ks],
            "cdf": [float(between(0, k) / total) for k in ks],
            "survival": [float(between(k, upper) / total) for k in ks],
        }


# ---------------------------------------------------------------------------------------------------------------------
# Maximum likelihood by SciPy, over all masses at once.

K = np.arange(1, 5001)


def normalised(ln_weights):
    return ln_weights - special.logsumexp(ln_weights)


def differences(ln_tail):
    """Log masses from log P(R > k) at k = 0, 1, ..., before truncation."""
    below, above = ln_tail[:-1], ln_tail[1:]
    return normalised(below + np.log(-np.expm1(above - below)))


def k_from_zero():
    return np.arange(0, len(K) + 1)


FITS = {
    "lognormal": (
        lambda mu, sigma: differences(stats.lognorm.logsf(k_from_zero(), sigma, scale=np.exp(mu))),
        [(0.8, 2.0), (2.0, 1.0)],
        [-np.inf, 1e-3],
    ),
    "point_mass": (
        lambda mu, sigma: normalised(stats.lognorm.logpdf(K, sigma, scale=np.exp(mu))),
        [(0.8, 2.0), (2.0, 1.0)],
        [-np.inf, 1e-3],
    ),
    "zeta": (lambda s: stats.zipfian.logpmf(K, s, len(K)), [(1.4,), (2.5,)], [0.0]),
    "zipf_mandelbrot": (lambda s, q: normalised(-s * np.log(K + q)), [(1.8, 1.5)], [0.0, -1 + 1e-9]),
    "yule_simon": (lambda rho: normalised(stats.yulesimon.logpmf(K, rho)), [(0.8,)], [1e-9]),
    "weibull": (lambda rate, beta: differences(-rate * k_from_zero() ** beta), [(0.8, 0.35)], [1e-9, 1e-9]),
    "log_logistic": (
        lambda ln_scale, shape: differences(stats.fisk.logsf(k_from_zero(), shape, scale=np.exp(ln_scale))),
        [(0.7, 0.9)],
        [-np.inf, 1e-9],
    ),
    "geometric": (lambda p: normalised(stats.geom.logpmf(K, p)), [(0.05,)], [1e-9]),
    "negative_binomial": (lambda r, p: normalised(stats.nbinom.logpmf(K - 1, r, p)), [(0.3, 0.01)], [1e-9, 1e-9]),
}


def second_differences(function, at, steps):
    n = len(at)
    unit = np.diag(steps)
    matrix = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            a, b = unit[i], unit[j]
            corners = function(at + a + b) - function(at + a - b) - function(at - a + b) + function(at - a - b)
            matrix[i, j] = corners / (4 * steps[i] * steps[j])
    return matrix


def fits():
    rng = np.random.default_rng(20387)
    for kind, (ln_masses, truths, lows) in FITS.items():
        for truth in truths:
            p = np.exp(ln_masses(*truth))
            counts = rng.multinomial(4000, p / p.sum())
            seen = counts > 0

            def loss(parameters):
                if np.any(np.asarray(parameters) <= lows):
                    return np.inf
                with np.errstate(all="ignore"):
                    return -float(counts[seen] @ ln_masses(*parameters)[seen])

            best = np.array(truth)
            for _ in range(4):
                options = {"xatol": 1e-11, "fatol": 1e-11, "maxiter": 4000, "maxfev": 4000}
                best = optimize.minimize(loss, best, method="Nelder-Mead", options=options).x
            steps = 1e-3 * np.abs(best)
            for _ in range(2):  # steps of a third of a standard error
                steps = 0.3 / np.sqrt(np.diag(second_differences(loss, best, steps)))
            covariance = np.linalg.inv(second_differences(loss, best, steps))
            errors = np.sqrt(np.diag(covariance))
            cumulative = np.cumsum(np.exp(ln_masses(*best)))
            case = {
                "kind": kind,
                "truth": list(map(float, truth)),
                "upper": len(K),
                "values": K[seen].tolist(),
                "counts": counts[seen].tolist(),
                "parameters": best.tolist(),
                "standard_errors": errors.tolist(),
                "log_likelihood": -loss(best),
                "ks": float(np.max(np.abs(cumulative - np.cumsum(counts) / counts.sum()))),
            }
            if len(best) == 2:
                case["correlation"] = float(covariance[0, 1] / np.prod(errors))
            yield case


# ---------------------------------------------------------------------------------------------------------------------
# The powerlaw package.


def histogram(sample):
    values, counts = np.unique(sample, return_counts=True)
    return {"values": values.tolist(), "counts": counts.tolist()}


def fitted(sample, name, **options):
    fit = powerlaw.Fit(sample, discrete=True, xmin=1, verbose=0, **options)
    distribution = getattr(fit, name)
    values = [float(v) for v in distribution.parameters.values()]
    return fit, values, float(np.sum(distribution.loglikelihoods(sample)))


def powerlaw_cases():
    rng = np.random.default_rng(38720)
    upper = 50_257

    zeta_sample = rng.zipf(2.3, 5000)
    zeta_sample = zeta_sample[zeta_sample <= upper]
    _, exact, height = fitted(zeta_sample, "power_law", estimate_discrete=False)
    _, short_cut, _ = fitted(zeta_sample, "power_law", estimate_discrete=True)
    yield "zeta", {
        **histogram(zeta_sample), "parameters": exact, "log_likelihood": height, "estimate_discrete": short_cut,
    }

    # Far from 1, where rounding up and rounding to the nearest differ by half a rank in hundreds.
    far = np.ceil(rng.lognormal(7.0, 0.8, 3000)).astype(int)
    far = far[far <= upper]
    _, parameters, height = fitted(far, "lognormal", xmax=upper)
    yield "lognormal_far", {**histogram(far), "upper": upper, "parameters": parameters, "log_likelihood": height}

    # Near 1 its default, rounding to the nearest above 1/2, is another distribution than rounding up from 0.
    near = np.ceil(rng.lognormal(0.8, 2.0, 5000)).astype(int)
    near = near[near <= upper]
    fit, parameters, height = fitted(near, "lognormal", xmax=upper)
    yield "lognormal_near", {**histogram(near), "upper": upper, "parameters": parameters, "log_likelihood": height}

    # Normalised by a sum, it is the point masses of Appendix B.
    fit, parameters, height = fitted(near, "lognormal", xmax=upper, discrete_normalization="sum", estimate_discrete=False)
    ratio, p_value = powerlaw.statistics.loglikelihood_ratio(
        fit.lognormal.loglikelihoods(near), fit.power_law.loglikelihoods(near), normalized_ratio=True
    )
    yield "point_mass", {
        **histogram(near), "upper": upper, "parameters": parameters, "log_likelihood": height,
        "exponent": float(fit.power_law.alpha), "vuong": float(ratio), "vuong_p_value": float(p_value),
    }


def toml(value):
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return repr(value)


def main():
    lines = [
        "# Distributions on 1, 2, ..., upper. Written by tools/goldens/discrete.py: do not edit.",
        "# mpmath 1.3.0 with 40 digits; SciPy 1.17.1; powerlaw 2.0.0.",
    ]
    for title, cases in (("[[masses]]", masses()), ("[[fit]]", fits())):
        for case in cases:
            lines += ["", title] + [f"{name} = {toml(value)}" for name, value in case.items()]
    for title, case in powerlaw_cases():
        lines += ["", f"[powerlaw.{title}]"] + [f"{name} = {toml(value)}" for name, value in case.items()]
    OUT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
