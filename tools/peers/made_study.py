"""A study folder from arrays of ranks: what `relscale measure` would have written, for simulations whose truth is known.

`inference.py` uses it; see docs/formats.md for the layout. Needs numpy and pyarrow.
"""

import hashlib
import json
import os
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def sha(data):
    return hashlib.sha256(data).hexdigest()


def provenance(model, size, corpus, documents, size_of_text, entries):
    counted = {"non_embedding": int(size), "token_embedding": 1000, "position_embedding": 0, "head": 0}
    return {
        "format": 1,
        "tool": {"name": "relscale", "version": "0.1.0"},
        "model": {
            "name": model,
            "family": "simulated",
            "architecture": "mistral",
            "weights_sha256": sha(model.encode()),
            "config_sha256": sha(b"c" + model.encode()),
            "stored_dtype": "f16",
            "files": ["model.safetensors"],
            "parameters": {**counted, "total": int(size) + 1000},
        },
        "tokenizer": {"sha256": sha(b"tokenizer"), "source": "tokenizer.json"},
        "corpus": {
            "name": corpus,
            "description": "simulated",
            "text_sha256": sha(b"t" + corpus.encode()),
            "documents": int(documents),
            "bytes": int(size_of_text),
        },
        "protocol": {"name": "document", "parameters": {"length": 512, "stride": 256}, "prefix": None},
        "scoring": {
            "engine": "local-f32",
            "engine_revision": 1,
            "compute_dtype": "f32",
            "tie_rule": ">=",
            "vocabulary_rule": "tokens",
            "vocabulary": {"tokenizer": entries, "with_added": entries, "rows": entries, "scored": entries},
        },
        "limit": None,
    }


def key(told):
    model, corpus, scoring = told["model"], told["corpus"], told["scoring"]
    named = ("engine", "engine_revision", "compute_dtype", "tie_rule", "vocabulary_rule", "vocabulary")
    return sha(
        canonical(
            {
                "model": {
                    "architecture": model["architecture"],
                    "weights": model["weights_sha256"],
                    "config": model["config_sha256"],
                    "stored_dtype": model["stored_dtype"],
                    "parameters": model["parameters"],
                },
                "tokenizer": told["tokenizer"]["sha256"],
                "corpus": {"text": corpus["text_sha256"], "documents": corpus["documents"], "bytes": corpus["bytes"]},
                "protocol": {"name": "document", "parameters": told["protocol"]["parameters"], "prefix": None},
                "scoring": {name: scoring[name] for name in named},
                "limit": None,
            }
        ).encode()
    )


class Study:
    def __init__(self, path):
        self.path = path
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(f"{path}/runs")
        self.current = {}

    def add(self, model, size, corpus, lengths, ranks, entries):
        """The ranks of one model on one corpus, document after document; `lengths` are the scored tokens of each."""
        lengths = np.asarray(lengths)
        count, documents = int(lengths.sum()), len(lengths)
        document = np.repeat(np.arange(documents), lengths)
        position = np.arange(count) - np.repeat(np.cumsum(lengths) - lengths, lengths) + 1
        nll, entropy = np.log1p(ranks).astype(np.float32), np.full(count, 2.0, np.float32)
        words = np.empty((count, 11), "<u4")
        zeros = np.zeros(count)
        whole = [document, position, zeros, np.full(count, 4), np.minimum(position, 511), np.ones(count), ranks, zeros]
        for at, column in enumerate(whole):
            words[:, at] = column
        words[:, 8], words[:, 9], words[:, 10] = nll.view("<u4"), entropy.view("<u4"), 0
        rows = sha(words.tobytes())
        told = provenance(model, size, corpus, documents, 4 * (count + documents), entries)
        name = f"{model}--{corpus}--{key(told)[:12]}"
        folder = f"{self.path}/runs/{name}"
        os.makedirs(folder)
        part = {
            "bytes": 4 * count,
            "end_document": documents,
            "first_document": 0,
            "index": 0,
            "nonfinite": 0,
            "rows_sha256": rows,
            "scored": count,
        }
        self.tokens(folder, words, nll, entropy, told, part)
        self.documents(folder, lengths, told)
        about = {"format": 1, "key": key(told)}
        plan = {"documents": documents, "scored": count, "part_tokens": max(65536, count), "parts": 1}
        with open(f"{folder}/run.json", "w") as out:
            json.dump({**about, "provenance": told, "plan": plan}, out)
        file = f"{folder}/part-00000.parquet"
        with open(file, "rb") as data:
            entry = {"file": "part-00000.parquet", "size": os.path.getsize(file), "sha256": sha(data.read()), "part": part}
        totals = {"documents": documents, "unscored_documents": 0, "scored": count, "bytes": 4 * count, "nonfinite": 0}
        with open(f"{folder}/done.json", "w") as out:
            json.dump({**about, "totals": totals, "parts": [entry]}, out)
        self.current[f"{model} x {corpus}"] = name

    @staticmethod
    def tokens(folder, words, nll, entropy, told, part):
        whole = pa.uint32()
        names = ("document", "position", "token", "bytes", "context")
        fields = [pa.field(name, whole, nullable=False) for name in names]
        fields += [pa.field(name, whole) for name in ("rank", "ties")]
        fields += [pa.field(name, pa.float32()) for name in ("nll", "entropy")] + [pa.field("argmax", whole)]
        about = {"relscale.kind": "tokens", "relscale.format": "1"}
        schema = pa.schema(fields, metadata={**about, "relscale": canonical(told), "relscale.part": canonical(part)})
        columns = [pa.array(words[:, at].copy(), whole) for at in (0, 1, 2, 3, 4, 6, 7)]
        columns += [pa.array(nll), pa.array(entropy), pa.array(words[:, 10].copy(), whole)]
        table = pa.table(columns, schema=schema)
        pq.write_table(table, f"{folder}/part-00000.parquet", compression="zstd", compression_level=1)

    @staticmethod
    def documents(folder, lengths, told):
        whole, long = pa.uint32(), pa.uint64()
        named = [("ordinal", whole), ("id", pa.string()), ("tags", pa.string())]
        named += [("tokens", long), ("bytes", long), ("scored", long)]
        about = {"relscale.kind": "documents", "relscale.format": "1", "relscale": canonical(told)}
        schema = pa.schema([pa.field(name, kind, nullable=False) for name, kind in named], metadata=about)
        count = len(lengths)
        columns = [pa.array(np.arange(count), whole), pa.array([f"d{at}" for at in range(count)])]
        columns += [pa.array(["{}"] * count), pa.array(lengths + 1, long), pa.array(4 * (lengths + 1), long)]
        columns += [pa.array(lengths, long)]
        pq.write_table(pa.table(columns, schema=schema), f"{folder}/documents.parquet", compression="zstd")

    def close(self):
        tool = {"name": "relscale", "version": "0.1.0"}
        with open(f"{self.path}/study.json", "w") as out:
            json.dump({"format": 1, "tool": tool, "current": self.current}, out)
        open(f"{self.path}/.lock", "w").close()
