"""The goldens of crates/decoder/tests/goldens by another version of transformers: what it computes otherwise.

    python tools/goldens/versions.py [NAME ...]                                               # by the version that is installed
    python tools/goldens/versions.py --configs crates/decoder/tests/version_5_configs.json    # as well

Every folder is read as it is and scored in float64; rank and ties that are not equal, nll and entropy that differ by more than
1e-9 of their size (or of 1) are told by name. With `--configs`, every case of checkpoints.py is made afresh, from the same
arguments and weights, and must give the same scores, and tensors of the same names; what is written is the `config.json` of
each, as this version spells it.
"""

import argparse
import json
import logging
import sys
import tempfile
import warnings
from pathlib import Path

import torch
import transformers
from checkpoints import CASES, golden, read, write
from safetensors import safe_open

TESTS = Path(__file__).resolve().parents[2] / "crates/decoder/tests"
TOLERANCE = 1e-9


def apart(stored, found, where=""):
    """What differs between two lists of a golden's sequences, or None."""
    for n, (a, b) in enumerate(zip(stored, found, strict=True)):
        if known := a.get("known_only"):
            if words := apart([known], [b["known_only"]], " of known rows"):
                return words
        for key in ("rank", "ties"):
            if a[key] != b[key]:
                return f"{key}{where} of sequence {n}: {a[key]} stored, {b[key]} found"[:160]
        for key in ("nll", "entropy"):
            for i, (x, y) in enumerate(zip(a[key], b[key], strict=True)):
                if not abs(x - y) <= TOLERANCE * max(1.0, abs(x)):
                    return f"{key}{where} of sequence {n}, token {i + 1}: {x} stored, {y} found"
    return None


def stored(folder):
    head = json.loads((folder / "golden.json").read_text())
    return head["known"], head["sequences"]


def as_it_is(folder):
    known, sequences = stored(folder)
    try:
        found, _ = golden(read(folder), [torch.tensor(s["ids"]) for s in sequences], known)
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"
    return apart(sequences, found)


def names(folder):
    """Tensors of a folder's safetensors files; none where it has none."""
    found = set()
    for path in folder.glob("*.safetensors"):
        if path.name != "golden.safetensors":
            with safe_open(path, "pt") as file:
                found |= set(file.keys())
    return found


def afresh(folder, config, options, configs):
    """A case made by this version: its scores and tensors against the stored ones, its spelling."""
    with tempfile.TemporaryDirectory() as out:
        try:
            write(folder.name, config, options, Path(out))
        except Exception as error:
            return f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"
        made = Path(out) / folder.name
        configs[folder.name] = json.loads((made / "config.json").read_text())
        if names(made) != names(folder):
            return f"other tensors: {sorted(names(made) ^ names(folder))[:3]}"
        return apart(stored(folder)[1], stored(made)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configs", type=Path, help="where configurations go, as this version writes them")
    parser.add_argument("names", nargs="*", help="folders; all by default")
    args = parser.parse_args()
    logging.disable(logging.ERROR)
    warnings.simplefilter("ignore")
    transformers.utils.logging.set_verbosity(transformers.logging.CRITICAL)
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(1)
    folders = {f.name: f for f in sorted((TESTS / "goldens").iterdir())}
    if unknown := set(args.names) - set(folders):
        sys.exit(f"unknown folders {sorted(unknown)}")
    counts, configs = {}, {}
    for name in args.names or folders:
        verdicts = {"as it is": as_it_is(folders[name])}
        if args.configs and name in CASES:
            verdicts["made afresh"] = afresh(folders[name], *CASES[name], configs)
            if verdicts["made afresh"] and "other tensors" not in verdicts["made afresh"]:
                configs.pop(name, None)  # another model by this version
        for way, words in verdicts.items():
            counts.setdefault(way, [0, 0])[words is not None] += 1
            if words:
                print(f"{name}, {way}: {words}")
    for way, (same, other) in counts.items():
        print(f"transformers {transformers.__version__}, {way}: {same} as stored, {other} otherwise")
    if args.configs:
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(config)}" for name, config in configs.items())
        head = dict(generator="tools/goldens/versions.py", transformers=transformers.__version__)
        args.configs.write_text(json.dumps(head)[:-1] + ', "configs": {\n' + lines + "\n}}\n")


if __name__ == "__main__":
    main()
