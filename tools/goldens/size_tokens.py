"""Figures of crates/laws/tests/size_tokens.rs, by NumPy, from the MMLU losses of the Gemstones.

    python size_tokens.py mmlu_subject_losses.tsv categories.tsv    (of the Gemstones' and MMLU's own files)

Mean loss of each domain's subjects; slopes of ln loss, and of ln loss less that of STEM, on ln params at each of 35 numbers of tokens, and on ln
tokens at each of 22 sizes; means over those; errors by leaving out each size.
"""

import csv
import sys

import numpy as np


def main():
    rows = list(csv.DictReader(open(sys.argv[1]), delimiter="\t"))
    domain_of = {row["subject"]: row["category"] for row in csv.DictReader(open(sys.argv[2]), delimiter="\t")}
    size = np.array([float(row["params"]) for row in rows])
    tokens = np.array([float(row["tokens"]) for row in rows])
    step = np.round(tokens / 1e10)

    def slopes(y, keep):
        slope = lambda x, chosen: np.polyfit(np.log(x[chosen]), y[chosen], 1)[0]
        by_size = [slope(size, keep & (step == at)) for at in np.unique(step)]
        by_tokens = [slope(tokens, keep & (size == at)) for at in np.unique(size[keep])]
        return np.array([np.mean(by_size), np.mean(by_tokens)])

    def told(name, y):
        sizes = np.unique(size)
        left_out = np.array([slopes(y, size != at) for at in sizes])
        spread = ((left_out - left_out.mean(0)) ** 2).sum(0)
        errors = np.sqrt((len(sizes) - 1) / len(sizes) * spread)
        print(name, "slopes by size, by tokens", slopes(y, size > 0).round(8), "errors", errors.round(8))

    losses = {
        domain: np.log([np.mean([float(row[s]) for s in domain_of if domain_of[s] == domain]) for row in rows])
        for domain in sorted(set(domain_of.values()))
    }
    for domain, y in losses.items():
        told(domain, y)
        if domain != "STEM":
            told(f"{domain} - STEM", y - losses["STEM"])


if __name__ == "__main__":
    main()
