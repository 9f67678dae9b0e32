"""Figures of crates/laws/tests/two_stage.rs and of stats' sigmoid tests, by scipy, from the final rows of the OLMo ladder.

    python tools/goldens/two_stage.py testdata/published/olmo-ladder/final.tsv

Runs of 190M to 3B, 1, 2, 5 and 10 times Chinchilla, no reruns; C = 6 params tokens; lower limit 0.25; the four runs of 3B held out.
Each fit is the best of many starts, by trust-region least squares with bounds: another parametrisation and another optimiser than ours.
"""

import csv
import sys

import numpy as np
from scipy.optimize import least_squares

EXACT = dict(xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=5000)


def best(residuals, starts, bounds):
    fits = [least_squares(residuals, start, bounds=bounds, **EXACT) for start in starts]
    return min(fits, key=lambda fit: fit.cost)


def sigmoid(p, loss):
    return 0.25 + (p[2] - 0.25) / (1 + np.exp(p[0] * (loss - p[1])))


def fit_sigmoid(loss, share):
    span = np.ptp(loss)
    starts = [
        (rate / span, midpoint, upper)
        for rate in (1, 3, 8)
        for midpoint in np.linspace(loss.min() - 2 * span, loss.max(), 9)
        for upper in (0.5, 0.99)
    ]
    low, high = loss.min() - 9 * span, loss.max() + 9 * span
    return best(lambda p: sigmoid(p, loss) - share, starts, ([1e-3 / span, low, 0.25], [200 / span, high, 1.0]))


def main():
    rows = [
        row
        for row in csv.DictReader(open(sys.argv[1]), delimiter="\t")
        if "rerun" not in row["run"] and not row["run"].endswith("-0.5xC")
    ]
    compute = np.array([6 * float(row["params"]) * float(row["tokens"]) for row in rows])
    unseen = np.array([row["size"] == "3B" for row in rows])
    known = ~unseen
    for domain in ("stem", "humanities", "social_sciences", "other"):
        loss = np.array([float(row[f"mmlu_{domain}_test_bpb"]) for row in rows])
        share = np.array([float(row[f"mmlu_{domain}_test_acc"]) for row in rows])
        centre = np.exp(np.log(compute[known]).mean())
        floor = best(
            lambda q: np.log(q[0] * (compute[known] / centre) ** -q[1] + q[2]) - np.log(loss[known]),
            [(1, alpha, 0.3) for alpha in (0.03, 0.1, 0.2, 0.4)],
            ([0, 1e-6, 0], [10, 3, 10]),
        ).x
        predicted = floor[0] * (compute / centre) ** -floor[1] + floor[2]
        second = fit_sigmoid(loss[known], share[known]).x
        direct = fit_sigmoid(-np.log(compute[known]), share[known]).x
        slope, level = np.polyfit(np.log(compute[known]), np.log(-np.log(share[known])), 1)
        power = np.exp(-np.exp(level + slope * np.log(compute)))
        error = lambda values: np.abs(values - share)[unseen].mean()
        quadratic = np.polyval(np.polyfit(np.log(compute), loss, 2), np.log(compute))
        print(
            domain,
            "alpha, floor", floor[1:],
            "rate, midpoint, upper", second,
            "loss error", np.abs(predicted / loss - 1)[unseen].mean(),
            "second stage, both, power, sigmoid",
            [error(sigmoid(second, loss)), error(sigmoid(second, predicted)), error(power),
             error(sigmoid(direct, -np.log(compute)))],
            "quadratic R2", 1 - ((loss - quadratic) ** 2).sum() / ((loss - loss.mean()) ** 2).sum(),
        )


if __name__ == "__main__":
    main()
