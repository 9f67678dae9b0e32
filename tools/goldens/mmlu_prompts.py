"""Prompts that lm-evaluation-harness itself makes of our small MMLU files: its own task templates, few-shot assembly and requests.

    python tools/goldens/mmlu_prompts.py            # writes crates/corpus/tests/data/mmlu_prompts.jsonl

A line is one question: format, shots, subject, row, the context and the continuation of each option, as the harness hands them to a model.
`text` and `modified` are its default task with other strings to score, as in the fork with which the relative law was measured.
"""

import csv
import json
import os
import tempfile
from pathlib import Path

os.environ["HF_DATASETS_OFFLINE"] = "1"

import lm_eval.tasks
import yaml
from lm_eval.api.task import ConfigurableTask

HERE = Path(__file__).resolve().parents[2] / "crates/corpus/tests/data"
TEMPLATES = Path(lm_eval.tasks.__file__).parent / "mmlu"
SCORED = {
    "text": "{{choices}}",
    "modified": "{{['A. ' ~ choices[0], 'B. ' ~ choices[1], 'C. ' ~ choices[2], 'D. ' ~ choices[3]]}}",
}
FORMATS = {"standard": "default", "text": "default", "modified": "default", "continuation": "continuation"}


def rows(split, subject):
    with open(HERE / "mmlu" / split / f"{subject}_{split}.csv", newline="") as file:
        return [
            {"question": row[0], "choices": row[1:5], "answer": "ABCD".index(row[5])} for row in csv.reader(file)
        ]


def config(format, subject, folder):
    name = FORMATS[format]
    template = yaml.safe_load((TEMPLATES / name / f"_{name}_template_yaml").read_text())
    own = yaml.safe_load((TEMPLATES / name / f"mmlu_{subject}.yaml").read_text())
    files = {}
    for split in ("test", "dev"):
        files[split] = str(folder / f"{subject}-{split}.jsonl")
        Path(files[split]).write_text("".join(json.dumps(row) + "\n" for row in rows(split, subject)))
    own = {key: own[key] for key in ("description", "task")}
    if format in SCORED:
        own["doc_to_choice"] = SCORED[format]
    return {**template, **own, "dataset_path": "json", "dataset_kwargs": {"data_files": files}}


def main():
    out = []
    with tempfile.TemporaryDirectory() as folder:
        for format in FORMATS:
            for subject in ("astronomy", "formal_logic"):
                task = ConfigurableTask(config=config(format, subject, Path(folder)))
                for shots in range(6):
                    for row, doc in enumerate(task.test_docs()):
                        context = task.fewshot_context(doc, num_fewshot=shots)
                        requests = task.construct_requests(doc=doc, ctx=context, metadata=("", row, 1))
                        assert all(request.args[0] == context for request in requests)
                        out.append(
                            {
                                "format": format,
                                "shots": shots,
                                "subject": subject,
                                "row": row + 1,
                                "context": context,
                                "continuations": [request.args[1] for request in requests],
                            }
                        )
    with open(HERE / "mmlu_prompts.jsonl", "w") as file:
        for line in out:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    print(f"{len(out)} questions")


main()
