"""Coverage and width of 95 % intervals, ours and those of others, on the same simulated tables and studies.

    python tools/peers/inference.py --ours PROGRAM [--repeats 200] [--peer-repeats 30] [--ours-alone] [tables] [studies]

Tables: one value a model over three decades of size; the exponent, and one new model at 10 and 100 times the largest, from all models. Studies: documents that
differ in difficulty and in how fast they get easier; the exponent over all documents like these, models fixed. Needs Python 3.12 (simple-scaling-laws) and
the versions in `requirements.txt`. Prints Markdown tables. What each method is asked for:

* relscale: `fit --table --json -`, the exponent's interval and the audit's predictions from the first n models; `fit STUDY`, the exponent of k = 1.
* simple-scaling-laws: `fit(law="separable-power")`, two rows a model of one value (it sees no noise of evaluation), `predict(kind="new-run")`.
* SciPy: `curve_fit` of `a x^-alpha` and `a x^-alpha + c`, relative errors (`sigma = y`), t intervals from its covariance by the delta method.
* statsmodels: OLS of logarithms with `obs_ci`; on studies OLS over models, a binomial GLM with complementary log-log link clustered by document, and MixedLM
  of document means with a random line a document.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
import warnings

import numpy as np
from scipy.optimize import curve_fit
from scipy.stats import t as student

from made_study import Study

LEVEL = 0.95
TABLES = {
    "power law": {"alpha": 0.12, "floor": 0.0, "scatter": (0.02, 0.02)},
    "floor of 10 %": {"alpha": 0.15, "floor": 0.1, "scatter": (0.02, 0.02)},
    "floor of 30 %": {"alpha": 0.3, "floor": 0.3, "scatter": (0.01, 0.01)},
    "scatter grows fourfold": {"alpha": 0.12, "floor": 0.0, "scatter": (0.02, 0.08)},
}


def table(rng, truth, models):
    """Sizes, values; then those of two new models, ten and a hundred times the largest."""
    size = 10 ** (6 + 3 * np.arange(models) / (models - 1))
    every = np.concatenate([size, size[-1] * np.array([10.0, 100.0])])
    mean = np.log(5 * ((1 - truth["floor"]) * (every / size[0]) ** -truth["alpha"] + truth["floor"]))
    scatter = np.concatenate([np.linspace(*truth["scatter"], models), [truth["scatter"][1]] * 2])
    value = np.exp(mean + scatter * rng.normal(size=models + 2))
    return every, value


class Told:
    """What a method has said over repetitions."""

    def __init__(self):
        self.alpha, self.near, self.far, self.failed = [], [], [], 0

    def add(self, found, truth, new):
        """`found` is (exponent, at 10x, at 100x), each a pair of ends or None; no ends at a place count as no answer there."""
        if found is None:
            self.failed += 1
            return
        for ends, value, kept in zip(found, (truth, *new), (self.alpha, self.near, self.far)):
            if ends is None or not np.all(np.isfinite(ends)):
                continue
            low, high = ends
            # The width of an exponent is a difference, that of a loss a ratio; of one that reaches down to nothing there is none.
            width = high - low if kept is self.alpha else high / low if low > 0 else np.inf
            kept.append((bool(low <= value <= high), width))

    @staticmethod
    def cell(kept, asked):
        if not kept:
            return "-"
        covered, width = 100 * np.mean([hit for hit, _ in kept]), np.median([width for _, width in kept])
        fewer = "" if len(kept) == asked else f" (of {len(kept)})"
        return f"{covered:.1f} %, {width:.3g}{fewer}"


def ours(program, tables):
    """Exponents from the models, predictions of the new ones by the audit's step from all models."""

    def groups(rows_of):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/t.csv"
            with open(path, "w") as out:
                out.write("g,S,loss\n")
                for at, (sizes, values) in enumerate(tables):
                    for size, value in rows_of(sizes, values):
                        out.write(f"r{at:06d},{float(size)!r},{float(value)!r}\n")
            command = [program, "fit", "--table", path, "--y", "loss", "--group", "g", "--json", "-"]
            out = subprocess.run(command, capture_output=True, text=True, check=True)
            return [group["laws"][0]["outcome"] for group in json.loads(out.stdout)["groups"]]

    def ends(estimate):
        interval = estimate["interval"]
        return (interval["low"], interval["high"]) if "low" in interval else None

    exponents = [ends(law["exponent"]) for law in groups(lambda sizes, values: zip(sizes[:-2], values[:-2]))]
    found = []
    for exponent, law, (sizes, _) in zip(exponents, groups(zip), tables):
        step = next(step for step in law["audit"] if step["fitted_points"] == len(sizes) - 2)
        found.append((exponent, *(ends(prediction["predicted"]) for prediction in step["predictions"])))
    return found


def by_curve_fit(floor):
    def model(x, a, alpha, *c):
        return a * x**-alpha + (c[0] if c else 0.0)

    def fit(sizes, values):
        x, y, new = sizes[:-2] / sizes[0], values[:-2], sizes[-2:] / sizes[0]
        start = [y[0] / 2, 0.3, y[-1] / 2] if floor else [y[0], 0.1]
        low = [0.0, -1.0, 0.0][: len(start)]
        try:
            best, covariance = curve_fit(model, x, y, start, sigma=y, bounds=(low, np.inf), max_nfev=5000)
        except (RuntimeError, ValueError):
            return None
        freedom = len(x) - len(start)
        reach = student.ppf(0.5 + LEVEL / 2, freedom)
        scatter = np.sum(((model(x, *best) - y) / y) ** 2) / freedom
        found = [(best[1] - reach * covariance[1, 1] ** 0.5, best[1] + reach * covariance[1, 1] ** 0.5)]
        for at in new:
            value = model(at, *best)
            slope = np.array([at ** -best[1], -best[0] * np.log(at) * at ** -best[1], 1.0])[: len(start)]
            error = np.sqrt(slope @ covariance @ slope + scatter * value**2)
            found.append((value - reach * error, value + reach * error))
        return found if np.all(np.isfinite(covariance)) else None

    return fit


def by_ols(sizes, values):
    import statsmodels.api as sm

    x, y = sm.add_constant(np.log(sizes[:-2])), np.log(values[:-2])
    fit = sm.OLS(y, x).fit()
    low, high = fit.conf_int(1 - LEVEL)[1]
    new = fit.get_prediction(np.column_stack([np.ones(2), np.log(sizes[-2:])]))
    return [(-high, -low), *(tuple(np.exp(ends)) for ends in new.conf_int(obs=True, alpha=1 - LEVEL))]


def by_simple_scaling_laws(sizes, values):
    import polars as pl
    from simple_scaling_laws import fit

    runs = len(sizes) - 2
    frame = pl.DataFrame(
        {
            "training_run_id": [f"m{at}" for at in range(runs) for _ in range(2)],
            "test_set_id": ["a", "b"] * runs,
            "model_size__n_params": np.repeat(sizes[:-2], 2),
            "test_loss__ce": np.repeat(values[:-2], 2),
        }
    )
    try:
        model = fit(frame, law="separable-power", n_draws=400, seed=0)
        points = pl.DataFrame({"model_size__n_params": sizes[-2:]})
        said = model.predict(points, kind="new-run", quantiles=[0.025, 0.975])
        ends = zip(said["test_loss__ce__q025"].to_list(), said["test_loss__ce__q975"].to_list())
    except Exception:  # noqa: BLE001 - whatever it refuses is counted
        return None
    return [None, *ends]


def of_tables(program, repeats, peer_repeats, with_peers):
    peers = with_peers and {
        "SciPy curve_fit, power law": by_curve_fit(False),
        "SciPy curve_fit, with a floor": by_curve_fit(True),
        "statsmodels OLS of logarithms": by_ols,
        "simple-scaling-laws 0.2": by_simple_scaling_laws,
    }
    print("| truth | models | method | alpha: covers, width | at 10x: covers, high/low | at 100x: covers, high/low | no answer |")
    print("|---|---|---|---|---|---|---|")
    for name, truth in TABLES.items():
        for models in (6, 8, 12):
            rng = np.random.default_rng([models, len(name)])
            tables = [table(rng, truth, models) for _ in range(repeats)]
            rows = {"relscale": (ours(program, tables), repeats)}
            for peer, method in (peers or {}).items():
                count = peer_repeats if peer.startswith("simple") else repeats
                rows[peer] = ([method(*one) for one in tables[:count]], count)
            for method, (found, count) in rows.items():
                told = Told()
                for one, (_, values) in zip(found, tables):
                    told.add(one, truth["alpha"], values[-2:])
                # Of a law with a floor the exponent of the power law through it is no parameter.
                exponent = truth["floor"] == 0 or "floor" in method
                cells = [Told.cell(told.alpha if exponent else [], count)]
                cells += [Told.cell(kept, count) for kept in (told.near, told.far)]
                print(f"| {name} | {models} | {method} | {' | '.join(cells)} | {told.failed} of {count} |", flush=True)


ALPHA, ENTRIES, MODELS = 0.12, 64, 7
SIZES = np.round(10 ** (4 + 3 * np.arange(MODELS) / (MODELS - 1)))


def corpus(rng, documents):
    """Ranks of all models on documents of uneven length that differ in difficulty, and in how fast they get easier (by 0.04 of the exponent)."""
    from scipy.special import ndtr

    k = np.arange(1, ENTRIES)
    lengths = rng.integers(100, 500, size=documents)
    hard = np.exp(0.4 * rng.normal(size=documents) - 0.08)
    own = 0.04 * rng.normal(size=documents)
    shared = rng.normal(size=lengths.sum())
    scatter = 0.01 * rng.normal(size=MODELS)
    ranks = []
    for size, off in zip(SIZES, scatter):
        far = np.log(size / SIZES[MODELS // 2])
        loss = 0.5 * k**-0.9 * (size / SIZES[0]) ** -ALPHA * np.exp(off)
        # The factor's mean over documents is 1 at each size, so that the exponent over all documents is ALPHA.
        factor = np.minimum(hard * np.exp(-own * far - (0.04 * far) ** 2 / 2), 1 / -np.expm1(-loss[0]))
        normal = np.sqrt(0.5) * shared + np.sqrt(0.5) * rng.normal(size=lengths.sum())
        missed = ndtr(normal) / np.repeat(factor, lengths)
        ranks.append((1 + np.searchsorted(np.expm1(-loss), -missed, side="left")).astype(np.uint32))
    return lengths, ranks


def sums(lengths, ranks):
    """Misses at k = 1 of each model and document."""
    starts = np.cumsum(lengths) - lengths
    return np.array([np.add.reduceat((of_model > 1).astype(float), starts) for of_model in ranks])


def by_ols_over_models(lengths, missed):
    import statsmodels.api as sm

    y = np.log(-np.log1p(-missed.sum(1) / lengths.sum()))
    low, high = sm.OLS(y, sm.add_constant(np.log(SIZES))).fit().conf_int(1 - LEVEL)[1]
    return -high, -low


def long_form(lengths, missed):
    documents = len(lengths)
    size = np.repeat(np.log(SIZES), documents)
    return size, np.tile(np.arange(documents), MODELS), missed.ravel(), np.tile(lengths, MODELS).astype(float)


def by_clustered_glm(lengths, missed):
    import statsmodels.api as sm

    size, document, wrong, tokens = long_form(lengths, missed)
    family = sm.families.Binomial(link=sm.families.links.CLogLog())
    model = sm.GLM(np.column_stack([wrong, tokens - wrong]), sm.add_constant(size), family=family)
    fit = model.fit(cov_type="cluster", cov_kwds={"groups": document})
    low, high = fit.conf_int(1 - LEVEL)[1]
    return -high, -low


def by_mixed(lengths, missed):
    import statsmodels.api as sm

    warnings.filterwarnings("ignore")  # statsmodels sets its own filter when it is imported
    size, document, wrong, tokens = long_form(lengths, missed)
    # A document that a model misses nowhere, or everywhere, has no logarithm: half a token more of each.
    y = np.log(-np.log1p(-(wrong + 0.5) / (tokens + 1.0)))
    x = sm.add_constant((size - size.mean()) / size.std())
    fit = sm.MixedLM(y, x, groups=document, exog_re=x).fit()
    low, high = fit.conf_int(1 - LEVEL)[1] / size.std()
    return -high, -low


def of_studies(program, repeats, with_peers):
    methods = with_peers and {
        "statsmodels OLS over models": by_ols_over_models,
        "statsmodels GLM, clustered by document": by_clustered_glm,
        "statsmodels MixedLM, a random line a document": by_mixed,
    }
    print("| documents | method | alpha of k = 1: covers, width | no answer |\n|---|---|---|---|")
    for documents in (36, 150):
        rng = np.random.default_rng([documents, 5])
        corpora = [corpus(rng, documents) for _ in range(repeats)]
        with tempfile.TemporaryDirectory() as folder:
            study = Study(f"{folder}/study")
            for at, (lengths, ranks) in enumerate(corpora):
                for model, (size, of_model) in enumerate(zip(SIZES, ranks)):
                    study.add(f"m{model}", int(size), f"c{at:05d}", lengths, of_model, ENTRIES)
            study.close()
            quiet = ["--resamples", "300", "--emergence-k", "1", "--emergence-n", "1"]
            subprocess.run([program, "fit", study.path, *quiet], check=True, capture_output=True)
            with open(f"{study.path}/laws.json") as file:
                groups = json.load(file)["groups"]
        found = []
        for group in groups:
            law = next(law for law in group["rank_laws"] if law["quantity"]["k"] == 1)
            interval = law["outcome"]["exponent"]["interval"]
            found.append((interval["low"], interval["high"]))
        rows = {"relscale": found}
        for name, method in (methods or {}).items():
            rows[name] = []
            for lengths, ranks in corpora:
                try:
                    rows[name].append(method(lengths, sums(lengths, ranks)))
                except (np.linalg.LinAlgError, ValueError):
                    rows[name].append(None)
        for name, found in rows.items():
            kept = [(ends[0] <= ALPHA <= ends[1], ends[1] - ends[0]) for ends in found if ends and np.all(np.isfinite(ends))]
            print(f"| {documents} | {name} | {Told.cell(kept, repeats)} | {repeats - len(kept)} of {repeats} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", nargs="*", default=[], help="tables, studies; both where none is named")
    parser.add_argument("--ours", default="relscale", help="the program")
    parser.add_argument("--repeats", type=int, default=200, help="tables of each kind, and corpora")
    parser.add_argument("--peer-repeats", type=int, default=30, help="tables of each kind for simple-scaling-laws, which takes a second each")
    parser.add_argument("--ours-alone", action="store_true", help="the same tables and corpora, without the peers")
    chosen = parser.parse_args()
    warnings.filterwarnings("ignore")
    begun = time.time()
    program = os.path.abspath(chosen.ours) if os.path.sep in chosen.ours else chosen.ours
    what = chosen.what or ["tables", "studies"]
    if "tables" in what:
        of_tables(program, chosen.repeats, chosen.peer_repeats, not chosen.ours_alone)
    if "studies" in what:
        of_studies(program, chosen.repeats, not chosen.ours_alone)
    print(f"\n{time.time() - begun:.0f} s")


if __name__ == "__main__":
    main()
