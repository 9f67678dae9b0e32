"""Writes crates/cli/tests/data/choices: a tiny model, questions, and what lm-evaluation-harness makes of them.

Run by hand:  pip install -r tools/peers/requirements.txt && pip install datasets==5.0.1 && python tools/peers/choices.py

The harness does it all: its MMLU templates over our small questions, its requests, its model class, its accuracy by log-likelihood (`acc`) and by
log-likelihood per character (`acc_norm`; all options are ASCII, so characters are bytes). Weights are stored in f32, everything is computed in
float64. With `max_length` 40 prompts are longer than the window, and the harness cuts them from the left.
"""

import csv
import json
import os
import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

os.environ["HF_DATASETS_OFFLINE"] = "1"

import lm_eval.tasks
import torch
import yaml
from lm_eval.api.task import ConfigurableTask
from lm_eval.models.huggingface import HFLM
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

sys.path.insert(0, str(Path(__file__).parent))
from protocols import train_tokenizer

OUT = Path(__file__).resolve().parents[2] / "crates" / "cli" / "tests" / "data" / "choices"
TEMPLATES = Path(lm_eval.tasks.__file__).parent / "mmlu"
FORMATS = {"standard": "default", "continuation": "continuation"}
QUESTIONS = [
    ["How many legs has a spider?", "six", "eight", "eight and a half", "a hundred", "B"],
    ["Which is a colour?", "blue", "Tuesday", "seven ships", "slowly", "A"],
    ["What did the keeper count?", "the horns of a fog", "ships", "marks", "pages of the book", "B"],
    ["A ship is not", "a ship", "a page", "long", "a horn", "D"],
    ["Add one and one", "one", "two", "two, or more", "none", "B"],
    ["Where does it stand?", "on the page", "in the book", "at the number", "beside it", "C"],
]


def write_model():
    torch.manual_seed(11)
    tokenizer = train_tokenizer(["<|endoftext|>"], None)
    roles = {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>", "unk_token": "<|endoftext|>"}
    config = GPT2Config(
        vocab_size=305, n_positions=256, n_embd=16, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0
    )
    model = GPT2LMHeadModel(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0.0, 0.5) if parameter.dim() > 1 else parameter.add_(torch.randn_like(parameter) * 0.1)
    folder = OUT / "model"
    folder.mkdir(parents=True)
    model.save_pretrained(folder)
    (folder / "model.safetensors").chmod(0o644)
    (folder / "generation_config.json").unlink(missing_ok=True)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **roles).save_pretrained(folder)
    return folder


def task(format, folder):
    name = FORMATS[format]
    template = yaml.safe_load((TEMPLATES / name / f"_{name}_template_yaml").read_text())
    own = yaml.safe_load((TEMPLATES / name / "mmlu_astronomy.yaml").read_text())
    files = {}
    for split, rows in (("test", QUESTIONS), ("dev", QUESTIONS[:1])):
        files[split] = str(folder / f"{split}.jsonl")
        lines = ({"question": row[0], "choices": row[1:5], "answer": "ABCD".index(row[5])} for row in rows)
        Path(files[split]).write_text("".join(json.dumps(line) + "\n" for line in lines))
    own = {key: own[key] for key in ("description", "task")}
    template["metric_list"] = [{"metric": metric, "aggregation": "mean", "higher_is_better": True} for metric in ("acc", "acc_norm")]
    return ConfigurableTask(config={**template, **own, "dataset_path": "json", "dataset_kwargs": {"data_files": files}})


def numbers(harness, format, folder):
    of = task(format, folder)
    options, metrics = [], []
    for row, doc in enumerate(of.test_docs()):
        context = of.fewshot_context(doc, num_fewshot=0)
        requests = of.construct_requests(doc=doc, ctx=context, metadata=("", row, 1))
        found = [harness.loglikelihood([request], disable_tqdm=True)[0] for request in requests]
        options.append([float(ll) for ll, _ in found])
        metrics.append({name: float(value) for name, value in of.process_results(doc, found).items()})
    return {"loglikelihood": options, "acc": [m["acc"] for m in metrics], "acc_norm": [m["acc_norm"] for m in metrics]}


def main():
    torch.set_num_threads(1)
    if OUT.exists():
        shutil.rmtree(OUT)
    model = write_model()
    (OUT / "mmlu" / "test").mkdir(parents=True)
    with open(OUT / "mmlu" / "test" / "astronomy_test.csv", "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(QUESTIONS)
    result = {"versions": {name: version(name) for name in ["datasets", "lm_eval", "torch", "transformers", "tokenizers"]}}
    with tempfile.TemporaryDirectory() as folder:
        for max_length in (250, 40):
            harness = HFLM(
                pretrained=str(model), device="cpu", dtype="float64", batch_size=1, max_length=max_length, add_bos_token=False
            )
            result[str(max_length)] = {format: numbers(harness, format, Path(folder)) for format in FORMATS}
    (OUT / "harness.json").write_text(json.dumps(result, indent=1) + "\n")


main()
