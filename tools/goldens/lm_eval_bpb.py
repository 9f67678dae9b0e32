"""Writes testdata/peers/lm_eval_bpb.json: bits per byte by lm-evaluation-harness, as a user runs it.

    python tools/goldens/lm_eval_bpb.py

The whole harness: a task of a YAML file, `output_type: loglikelihood_rolling`, over a local JSONL file, through `simple_evaluate`. Its own aggregation
gives `bits_per_byte` and `byte_perplexity`, weighted by UTF-8 bytes over all documents, and its log has the log-likelihood of each document. Models and
text are those of crates/measure/tests/data/protocols (tools/peers/protocols.py): random GPT-2 and Llama of 32 positions, documents from one token to ten windows,
among them Polish, Chinese and emoji. In float64, so that what differs from these numbers is the rounding of whoever compares.

Run by hand; the versions are pinned in tools/peers/requirements.txt.
"""

import json
import tempfile
from importlib.metadata import version
from pathlib import Path

from lm_eval import simple_evaluate
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks import TaskManager

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "crates" / "measure" / "tests" / "data" / "protocols"
OUT = ROOT / "testdata" / "peers" / "lm_eval_bpb.json"

# What wikitext.yaml of the harness says, but for the text, which is taken as it is. A word there is what stands between white space.
TASK = """\
task: relscale_text
dataset_path: json
dataset_kwargs:
  data_files:
    test: {text}
output_type: loglikelihood_rolling
test_split: test
doc_to_text: ""
doc_to_target: "{{{{text}}}}"
metric_list:
  - metric: byte_perplexity
  - metric: bits_per_byte
  - metric: word_perplexity
metadata:
  version: 1.0
"""


def evaluated(name, max_length, folder):
    model = HFLM(
        pretrained=str(DATA / name), device="cpu", dtype="float64", batch_size=1, max_length=max_length, add_bos_token=False
    )
    found = simple_evaluate(
        model=model, tasks=["relscale_text"], task_manager=TaskManager(include_path=str(folder)), bootstrap_iters=0,
        log_samples=True, limit=None,
    )
    results = found["results"]["relscale_text"]
    samples = sorted(found["samples"]["relscale_text"], key=lambda sample: sample["doc_id"])
    return {
        "max_length": max_length,
        "prefix_token_id": model.prefix_token_id,
        "documents": [sample["doc"]["id"] for sample in samples],
        "bytes": [len(sample["doc"]["text"].encode()) for sample in samples],
        "loglikelihood": [float(sample["filtered_resps"][0]) for sample in samples],
        "bits_per_byte": results["bits_per_byte,none"],
        "byte_perplexity": results["byte_perplexity,none"],
        "word_perplexity": results["word_perplexity,none"],
    }


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        # An empty document has no bytes to divide by: the harness' metric of a document by itself fails on it.
        lines = [json.loads(line) for line in (DATA / "documents.jsonl").read_text().splitlines()]
        text = folder / "documents.jsonl"
        text.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines if line["text"]))
        (folder / "relscale_text.yaml").write_text(TASK.format(text=text))
        result = {
            "versions": {name: version(name) for name in ["lm_eval", "torch", "transformers", "tokenizers", "datasets"]},
            **{name: [evaluated(name, length, folder) for length in [32, 11]] for name in ["gpt2", "llama"]},
        }
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
