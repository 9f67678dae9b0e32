"""The same training step with PyTorch as `cargo bench -p relscale-sweep --bench step`, the two by turns.

    python tools/peers/torch_train.py [--bench PROGRAM] [--rounds 7] [--steps 3] [--threads 2]

transformers' Llama (sdpa attention, tied head) without compilation, mean cross entropy, gradient clipping, fused AdamW: 4
blocks, d = 128, 4 heads, 352 inner channels, vocabulary 4096, 16 sequences of 256, f32. PROGRAM is the bench that cargo
built (target/release/deps/step-...); each round runs PyTorch, then PROGRAM, for --steps steps after one that is not timed,
and the quotient of a round is of its own two medians, so that a load that comes and goes falls on both.
"""

import argparse
import os
import re
import statistics
import subprocess
import time

import torch
import transformers
from transformers import LlamaConfig, LlamaForCausalLM

BATCH, LENGTH, VOCABULARY = 16, 256, 4096


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", help="the bench's program; PyTorch alone without it")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=VOCABULARY,
            hidden_size=128,
            num_hidden_layers=4,
            num_attention_heads=4,
            intermediate_size=352,
            max_position_embeddings=LENGTH,
            rms_norm_eps=1e-5,
            tie_word_embeddings=True,
            use_cache=False,
        )
    ).train()
    decayed = [p for p in model.parameters() if p.ndim == 2]
    gains = [p for p in model.parameters() if p.ndim == 1]
    optimiser = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": 0.1}, {"params": gains, "weight_decay": 0.0}],
        lr=1e-3,
        betas=(0.9, 0.95),
        fused=True,
    )
    ids = (torch.arange(BATCH * (LENGTH + 1)) * 2_654_435_761 % VOCABULARY).view(BATCH, LENGTH + 1)

    def step():
        optimiser.zero_grad(set_to_none=True)
        logits = model(ids[:, :-1]).logits
        loss = torch.nn.functional.cross_entropy(logits.view(-1, VOCABULARY), ids[:, 1:].reshape(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        return loss.item()

    def rate():
        start = time.perf_counter()
        step()
        return BATCH * LENGTH / (time.perf_counter() - start)

    theirs, ours, quotients = [], [], []
    for _ in range(args.rounds):
        step()
        theirs.append(statistics.median(rate() for _ in range(args.steps)))
        if args.bench:
            run = subprocess.run(
                [args.bench, str(args.steps)],
                env={**os.environ, "RAYON_NUM_THREADS": str(args.threads)},
                capture_output=True,
                text=True,
                check=True,
            )
            ours.append(float(re.search(r"median (\d+) tokens/s", run.stdout)[1]))
            quotients.append(ours[-1] / theirs[-1])

    def line(name, values, digits):
        low, middle, high = min(values), statistics.median(values), max(values)
        print(f"{name}: median {middle:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})")

    print(f"torch {torch.__version__}, transformers {transformers.__version__}, {args.threads} threads, {args.rounds} rounds")
    line("PyTorch, tokens/s", theirs, 0)
    if ours:
        line("relscale, tokens/s", ours, 0)
        line("relscale / PyTorch", quotients, 2)


if __name__ == "__main__":
    main()
