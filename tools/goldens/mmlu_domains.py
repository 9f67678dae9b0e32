"""Figures of crates/laws/tests/mmlu_domains.rs, by NumPy and SciPy.

    cd testdata/published; python ../../tools/goldens/mmlu_domains.py pythia/evaluations.tsv mmlu/categories.tsv

Accuracy of each MMLU subject over eight sizes of Pythia after their last step; means over the subjects of each domain by the map of
lm-evaluation-harness, weighted by questions and unweighted; the slope of ln(E / E of stem) on ln S, its error and its 95 % interval (Student t), for
E = -ln accuracy and E = 1 - accuracy.
"""

import csv
import sys

import numpy as np
from scipy import stats

SIZES = {
    "pythia-70m": 18915328,
    "pythia-160m": 85056000,
    "pythia-410m": 302311424,
    "pythia-1b-bf16": 805736448,
    "pythia-1.4b": 1208602624,
    "pythia-2.8b": 2517652480,
    "pythia-6.9b": 6444163072,
    "pythia-12b": 11327027200,
}


def main():
    rows = csv.DictReader(open(sys.argv[1]), delimiter="\t")
    found = {
        (row["model"], row["task"].removeprefix("mmlu_")): float(row["value"])
        for row in rows
        if row["task"].startswith("mmlu_") and row["metric"] == "acc" and row["step"] == "143000"
    }
    subjects = list(csv.DictReader(open(sys.argv[2]), delimiter="\t"))
    domains = sorted({row["lm_eval_group"] for row in subjects})
    x = np.log(np.array(list(SIZES.values()), dtype=float))
    for weighted in (True, False):
        means = {}
        for domain in domains:
            of = [row for row in subjects if row["lm_eval_group"] == domain]
            weights = [float(row["test_items"]) if weighted else 1.0 for row in of]
            means[domain] = np.array(
                [np.average([found[model, row["subject"]] for row in of], weights=weights) for model in SIZES]
            )
            print("weighted" if weighted else "unweighted", domain, *(f"{mean:.9f}" for mean in means[domain]))
        for name, error in (("-ln acc", lambda acc: -np.log(acc)), ("1 - acc", lambda acc: 1 - acc)):
            for domain in domains:
                if domain == "stem":
                    continue
                fit = stats.linregress(x, np.log(error(means[domain]) / error(means["stem"])))
                half = stats.t.ppf(0.975, len(x) - 2) * fit.stderr
                print(f"  {name} {domain}: {fit.slope:.10f} se {fit.stderr:.10f} [{fit.slope - half:.10f}, {fit.slope + half:.10f}] R2 {fit.rvalue**2:.8f}")


if __name__ == "__main__":
    main()
