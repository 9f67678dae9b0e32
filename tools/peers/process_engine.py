"""Checks the engine `transformers`, a process behind `relscale measure`, from a checkpoint to Parquet.

    python tools/peers/process_engine.py --ours PROGRAM

Nine families that the program's own decoder may not run, as tiny random checkpoints: measured by `--engine transformers` into a
study, whose rows are held against transformers in float64: nll to 1e-4 nats, ranks equal but where another logit lies within
rounding of the token's own. Five that it runs: both engines over the same ids, rows against rows and against float64.

Needs torch, transformers, pyarrow and the package itself: `pip install ./python/relscale_engine pyarrow`.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import vllm_server as peer

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python/relscale_engine/tests"))
import support  # noqa: E402
import test_models  # noqa: E402

FOREIGN = ["mamba", "mamba2", "rwkv", "gemma2", "gemma3_text", "qwen3_moe", "olmo2", "falcon", "bloom"]
OURS = ["gpt2", "opt", "gpt_neox", "qwen2", "llama"]
LENGTH = 64


def measure(program, folder, text, out, *more):
    command = [program, "measure", "--model", str(folder), "--corpus", f"ids={text}?format=text", "--vocab", "rows"]
    command += ["--bos", "none", "--length", str(LENGTH), "--out", str(out), *more]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "RELSCALE_PYTHON": sys.executable})
    if done.returncode:
        sys.exit(done.stderr)
    return done.stderr


def ids(file, rows):
    with file.open("w") as out:
        for document, length in enumerate([40, 1, 127, 300, 64, 3, 200, 90]):
            out.write(" ".join(str(i % rows) for i in peer.ids(length, 1000 + document)) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", required=True, help="the program")
    args = parser.parse_args()
    well = True
    with tempfile.TemporaryDirectory() as root:
        root = Path(root)
        for name in FOREIGN:
            print(name, flush=True)
            place = root / name
            place.mkdir()
            folder = support.save(test_models.CONFIGS[name](), place / "model")
            ids(place / "text.ids", 200)
            measure(args.ours, folder, place / "text.ids", place / "study", "--engine", "transformers")
            well &= peer.judged(folder, place / "study")
        peer.models(root / "ours")
        for name in OURS:
            print(name, flush=True)
            place = root / "both" / name
            place.mkdir(parents=True)
            ids(place / "text.ids", 300)
            folder = root / "ours" / name
            measure(args.ours, folder, place / "text.ids", place / "local")
            measure(args.ours, folder, place / "text.ids", place / "process", "--engine", "transformers")
            well &= peer.compare(place / "local", place / "process")
            well &= peer.judged(folder, place / "process")
    sys.exit(0 if well else 1)


if __name__ == "__main__":
    main()
