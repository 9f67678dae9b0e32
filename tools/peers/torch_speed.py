"""What users run today: transformers' forward, log_softmax, entropy, and the rank by comparison. Tokens per second.

    python tools/peers/torch_speed.py MODEL [--ids MODEL/ids.json] [--window 1024] [--batch 1] [--threads 2] [--runs 5]

The ids are cut into windows of equal length; every token of a window but the first is scored. One warm-up run, then the
median and the range of --runs runs. f32, eager or sdpa as transformers chooses, no gradient.
"""

import argparse
import json
import statistics
import time
from pathlib import Path

import torch
import transformers
from transformers import AutoModelForCausalLM


@torch.inference_mode()
def score(model, windows):
    """rank (>=), nll and entropy of every token of windows [B, T] but the first of each."""
    logits = model(windows, use_cache=False).logits[:, :-1].float()
    targets = windows[:, 1:, None]
    logp = torch.log_softmax(logits, dim=-1)
    rank = (logits >= logits.gather(-1, targets)).sum(-1)
    nll = -logp.gather(-1, targets)[..., 0]
    entropy = -(logp.exp() * logp).sum(-1)
    return rank, nll, entropy


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--ids", type=Path, help="JSON list of ids; MODEL/ids.json by default")
    parser.add_argument("--window", type=int, default=1024)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--windows", type=int, default=4, help="windows a run")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--out", type=Path, help="write rank, nll and entropy of the last run here (safetensors)")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)

    ids = torch.tensor(json.loads((args.ids or args.model / "ids.json").read_text()))
    needed = args.window * args.windows
    if len(ids) < needed:
        raise SystemExit(f"{needed} ids needed, {len(ids)} given")
    windows = ids[:needed].view(args.windows, args.window)
    model = AutoModelForCausalLM.from_pretrained(args.model, dtype=torch.float32).eval()

    score(model, windows[: args.batch])
    speeds = []
    for _ in range(args.runs):
        start = time.perf_counter()
        parts = [score(model, batch) for batch in windows.split(args.batch)]
        speeds.append(windows.numel() / (time.perf_counter() - start))
    rank, nll, entropy = (torch.cat(column) for column in zip(*parts))
    print(
        f"torch {torch.__version__}, transformers {transformers.__version__}, {args.threads} threads, "
        f"{args.windows} x {args.window} tokens in batches of {args.batch}: "
        f"{statistics.median(speeds):.0f} tokens/s ({min(speeds):.0f} to {max(speeds):.0f}, {args.runs} runs)"
    )
    print(f"mean nll {nll.mean():.6f}, mean entropy {entropy.mean():.6f}, mean rank {rank.double().mean():.3f}")
    if args.out:
        from safetensors.torch import save_file

        save_file({"rank": rank, "nll": nll, "entropy": entropy}, args.out)


if __name__ == "__main__":
    main()
