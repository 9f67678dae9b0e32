"""Turns a llama2.c checkpoint and its tokenizer into a Hugging Face Llama folder.

    python tools/goldens/stories260k.py ../shared/data/stories260k OUT [--text "Once upon a time" ...]

OUT receives config.json and model.safetensors. With --text, OUT/ids.json holds the ids of each text as llama2.c encodes
it (BOS, a dummy space, characters, then the pair whose merge scores best until there is none), for measuring token ids.

llama2.c rotates neighbouring channels (2i, 2i+1) of each head, Hugging Face channels (i, i + D/2): the rows of the query
and key matrices are put in the order even, then odd, within each head, which leaves every score as it was.
"""

import argparse
import json
import struct
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file


def halves(weight, head_width):
    """Rows of each head: 0 2 4 ... 1 3 5 ..."""
    rows = weight.reshape(-1, head_width // 2, 2, weight.shape[1])
    return np.ascontiguousarray(rows.transpose(0, 2, 1, 3)).reshape(weight.shape)


def convert(path, out):
    raw = path.read_bytes()
    dim, hidden, layers, heads, kv_heads, vocabulary, context = struct.unpack("<7i", raw[:28])
    tied, vocabulary = vocabulary > 0, abs(vocabulary)
    numbers = np.frombuffer(raw, dtype="<f4", offset=28)
    head_width = dim // heads
    at = 0

    def take(*shape):
        nonlocal at
        size = int(np.prod(shape))
        at += size
        return numbers[at - size : at].reshape(shape)

    tensors = {"model.embed_tokens.weight": take(vocabulary, dim)}
    parts = [
        ("input_layernorm", (dim,)),
        ("self_attn.q_proj", (heads * head_width, dim)),
        ("self_attn.k_proj", (kv_heads * head_width, dim)),
        ("self_attn.v_proj", (kv_heads * head_width, dim)),
        ("self_attn.o_proj", (dim, heads * head_width)),
        ("post_attention_layernorm", (dim,)),
        ("mlp.gate_proj", (hidden, dim)),
        ("mlp.down_proj", (dim, hidden)),
        ("mlp.up_proj", (hidden, dim)),
    ]
    for part, shape in parts:
        for layer, weight in enumerate(take(layers, *shape)):
            if part in ("self_attn.q_proj", "self_attn.k_proj"):
                weight = halves(weight, head_width)
            tensors[f"model.layers.{layer}.{part}.weight"] = weight
    tensors["model.norm.weight"] = take(dim)
    take(context, head_width // 2), take(context, head_width // 2)  # rotary tables, computed anew by every reader
    if not tied:
        tensors["lm_head.weight"] = take(vocabulary, dim)
    if at != len(numbers):
        raise SystemExit(f"{path}: {len(numbers)} numbers, but its header describes {at}")

    out.mkdir(parents=True, exist_ok=True)
    save_file({k: np.ascontiguousarray(v) for k, v in tensors.items()}, out / "model.safetensors", {"format": "pt"})
    config = dict(
        architectures=["LlamaForCausalLM"], model_type="llama", hidden_act="silu", hidden_size=dim,
        intermediate_size=hidden, num_hidden_layers=layers, num_attention_heads=heads,
        num_key_value_heads=kv_heads, vocab_size=vocabulary, max_position_embeddings=context, rms_norm_eps=1e-5,
        rope_theta=10000.0, tie_word_embeddings=tied, bos_token_id=1, eos_token_id=2, torch_dtype="float32",
    )
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n")


def pieces(path):
    raw, at, found = path.read_bytes(), 4, []
    while at < len(raw):
        score, length = struct.unpack_from("<fi", raw, at)
        found.append((raw[at + 8 : at + 8 + length], score))
        at += 8 + length
    return found


def encode(table, text):
    ids_of = {piece: i for i, (piece, _) in enumerate(table)}
    ids = []
    for character in " " + text:
        piece = character.encode()
        ids += [ids_of[piece]] if piece in ids_of else [byte + 3 for byte in piece]
    while True:
        joined = [table[a][0] + table[b][0] for a, b in zip(ids, ids[1:])]
        scored = [(table[ids_of[piece]][1], -i) for i, piece in enumerate(joined) if piece in ids_of]
        if not scored:
            return [1] + ids
        i = -max(scored)[1]
        ids[i : i + 2] = [ids_of[joined[i]]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder with stories260K.bin and tok512.bin")
    parser.add_argument("out", type=Path)
    parser.add_argument("--text", action="append", default=[])
    args = parser.parse_args()
    convert(args.data / "stories260K.bin", args.out)
    if args.text:
        table = pieces(args.data / "tok512.bin")
        ids = [encode(table, text) for text in args.text]
        (args.out / "ids.json").write_text(json.dumps(ids) + "\n")
    print(f"wrote {args.out}")


if __name__ == "__main__":
    main()
