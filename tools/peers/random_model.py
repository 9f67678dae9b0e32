"""Writes a random-weight model of a published model's shape as a Hugging Face folder, and token ids to score with it.

    python tools/peers/random_model.py gpt2|qwen2.5-0.5b|pythia-1.4b|mamba-130m|mamba2-130m OUT [--layers N] [--tokens 4096] [--dtype float32]

For timing only: speed does not depend on what the weights are. OUT/ids.json is one list of ids. The shapes are those of
the published configurations, which the decoder's own tests count (`crates/decoder/tests/configs`).
"""

import argparse
import json
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, GPT2Config, GPTNeoXConfig, Mamba2Config, MambaConfig, Qwen2Config

SHAPES = {
    "gpt2": lambda: GPT2Config(),
    "qwen2.5-0.5b": lambda: Qwen2Config(
        vocab_size=151936,
        hidden_size=896,
        intermediate_size=4864,
        num_hidden_layers=24,
        num_attention_heads=14,
        num_key_value_heads=2,
        max_position_embeddings=32768,
        rope_theta=1e6,
        rms_norm_eps=1e-6,
        tie_word_embeddings=True,
    ),
    "pythia-1.4b": lambda: GPTNeoXConfig(
        vocab_size=50304,
        hidden_size=2048,
        intermediate_size=8192,
        num_hidden_layers=24,
        num_attention_heads=16,
        max_position_embeddings=2048,
        rotary_pct=0.25,
        use_parallel_residual=True,
        tie_word_embeddings=False,
    ),
    "mamba-130m": lambda: MambaConfig(num_hidden_layers=24),
    "mamba2-130m": lambda: Mamba2Config(
        vocab_size=50288, hidden_size=768, num_hidden_layers=24, num_heads=24, n_groups=1, tie_word_embeddings=True
    ),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("out", type=Path)
    parser.add_argument("--layers", type=int, help="fewer layers than the published model")
    parser.add_argument("--tokens", type=int, default=4096)
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])
    args = parser.parse_args()

    torch.manual_seed(0)
    config = SHAPES[args.shape]()
    if args.layers:
        config.num_hidden_layers = args.layers
    model = AutoModelForCausalLM.from_config(config).to(getattr(torch, args.dtype))
    # Mamba 2 does not say that its head is the embedding.
    model._dynamic_tied_weights_keys = ["lm_head.weight"] if config.tie_word_embeddings else []
    model.save_pretrained(args.out)
    ids = torch.randint(0, config.vocab_size, (args.tokens,)).tolist()
    (args.out / "ids.json").write_text(json.dumps(ids) + "\n")
    print(f"{sum(p.numel() for p in model.parameters())} parameters, {args.tokens} ids in {args.out}")


if __name__ == "__main__":
    main()
