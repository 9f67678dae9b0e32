"""Writes a random-weight model of GPT-2 124M's shape as a Hugging Face folder, and token ids to score with it.

    python tools/peers/random_gpt2.py OUT [--layers 12] [--tokens 4096]

For timing only: speed does not depend on what the weights are. OUT/ids.json is one list of ids.
"""

import argparse
import json
from pathlib import Path

import torch
from transformers import GPT2Config, GPT2LMHeadModel

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("out", type=Path)
parser.add_argument("--layers", type=int, default=12)
parser.add_argument("--tokens", type=int, default=4096)
args = parser.parse_args()

torch.manual_seed(0)
model = GPT2LMHeadModel(GPT2Config(n_layer=args.layers))
model.save_pretrained(args.out)
ids = torch.randint(0, model.config.vocab_size, (args.tokens,)).tolist()
(args.out / "ids.json").write_text(json.dumps(ids) + "\n")
print(f"{sum(p.numel() for p in model.parameters())} parameters, {args.tokens} ids in {args.out}")
