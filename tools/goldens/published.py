"""Cuts published tables to the rows and columns that tests read: testdata/published.

    python tools/goldens/published.py DATA testdata/published

DATA holds the originals under the names of their projects (see testdata/published/README.md). Numbers
are copied as they are spelt; the means of the Gemstones alone are computed.
"""

import csv
import json
import math
import pathlib
import sys


def rows(path, delimiter):
    with open(path, newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def write(path, columns, found, delimiter):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="") as file:
        out = csv.DictWriter(
            file, columns, delimiter=delimiter, extrasaction="ignore", lineterminator="\n"
        )
        out.writeheader()
        out.writerows(found)


def main():
    data, out = map(pathlib.Path, sys.argv[1:])

    # The last step of each size, and one other task and step, so that conditions have work to do.
    pythia = rows(data / "pythia-evals/pythia.tsv", "\t")
    tasks = lambda row: row["task"].startswith("mmlu_") or row["task"] in ("lambada_openai", "piqa")
    kept = [row for row in pythia if row["step"] == "143000" and tasks(row)]
    kept += [row for row in pythia if row["step"] == "512" and row["task"] == "lambada_openai"]
    columns = ["model", "shots", "step", "task", "metric", "value"]
    write(out / "pythia/evaluations.tsv", columns, kept, "\t")

    # What forecasts are tried on: LAMBADA as features, seven other tasks as targets. Sizes are non-embedding parameters.
    counts = {row["model"]: row["non_embedding"] for row in rows(data / "families/param_counts.tsv", "\t")}
    chances = {"arc_challenge": 0.25, "arc_easy": 0.25, "logiqa": 0.25, "piqa": 0.5, "sciq": 0.25, "winogrande": 0.5, "wsc": 0.5}
    last = {(row["model"], row["task"], row["metric"]): row["value"] for row in pythia if row["step"] == "143000"}
    features, targets = [], []
    for model in sorted({model for model, _, _ in last}):
        size = model.removeprefix("pythia-").removesuffix("-bf16")
        found = {"model": model, "S": counts[f"EleutherAI/pythia-{size}"]}
        found["lambada_acc"] = last[model, "lambada_openai", "acc"]
        found["lambada_ppl"] = last[model, "lambada_openai", "ppl"]
        features.append(found)
        targets += [
            {"model": model, "task": task, "chance": chance, "accuracy": last[model, task, "acc"]}
            for task, chance in chances.items()
        ]
    write(out / "pythia/lambada.tsv", list(features[0]), features, "\t")
    write(out / "pythia/tasks.tsv", list(targets[0]), targets, "\t")

    subjects = rows(data / "mmlu/categories.tsv", "\t")
    columns = ["subject", "category", "test_items", "lm_eval_group"]
    write(out / "mmlu/categories.tsv", columns, subjects, "\t")

    ladder = rows(data / "olmo-ladder/final.tsv", "\t")
    names = ["c4_en", "ice", "dolma_reddit", "dolma_wiki", "dolma_stack", "dolma_books"]
    columns = ["run", "size", "params", "tokens"] + [f"loss_{name}" for name in names]
    for kind in ["bpb", "acc"]:
        domains = ["stem", "humanities", "social_sciences", "other"]
        columns += [f"mmlu_{domain}_test_{kind}" for domain in domains]
    write(out / "olmo-ladder/final.tsv", columns, ladder, "\t")

    # A domain's mean loss over its subjects.
    domains = {}
    for row in subjects:
        domains.setdefault(row["category"], []).append(row["subject"])
    means = []
    for row in rows(data / "gemstones/mmlu_subject_losses.tsv", "\t"):
        mean = {name: math.fsum(float(row[s]) for s in of) / len(of) for name, of in domains.items()}
        means.append({**row, **{name: repr(value) for name, value in mean.items()}})
    columns = ["run", "params", "tokens", *sorted(domains)]
    write(out / "gemstones/mmlu_domain_losses.tsv", columns, means, "\t")
    for name in ["cool_end", "hot", "hot_sampled_like_chinchilla", "slim_chinchilla"]:
        text = (data / f"gemstones/wandb_df_for_fitting_{name}.jsonl").read_text()
        columns = ["params_active_precise", "tokens", "final_loss"]
        kept = []
        for line in text.splitlines():
            # As text, so that no digit is lost.
            row = json.loads(line, parse_float=str, parse_int=str)
            kept.append("{" + ", ".join(f'"{c}": {row[c]}' for c in columns) + "}\n")
        (out / f"gemstones/{name}.jsonl").write_text("".join(kept))

    points = rows(data / "chinchilla-epoch/points.csv", ",")
    write(out / "chinchilla/points.csv", ["params", "tokens", "flops", "loss"], points, ",")

    for name in ["isoflops", "runs-comma", "runs-dclm"]:
        found = rows(data / f"isoflop-marin/{name}.csv", ",")
        write(out / f"marin/{name}.csv", list(found[0]), found, ",")

    counts = rows(data / "families/param_counts.tsv", "\t")
    write(out / "families/param_counts.tsv", ["model", "non_embedding", "embedding"], counts, "\t")


main()
