"""Writes crates/decoder/tests/config_keys.json: what transformers computes when a key of config.json is absent, or null.

    python tools/goldens/config_keys.py > crates/decoder/tests/config_keys.json
    python tools/goldens/config_keys.py --compare OTHER.json    # the same by another version: what differs

Every key of every tiny checkpoint of `tests/goldens` is taken out, and set to null, one at a time; of a table (rotary
scaling) those in it as well, as TABLE.KEY. Of each: "same" where the
scores stay those of the whole folder, "fails" where the model cannot be loaded or would run with weights that no file has
(the reference then draws them), else the nll of the longest sequence. `context` is given where it is another.
"""

import json
import logging
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

import torch
import transformers
from checkpoints import golden, read

GOLDENS = Path(__file__).resolve().parents[2] / "crates/decoder/tests/goldens"


def outcome(folder, ids):
    try:
        model = read(folder)
        # BLOOM and recurrences have none.
        config = model.config.get_text_config()
        context = getattr(config, "max_position_embeddings", getattr(config, "max_sequence_length", None))
        entries, _ = golden(model, [ids])
    except Exception as error:
        return dict(fails=f"{type(error).__name__}: {str(error).splitlines()[0][:80] if str(error) else ''}")
    return dict(context=context, nll=entries[0]["nll"], rank=entries[0]["rank"])


def without(config, key):
    """The configuration without a key, and with null in its place."""
    table, _, inner = key.rpartition(".")
    if table:
        return [{**config, table: changed} for changed in without(config[table], inner)]
    return [{k: v for k, v in config.items() if k != key}, {**config, key: None}]


def main():
    logging.disable(logging.ERROR)
    warnings.simplefilter("ignore")
    transformers.utils.logging.set_verbosity(transformers.logging.CRITICAL)
    torch.set_num_threads(1)
    cases = {}
    for source in sorted(GOLDENS.iterdir()):
        if source.name.endswith("-rope-parameters"):  # which version 4 does not know
            continue
        sequences = json.loads((source / "golden.json").read_text())["sequences"]
        ids = torch.tensor(sequences[-1]["ids"])
        config = json.loads((source / "config.json").read_text())
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder) / "m"
            shutil.copytree(source, folder)
            whole = outcome(folder, ids)
            if "fails" in whole:
                print(f"{source.name}: as it is: {whole}", file=sys.stderr)
                continue
            keys = {}
            inner = [f"{key}.{k}" for key in ("rope_scaling",) for k in config.get(key) or {}]
            for key in [*config, *inner]:
                found = {}
                for way, changed in zip(("absent", "null"), without(config, key)):
                    (folder / "config.json").write_text(json.dumps(changed))
                    this = outcome(folder, ids)
                    if "fails" in this:
                        found[way] = this
                        continue
                    same = max(abs(a - b) for a, b in zip(this["nll"], whole["nll"])) < 1e-12
                    found[way] = {} if same else dict(nll=this["nll"], rank=this["rank"])
                    if this["context"] != whole["context"]:
                        found[way]["context"] = this["context"]
                    found[way] = found[way] or "same"
                keys[key] = found
            cases[source.name] = keys
            print(source.name, file=sys.stderr)
    if len(sys.argv) > 2:
        other = json.loads(Path(sys.argv[2]).read_text())["cases"]
        for name, keys in cases.items():
            for key, ways in keys.items():
                for way, this in ways.items():
                    that = other[name].get(key, {}).get(way)
                    both_fail = isinstance(this, dict) and isinstance(that, dict) and "fails" in this and "fails" in that
                    if this != that and not both_fail:
                        print(f"{name} {key} {way}: {transformers.__version__} {str(this)[:90]}, the other {str(that)[:90]}")
        return
    head = dict(generator="tools/goldens/config_keys.py", torch=torch.__version__, transformers=transformers.__version__)
    lines = [f"{json.dumps(name)}: {{\n" + ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in keys.items()) + "\n}"
             for name, keys in cases.items()]
    print(json.dumps(head)[:-1] + ', "cases": {\n' + ",\n".join(lines) + "\n}}")


if __name__ == "__main__":
    main()
