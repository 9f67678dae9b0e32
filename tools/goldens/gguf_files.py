"""Writes what GGUF files must come to: crates/decoder/tests/gguf and crates/corpus/tests/data/gguf_tokenizers.json.

    python tools/goldens/gguf_files.py blocks|models
    python tools/goldens/gguf_files.py tokenizers LLAMA_CPP

blocks      blocks.safetensors: for each type random blocks, "TYPE.bytes", and their numbers by the gguf package, "TYPE.numbers"
models      a folder a case: a tiny random model in GGUF files by the gguf package's own writer, and scores of transformers in
            float64 on the weights as the package dequantises them (the files of checkpoints.py)
tokenizers  for each vocabulary of LLAMA_CPP/models (a source tree of llama.cpp): those tokens that its test text can touch, and
            the ids that llama.cpp's own tests expect

A vocabulary is cut down to the tokens that some merge of the test text could give, which changes no id of that text: BPE sees
only tokens that are made of neighbours in it. Ids stay those of the whole vocabulary.
"""

import json
import sys
from pathlib import Path

import gguf
import numpy as np
from gguf import GGMLQuantizationType as T
from gguf.quants import dequantize, quantize

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "crates/decoder/tests/gguf"
QUANTISED = [T.Q4_0, T.Q4_1, T.Q5_0, T.Q5_1, T.Q8_0, T.Q2_K, T.Q3_K, T.Q4_K, T.Q5_K, T.Q6_K]
# Bytes of a block that are half-precision scales.
SCALES = {T.Q4_0: [0], T.Q4_1: [0, 2], T.Q5_0: [0], T.Q5_1: [0, 2], T.Q8_0: [0], T.Q2_K: [80, 82], T.Q3_K: [108], T.Q4_K: [0, 2],
          T.Q5_K: [0, 2], T.Q6_K: [208]}


def random_blocks(rng, kind, count, scale=1.0):
    """Blocks of random bits under scales of a sensible size."""
    size = gguf.GGML_QUANT_SIZES[kind][1]
    blocks = rng.integers(0, 256, (count, size), dtype=np.uint8)
    for at in SCALES[kind]:
        blocks[:, at:at + 2] = (rng.standard_normal((count, 1)) * scale).astype(np.float16).view(np.uint8)
    return blocks


def blocks():
    from safetensors.numpy import save_file
    rng = np.random.default_rng(1)
    tensors = {}
    for kind in QUANTISED:
        numbers = gguf.GGML_QUANT_SIZES[kind][0]
        bytes = random_blocks(rng, kind, 4 if numbers == 32 else 2)
        tensors[f"{kind.name.lower()}.bytes"] = bytes.reshape(-1)
        tensors[f"{kind.name.lower()}.numbers"] = dequantize(bytes, kind).astype(np.float32).reshape(-1)
    OUT.mkdir(parents=True, exist_ok=True)
    save_file(tensors, OUT / "blocks.safetensors")


# --- models -------------------------------------------------------------------------------------------------------


def permuted(weights, heads):
    """Rotary pairs side by side, as the converter of llama.cpp stores queries and keys of `llama`."""
    return weights.reshape(heads, 2, weights.shape[0] // heads // 2, *weights.shape[1:]).swapaxes(1, 2).reshape(weights.shape)


def unpermuted(weights, heads):
    return weights.reshape(heads, weights.shape[0] // heads // 2, 2, *weights.shape[1:]).swapaxes(1, 2).reshape(weights.shape)


def vocabulary(writer, name, rows):
    """A tokenizer of a few letters: SentencePiece's for llama, byte-level for the others."""
    spm = name in ("llama", "gemma")
    tokens = ["<unk>", "<s>", "</s>", "▁" if spm else "Ġ", *"abcdefghiklmnoprstuvwy", "th", "the"]
    kinds = [2, 3, 3] + [1] * (len(tokens) - 3)
    while len(tokens) < rows:
        kinds.append(5)
        tokens.append(f"[PAD{len(tokens)}]")
    writer.add_tokenizer_model("llama" if spm else "gpt2")
    writer.add_tokenizer_pre("default" if spm else "qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    if spm:
        writer.add_token_scores([-float(i) for i in range(rows)])
    else:
        writer.add_token_merges(["t h", "th e"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)


def models():
    import torch
    import transformers
    from safetensors.torch import save_file
    from transformers import modeling_rope_utils
    import checkpoints

    # The file has Llama 3's scaling as divisors in f32, and so has the reference here.
    llama3 = checkpoints.ROPE_INIT_FUNCTIONS["llama3"]

    def divisors(config):
        base = config.rope_theta ** (-torch.arange(0, config.head_dim, 2, dtype=torch.float64) / config.head_dim)
        with checkpoints.in_float64():
            scaled = llama3(config, "cpu")[0]
        return torch.from_numpy((base / scaled).numpy().astype(np.float32)), base

    checkpoints.ROPE_INIT_FUNCTIONS["llama3"] = lambda config, *_, **__: (divisors(config)[1] / divisors(config)[0].double(), 1.0)

    small = dict(vocab_size=39, hidden_size=32, intermediate_size=64, num_attention_heads=4, num_key_value_heads=2, head_dim=8,
                 rms_norm_eps=2**-17)
    cases = {
        "llama": (checkpoints.llama(**small, attention_bias=True, rope_theta=500.0, rope_scaling=checkpoints.LLAMA3,
                                    max_position_embeddings=256), dict(
            token_embd=T.Q8_0, output=T.F16, attn_q=T.Q8_0, attn_k=T.Q4_0, attn_v=T.Q5_1, attn_output=T.Q5_0, ffn=T.Q4_1)),
        # A root of the width that is a number of f32.
        "gemma": (checkpoints.gemma(**{**small, "hidden_size": 64, "num_key_value_heads": 1}), dict(
            token_embd=T.Q8_0, attn=T.Q8_0, ffn=T.Q4_1)),
        "qwen2": (checkpoints.qwen2(**{**small, "tie_word_embeddings": True}), dict(
            token_embd=T.Q8_0, attn=T.Q4_1, ffn_gate=T.BF16, ffn_up=T.Q5_0, ffn_down=T.Q5_1)),
        "qwen3": (checkpoints.qwen3(**{**small, "intermediate_size": 256, "num_key_value_heads": 1, "vocab_size": 33},
                                    rope_scaling=dict(rope_type="linear", factor=2.0), num_hidden_layers=2), dict(
            token_embd=T.Q8_0, output=T.Q8_0, attn=T.Q8_0, ffn_gate=T.Q4_0, ffn_up=T.Q4_0,
            ffn_down=[T.Q4_K, T.Q6_K])),
    }
    for name, (config, kinds) in cases.items():
        folder = OUT / name
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        config._attn_implementation = "eager"
        model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager")
        checkpoints.randomise(model, len(name), 1.0)
        model.tie_weights()
        split = dict(split_max_tensors=11) if name == "qwen2" else {}
        writer = gguf.GGUFWriter(None, name, **split)
        writer.add_context_length(config.max_position_embeddings)
        writer.add_embedding_length(config.hidden_size)
        writer.add_block_count(config.num_hidden_layers)
        writer.add_feed_forward_length(config.intermediate_size)
        writer.add_head_count(config.num_attention_heads)
        writer.add_head_count_kv(config.num_key_value_heads)
        writer.add_key_length(config.head_dim)
        writer.add_value_length(config.head_dim)
        writer.add_rope_dimension_count(config.head_dim)
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
        writer.add_rope_freq_base(config.rope_theta)
        if name == "llama":
            writer.add_tensor("rope_freqs.weight", divisors(config)[0].numpy())
        if name == "qwen3":
            writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
            writer.add_rope_scaling_factor(2.0)
        vocabulary(writer, name, config.vocab_size)
        rng = np.random.default_rng(2)
        names = gguf.get_tensor_name_map(getattr(gguf.MODEL_ARCH, name.upper()), config.num_hidden_layers)
        for tensor, p in model.named_parameters():
            stored = names.get_name(tensor, try_suffixes=(".weight", ".bias"))
            part = stored.split(".")[-2]
            kind = next((k for key, k in kinds.items() if part.startswith(key)), T.F32) if p.dim() == 2 else T.F32
            if isinstance(kind, list):
                kind = kind[int(stored.split(".")[1])]
            heads = dict(attn_q=config.num_attention_heads, attn_k=config.num_key_value_heads).get(part) if name == "llama" else None
            numbers = p.detach().numpy()
            # llama.cpp's files hold what is multiplied with; of numbers near one the difference from 1 is exact.
            plain = name == "gemma" and "norm" in stored
            if plain:
                numbers = numbers + np.float32(1)
            if heads:
                numbers = permuted(numbers, heads)
            if kind.name.endswith("_K"):
                # The package cannot quantise these: random bits, scaled to the variance that the tensor had.
                bytes = random_blocks(rng, kind, numbers.size // 256).reshape(numbers.shape[0], -1)
                scale = numbers.std() / dequantize(bytes, kind).std()
                shape = bytes.shape
                bytes = bytes.reshape(-1, gguf.GGML_QUANT_SIZES[kind][1])
                for at in SCALES[kind]:
                    bytes[:, at:at + 2] = (bytes[:, at:at + 2].view(np.float16).astype(np.float32) * scale).astype(np.float16).view(np.uint8)
                bytes = bytes.reshape(shape)
            else:
                bytes = quantize(numbers, kind)
            writer.add_tensor(stored, bytes, raw_dtype=kind)
            numbers = dequantize(bytes, kind).astype(np.float32)
            if plain:
                numbers = numbers - np.float32(1)
            p.data.copy_(torch.from_numpy(unpermuted(numbers, heads) if heads else numbers))
        writer.write_header_to_file(folder / "model.gguf")
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        entries, logits = checkpoints.golden(model, checkpoints.sequences(len(name), config.vocab_size))
        head = dict(generator="tools/goldens/gguf_files.py", torch=torch.__version__, transformers=transformers.__version__)
        (folder / "golden.json").write_text(json.dumps(dict(**head, known=None, sequences=entries)) + "\n")
        save_file(logits, folder / "golden.safetensors")
        print(name, sum(f.stat().st_size for f in folder.iterdir()), sorted(f.name for f in folder.iterdir()))


# --- tokenizers ---------------------------------------------------------------------------------------------------

# Those of a kind that is read.
VOCABULARIES = ["deepseek-coder", "falcon", "gpt-2", "llama-bpe", "llama-spm", "qwen2", "refact"]


def alphabet():
    """GPT-2's letters, a byte each."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printable]
    return {b: chr(b) for b in printable} | {b: chr(256 + n) for n, b in enumerate(others)}


def tokenizers(source):
    texts, cases = None, {}
    for name in VOCABULARIES:
        file = source / f"models/ggml-vocab-{name}.gguf"
        own = Path(f"{file}.inp").read_bytes().decode().split("\n__ggml_vocab_test__\n")[:-1]
        assert texts in (None, own)
        texts = own
        ids = [[int(i) for i in line.split()] for line in Path(f"{file}.out").read_text().splitlines()]
        assert len(ids) == len(texts), (name, len(ids), len(texts))
        fields = gguf.GGUFReader(file).fields
        key = lambda key: fields[k].contents() if (k := f"tokenizer.ggml.{key}") in fields else None
        spm = key("model") == "llama"
        if spm:
            written = "\n".join(("▁" + text).replace(" ", "▁") for text in texts)
        else:
            letters = alphabet()
            written = "\n".join("".join(letters[b] for b in text.encode()) for text in texts)
        tokens, kinds = key("tokens"), key("token_type")
        kept = [i for i, token in enumerate(tokens) if token in written or not spm and len(token) == 1 or kinds[i] == 6]
        texts_of = {tokens[i] for i in kept}
        merges = [m for m in key("merges") or [] if {*(pair := m.split(" ", 1)), "".join(pair)} <= texts_of]
        case = dict(model=key("model"), pre=key("pre"), rows=len(tokens), tokens=[[i, tokens[i], kinds[i]] for i in kept])
        if spm:
            case["scores"] = [key("scores")[i] for i in kept]
        cases[name] = dict(**case, merges=merges, ids=ids)
        print(name, len(kept), len(merges), file=sys.stderr)
    out = ROOT / "crates/corpus/tests/data/gguf_tokenizers.json"
    out.write_text(json.dumps(dict(texts=texts, cases=cases), ensure_ascii=False, separators=(",", ":")) + "\n")
    print(out.stat().st_size, file=sys.stderr)


def main():
    command = dict(blocks=blocks, models=models, tokenizers=lambda: tokenizers(Path(sys.argv[2])))
    command[sys.argv[1]]()


if __name__ == "__main__":
    main()
