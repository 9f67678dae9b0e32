"""What quantisation does to ranks: the shipped family in the types of GGUF, measured by the program itself.

    python tools/peers/quantised_family.py --ours PROGRAM --out FOLDER [--tokens N]

Every matrix of every model (the embedding, which is the head, too) is quantised and dequantised by the gguf package and written
back as a folder in f32; norms stay. A row whose length is no multiple of the block is filled up with zeros before, which leaves
the numbers of its last block a scale of their own, as they would have. The files themselves would not do: the widths are
no multiples of 32, and the models have windows on attention, which GGUF has no key for in `llama`. The package quantises Q8_0,
Q5_1, Q5_0, Q4_1 and Q4_0, not the K types. Prints the table of record/2026-11-29-quantisation.md.
"""

import argparse
import json
import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
from gguf import GGML_QUANT_SIZES
from gguf import GGMLQuantizationType as T
from gguf.quants import dequantize, quantize
from safetensors.numpy import load_file, save_file

ROOT = Path(__file__).resolve().parents[2]
TYPES = [T.F16, T.Q8_0, T.Q5_1, T.Q5_0, T.Q4_1, T.Q4_0]
CORPORA = ["crates:code", "crates:docs", "crates:markdown"]
KS = (1, 10, 100)


def rounded(matrix, kind):
    block = GGML_QUANT_SIZES[kind][0]
    columns = matrix.shape[1]
    filled = np.pad(matrix.astype(np.float32), ((0, 0), (0, -columns % block)))
    return np.ascontiguousarray(dequantize(quantize(filled, kind), kind)[:, :columns].astype(np.float32))


def write(kind, out):
    """The family in a type; returns the root mean square of what rounding changes, relative to the numbers, over all matrices."""
    change = size = 0.0
    for model in sorted((ROOT / "assets/family").iterdir()):
        folder = out / f"{model.name}-{kind.name.lower()}"
        shutil.copytree(model, folder, dirs_exist_ok=True)
        tensors = load_file(model / "model.safetensors")
        for name, numbers in tensors.items():
            if numbers.ndim == 2:
                tensors[name] = rounded(numbers, kind)
                change += float(((tensors[name] - numbers.astype(np.float64)) ** 2).sum())
                size += float((numbers.astype(np.float64) ** 2).sum())
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    return math.sqrt(change / size)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--tokens", default="20000")
    args = parser.parse_args()
    study, changes = args.out / "study", {}
    for kind in TYPES:
        changes[kind.name] = write(kind, args.out / kind.name.lower())
        subprocess.run([args.ours, "measure", "--family", kind.name, "--model", args.out / kind.name.lower(), "--corpus", *CORPORA,
                        "--tokens", args.tokens, "--out", study], check=True, stderr=subprocess.DEVNULL)
    subprocess.run([args.ours, "fit", study], check=True, stdout=subprocess.DEVNULL)
    groups = {(g["family"], g["corpus"]): g for g in json.loads((study / "laws.json").read_text())["groups"]}
    laws = lambda group: {l["quantity"].get("k", "CE"): l for l in [*group["rank_laws"], group["cross_entropy_law"]]}
    for corpus in sorted({corpus for _, corpus in groups}):
        plain = laws(groups["F16", corpus])
        print(f"\n{corpus}\n")
        quantities = [*KS, "CE"]
        print("| type | change of weights | " + " | ".join(f"k = {k}" if k != "CE" else "CE" for k in quantities) + " | exponents |")
        for kind in TYPES:
            own, cells = laws(groups[kind.name, corpus]), []
            for k in quantities:
                before = {p["label"].rsplit("-", 1)[0]: p["value"] for p in plain[k]["points"]}
                moved = [(p["x"], p["value"] / before[p["label"].rsplit("-", 1)[0]] - 1) for p in own[k]["points"]]
                moved = [change for _, change in sorted(moved)]
                cells.append(f"{100 * moved[0]:+.2f} to {100 * moved[-1]:+.2f} ({100 * np.mean(moved):+.2f})")
            exponents = ", ".join(f"{own[k]['outcome']['exponent']['value']:.4f}" for k in quantities)
            print(f"| {kind.name} | {100 * changes[kind.name]:.2f} % | " + " | ".join(cells) + f" | {exponents} |")


if __name__ == "__main__":
    main()
