"""The engine beside plain transformers, on a random model of GPT-2's shape.

    python benches/speed.py [--dtype f32|bf16] [--windows N] [--length N] [--rounds N]
                            [--threads N] [--compile]

All ways take turns within a round, so that a machine with other work is unkind to all of them, and
seconds are those of the processor (user and system, all threads), which other work changes least;
the median over the rounds is printed, with the quartiles. "plain" computes what a script would: the
model's logits of a batch, in f32, and of them rank, ties, nll, entropy and argmax. "trunk" is the
model without its head, which no way can beat.
"""

import argparse
import random
import statistics
import tempfile
import time
from array import array
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, GPT2Config

from relscale_engine.backends.transformers import TransformersBackend
from relscale_engine.frames import Window
from relscale_engine.options import DTYPES, Options


def plain(model, batch):
    """Columns from all logits of a batch of windows of one length."""
    ids = torch.tensor([list(w.ids) for w in batch])
    with torch.inference_mode():
        z = model(ids, use_cache=False).logits[:, :-1].float()
        targets = ids[:, 1:, None]
        aim = z.gather(2, targets)
        logp = z.log_softmax(2)
        return (
            (z >= aim).sum(2),
            (z == aim).sum(2) - 1,
            -logp.gather(2, targets),
            -(logp.exp() * logp).sum(2),
            z.argmax(2),
        )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dtype", default="f32", choices=DTYPES)
    parser.add_argument("--windows", type=int, default=8)
    parser.add_argument("--length", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--compile", action="store_true", help="the compiled head as well")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    rng = random.Random(0)
    windows = [
        Window(
            array("I", [rng.randrange(50257) for _ in range(args.length)]),
            array("I", range(1, args.length)),
        )
        for _ in range(args.windows)
    ]
    with tempfile.TemporaryDirectory() as folder:
        torch.manual_seed(0)
        AutoModelForCausalLM.from_config(GPT2Config()).save_pretrained(folder)
        dtype = getattr(torch, DTYPES[args.dtype])
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype).eval()

        def engine(**more):
            options = Options(device="cpu", dtype=args.dtype, **more)
            return TransformersBackend("m", str(Path(folder)), options, print)

        tiled = engine()
        ways = {
            "engine": lambda: tiled.score(windows),
            "plain, 1 window a batch": lambda: [plain(model, [w]) for w in windows],
            "plain, 4 windows a batch": lambda: [
                plain(model, windows[i : i + 4]) for i in range(0, len(windows), 4)
            ],
            "trunk": lambda: [
                tiled._trunk([w.ids for w in windows[i : i + 8]]) for i in range(0, len(windows), 8)
            ],
        }
        if args.dtype != "f32":
            narrow = engine(head_dtype="bf16")
            ways["engine, head in bf16"] = lambda: narrow.score(windows)
        if args.compile:
            compiled = engine(compile="head")
            ways["engine, head compiled"] = lambda: compiled.score(windows)
        times = {name: [] for name in ways}
        for round_ in range(args.rounds + 1):
            for name, way in ways.items():
                start = time.process_time()
                way()
                if round_:  # The first warms up.
                    times[name].append(time.process_time() - start)
    tokens = args.windows * (args.length - 1)
    print(f"{args.dtype}, {args.threads} threads, {args.windows} windows of {args.length}")
    for name, seconds in times.items():
        rates = sorted(tokens / s for s in seconds)
        low, median, high = statistics.quantiles(rates, n=4)
        print(f"{name:28}{median:8.0f} tokens/CPU s   ({low:.0f} to {high:.0f})")


if __name__ == "__main__":
    main()
