"""Writes the tiny random checkpoints and their golden scores under crates/decoder/tests/goldens.

    python tools/goldens/checkpoints.py [--out crates/decoder/tests/goldens] [NAME ...]

One folder a case, in Hugging Face layout, plus

    golden.json         the id sequences; nll (nats), rank (>=), ties and entropy (nats) of every token but the first
    golden.safetensors  "logits.N": float64 [length, rows] of sequence N

The weights are random and large enough that softmax and activations leave their linear regime: a model near zero
would pass with a wrong GELU. The scores come from `transformers` itself, in float64 throughout: `model.double()` is
not enough, since its norms, softmaxes and rotary tables go through float32 by name, so `in_float64` redirects those.

Run by hand; the versions are pinned in requirements.txt. Nothing in the Rust build needs Python.
"""

import argparse
import contextlib
import hashlib
import json
import math
import shutil
import sys
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import (
    BloomConfig,
    FalconConfig,
    FalconMambaConfig,
    Gemma2Config,
    Gemma3Config,
    Gemma3TextConfig,
    GemmaConfig,
    GPT2Config,
    GPTNeoConfig,
    GPTNeoXConfig,
    GraniteConfig,
    LlamaConfig,
    Mamba2Config,
    MambaConfig,
    MistralConfig,
    Olmo2Config,
    Olmo3Config,
    OlmoConfig,
    OPTConfig,
    PhiConfig,
    Phi3Config,
    Qwen2Config,
    Qwen3Config,
    RwkvConfig,
    SmolLM3Config,
    StableLmConfig,
    Starcoder2Config,
)
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

try:
    from olmo_package import OLMoConfig
except ModuleNotFoundError as error:
    OLMoConfig = None
    print(f"skipped: the cases of hf_olmo ({error})", file=sys.stderr)

LENGTHS = (1, 2, 9, 17)

# Version 4 computes every kind of rotary scaling in OLMo, but its configuration takes two; version 5's takes all.
OlmoConfig._rope_scaling_validation = Olmo2Config._rope_scaling_validation = lambda self: None
# Version 5 refuses older spellings of LongRoPE; whether it reads such files is what versions.py asks.
for known in OlmoConfig.__mro__:
    if "_validate_longrope_rope_parameters" in vars(known):
        known._validate_longrope_rope_parameters = lambda *_, **__: None

# --- architectures: small enough to commit, odd enough that no two sizes are equal by chance ---------------------


def gpt2(**over):
    return GPT2Config(**{**dict(vocab_size=37, n_positions=24, n_embd=16, n_layer=2, n_head=2), **over})


def gpt_neo(**over):
    base = dict(vocab_size=37, max_position_embeddings=24, hidden_size=20, num_layers=2, num_heads=2, intermediate_size=36,
                window_size=5, attention_types=[[["global", "local"], 1]])
    return GPTNeoConfig(**{**base, **over})


def opt(**over):
    base = dict(vocab_size=41, max_position_embeddings=24, hidden_size=16, ffn_dim=40, num_hidden_layers=2,
                num_attention_heads=2, word_embed_proj_dim=16, do_layer_norm_before=True,
                pad_token_id=1, bos_token_id=2, eos_token_id=2)
    return OPTConfig(**{**base, **over})


def bloom(**over):
    return BloomConfig(**{**dict(vocab_size=37, hidden_size=24, n_layer=2, n_head=3), **over})


def falcon(**over):
    base = dict(vocab_size=37, max_position_embeddings=24, hidden_size=16, num_hidden_layers=2, num_attention_heads=4)
    return FalconConfig(**{**base, **over})


def phi(**over):
    base = dict(vocab_size=43, max_position_embeddings=24, hidden_size=16, intermediate_size=40, num_hidden_layers=2,
                num_attention_heads=2)
    return PhiConfig(**{**base, **over})


def stablelm(**over):
    base = dict(vocab_size=39, max_position_embeddings=24, hidden_size=32, intermediate_size=20, num_hidden_layers=2,
                num_attention_heads=4, num_key_value_heads=4)
    return StableLmConfig(**{**base, **over})


def starcoder2(**over):
    base = dict(vocab_size=41, max_position_embeddings=24, hidden_size=16, intermediate_size=40, num_hidden_layers=2,
                num_attention_heads=4, num_key_value_heads=2)
    return Starcoder2Config(**{**base, **over})


def gpt_neox(**over):
    base = dict(vocab_size=43, max_position_embeddings=24, hidden_size=16, intermediate_size=40,
                num_hidden_layers=2, num_attention_heads=2, rotary_pct=0.25, rotary_emb_base=10000,
                tie_word_embeddings=False)
    return GPTNeoXConfig(**{**base, **over})


def qwen2(**over):
    base = dict(vocab_size=47, max_position_embeddings=24, hidden_size=16, intermediate_size=24,
                num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, rope_theta=1000000.0,
                rms_norm_eps=1e-6, tie_word_embeddings=True)
    return Qwen2Config(**{**base, **over})


def qwen3(**over):
    base = dict(vocab_size=45, max_position_embeddings=24, hidden_size=20, intermediate_size=26, head_dim=6,
                num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, rope_theta=1000000.0,
                rms_norm_eps=1e-6, tie_word_embeddings=False)
    return Qwen3Config(**{**base, **over})


def llama(**over):
    base = dict(vocab_size=39, max_position_embeddings=24, hidden_size=16, intermediate_size=28,
                num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, rms_norm_eps=1e-5,
                tie_word_embeddings=False)
    return LlamaConfig(**{**base, **over})


def mamba(config=MambaConfig, **over):
    base = dict(vocab_size=37, hidden_size=16, state_size=16, num_hidden_layers=2, time_step_rank=3)
    return config(**{**base, **over})


def falcon_mamba(**over):
    return mamba(FalconMambaConfig, **over)


def mamba2(**over):
    base = dict(vocab_size=37, hidden_size=16, state_size=16, num_hidden_layers=2, num_heads=4, head_dim=8, n_groups=2, chunk_size=8)
    return Mamba2Config(**{**base, **over})


def rwkv(**over):
    base = dict(vocab_size=37, context_length=24, hidden_size=16, intermediate_size=28, num_hidden_layers=3, rescale_every=2)
    return RwkvConfig(**{**base, **over})


def mistral(**over):
    base = dict(vocab_size=39, max_position_embeddings=24, hidden_size=16, intermediate_size=28,
                num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, sliding_window=None)
    return MistralConfig(**{**base, **over})


def olmo(**over):
    base = dict(vocab_size=39, max_position_embeddings=24, hidden_size=16, intermediate_size=28,
                num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2)
    return OlmoConfig(**{**base, **over})


def olmo3(**over):
    base = dict(vocab_size=39, max_position_embeddings=24, hidden_size=16, intermediate_size=28, num_hidden_layers=4,
                num_attention_heads=2, num_key_value_heads=1, sliding_window=5, rope_theta=500000.0)
    return Olmo3Config(**{**base, **over})


def phi3(**over):
    base = dict(vocab_size=39, max_position_embeddings=24, hidden_size=24, intermediate_size=28, num_hidden_layers=2,
                num_attention_heads=2, num_key_value_heads=1, pad_token_id=0)
    return Phi3Config(**{**base, **over})


def hf_olmo(**over):
    base = dict(vocab_size=37, embedding_size=40, max_sequence_length=24, d_model=16, n_heads=2, n_layers=2, mlp_ratio=4,
                rope=True, include_bias=False)
    return OLMoConfig(**{**base, **over})


def olmo2(**over):
    base = dict(vocab_size=39, max_position_embeddings=24, hidden_size=16, intermediate_size=28,
                num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2)
    return Olmo2Config(**{**base, **over})


# Roots of widths and factors of numbers are exact in float32 here: a wrong one is then told from a rounded one.
def gemma(kind=GemmaConfig, **over):
    base = dict(vocab_size=37, max_position_embeddings=24, hidden_size=16, intermediate_size=28, head_dim=6,
                num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2)
    return kind(**{**base, **over})


def gemma2(**over):
    base = dict(num_hidden_layers=3, query_pre_attn_scalar=3, attn_logit_softcapping=3.0, final_logit_softcapping=4.0,
                sliding_window=5)
    return gemma(Gemma2Config, **{**base, **over})


def gemma3(**over):
    base = dict(num_hidden_layers=3, query_pre_attn_scalar=8, sliding_window=5, rope_theta=1000.0, rope_local_base_freq=10.0,
                layer_types=["sliding_attention", "full_attention", "sliding_attention"])
    return gemma(Gemma3TextConfig, **{**base, **over})


def gemma3_with_vision(**over):
    vision = dict(hidden_size=4, intermediate_size=4, num_hidden_layers=1, num_attention_heads=1, image_size=4, patch_size=2,
                  vision_use_head=False)
    return Gemma3Config(text_config=gemma3(**over).to_dict(), vision_config=vision, mm_tokens_per_image=4)


def smollm3(**over):
    base = dict(vocab_size=37, max_position_embeddings=24, hidden_size=16, intermediate_size=28, num_hidden_layers=2,
                num_attention_heads=4, num_key_value_heads=2, no_rope_layers=[1, 0], pad_token_id=0, rope_theta=100.0)
    return SmolLM3Config(**{**base, **over})


def granite(**over):
    base = dict(vocab_size=39, max_position_embeddings=24, hidden_size=16, intermediate_size=28, num_hidden_layers=2,
                num_attention_heads=4, num_key_value_heads=2, embedding_multiplier=3.0, attention_multiplier=0.3,
                residual_multiplier=0.6875, logits_scaling=0.5)
    return GraniteConfig(**{**base, **over})


# --- what can be done to a folder after it is saved --------------------------------------------------------------


def old_neox_buffers(folder):
    """Adds the buffers that Pythia's files store: causal mask, masked bias, rotary frequencies."""
    path = folder / "model.safetensors"
    tensors = load_file(path)
    layers = json.loads((folder / "config.json").read_text())["num_hidden_layers"]
    for i in range(layers):
        prefix = f"gpt_neox.layers.{i}.attention."
        tensors[prefix + "bias"] = torch.tril(torch.ones(24, 24, dtype=torch.uint8)).view(1, 1, 24, 24)
        tensors[prefix + "masked_bias"] = torch.tensor(-1e9)
        tensors[prefix + "rotary_emb.inv_freq"] = torch.tensor([1.0])
    save_file(tensors, path, metadata={"format": "pt"})


def old_gpt_neo_buffers(folder):
    """Adds the buffers that GPT-Neo's first files store: causal mask, masked bias."""
    path = folder / "model.safetensors"
    tensors = load_file(path)
    for i in range(2):
        prefix = f"transformer.h.{i}.attn.attention."
        tensors[prefix + "bias"] = torch.tril(torch.ones(24, 24, dtype=torch.uint8)).view(1, 1, 24, 24)
        tensors[prefix + "masked_bias"] = torch.tensor(-1e9)
    save_file(tensors, path, metadata={"format": "pt"})


def old_gpt2_names(folder):
    """The first GPT-2 upload: no "transformer." prefix, causal masks stored."""
    path = folder / "model.safetensors"
    tensors = {k.removeprefix("transformer."): v for k, v in load_file(path).items()}
    for i in range(2):
        tensors[f"h.{i}.attn.bias"] = torch.tril(torch.ones(24, 24)).view(1, 1, 24, 24)
    save_file(tensors, path, metadata={"format": "pt"})


def old_bloom(folder):
    """BLOOM's files: its first names of sizes, keys of Megatron, no "transformer." prefix."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    config["n_embed"], config["num_attention_heads"] = config.pop("hidden_size"), config.pop("n_head")
    config |= dict(attention_softmax_in_fp32=True, bias_dropout_fusion=True, masked_softmax_fusion=True, n_inner=None,
                   offset_alibi=100, seq_length=20, skip_bias_add=True, skip_bias_add_qkv=False)
    path.write_text(json.dumps(config, indent=2) + "\n")
    path = folder / "model.safetensors"
    tensors = {k.removeprefix("transformer."): v for k, v in load_file(path).items()}
    save_file(tensors, path, metadata={"format": "pt"})


def older_mamba(folder):
    """The embedding's first name in Mamba's files."""
    path = folder / "model.safetensors"
    save_file({k.replace("embeddings.", "embedding."): v for k, v in load_file(path).items()}, path, metadata={"format": "pt"})


def opt_without_prefix(folder):
    """opt-350m's names: "decoder." where its siblings have "model.decoder."."""
    path = folder / "model.safetensors"
    tensors = {k.removeprefix("model."): v for k, v in load_file(path).items()}
    save_file(tensors, path, metadata={"format": "pt"})


def gemma3_names_of_version_5(folder):
    """A vision tower beside the text, both in "model."; the configuration says its layers in the old way."""
    path = folder / "model.safetensors"
    moved = {"language_model.model.": "model.language_model.", "vision_tower.": "model.vision_tower.",
             "multi_modal_projector.": "model.multi_modal_projector."}
    tensors = {}
    for name, tensor in load_file(path).items():
        start = next(start for start in moved if name.startswith(start))
        tensors[moved[start] + name.removeprefix(start)] = tensor
    save_file(tensors, path, metadata={"format": "pt"})


def rope_parameters(folder):
    """The config of transformers 5: rotary keys in one table."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    if "rope_parameters" in config:  # written by it
        return
    theta, scaling = config.pop("rope_theta"), config.pop("rope_scaling", None) or {"rope_type": "default"}
    partial = {key: config.pop(key) for key in ("partial_rotary_factor",) if key in config}
    config["rope_parameters"] = {"rope_theta": theta, **partial, **scaling}
    path.write_text(json.dumps(config, indent=2) + "\n")


def rope_parameters_by_kind(folder):
    """The same where kinds of layer rotate each in its own way."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    theta, scaling = config.pop("rope_theta"), config.pop("rope_scaling")
    plain = dict(rope_type="default", rope_theta=theta)
    config["rope_parameters"] = {"full_attention": {"rope_theta": theta, **scaling}, "sliding_attention": plain}
    path.write_text(json.dumps(config, indent=2) + "\n")


def without(*keys):
    """Takes keys out of config.json, as in configurations that are older than they."""

    def remove(folder):
        path = folder / "config.json"
        config = json.loads(path.read_text())
        path.write_text(json.dumps({k: v for k, v in config.items() if k not in keys}, indent=2) + "\n")

    return remove


def pickled(legacy=False, awkward=False, shards=1):
    """model.safetensors -> pytorch_model.bin as torch.save writes it; `awkward` stores views, transposes, Parameters."""

    def convert(folder):
        path = folder / "model.safetensors"
        tensors = load_file(path)
        path.unlink()
        if awkward:
            tensors = awkward_storage(tensors)
        names = sorted(tensors)
        if shards == 1:
            torch.save(tensors, folder / "pytorch_model.bin", _use_new_zipfile_serialization=not legacy)
            return
        index = {"metadata": {"total_size": sum(t.numel() * t.element_size() for t in tensors.values())}, "weight_map": {}}
        for s in range(shards):
            file = f"pytorch_model-{s + 1:05}-of-{shards:05}.bin"
            part = {name: tensors[name] for name in names[s::shards]}
            torch.save(part, folder / file, _use_new_zipfile_serialization=not legacy)
            index["weight_map"].update({name: file for name in part})
        (folder / "pytorch_model.bin.index.json").write_text(json.dumps(index, indent=1) + "\n")

    return convert


def awkward_storage(tensors):
    """The same values, held in every way a state dict may hold them."""
    from collections import OrderedDict

    out = OrderedDict()
    vectors = [n for n in sorted(tensors) if tensors[n].dim() == 1]
    shared = torch.cat([tensors[n] for n in vectors])  # all vectors are views into one storage
    offset = 0
    for name in vectors:
        out[name] = shared[offset : offset + tensors[name].numel()]
        offset += tensors[name].numel()
    for i, name in enumerate(n for n in sorted(tensors) if tensors[n].dim() != 1):
        t = tensors[name]
        out[name] = torch.nn.Parameter(t.clone()) if i % 2 else t.t().contiguous().t()  # Parameter, or column-major
    out["attn.counter"] = torch.arange(5)  # an int64 tensor nobody needs: listed, not skipped in silence
    return out


# --- the cases ---------------------------------------------------------------------------------------------------

F32, F16, BF16 = torch.float32, torch.float16, torch.bfloat16
# Tables are given as copies: version 5 writes the base into the one that it is given.
# Blends over three channel pairs of eight; over four, with ends that are no whole pairs.
YARN = dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=16, beta_fast=2.0, beta_slow=0.5)
YARN_MSCALE = dict(type="yarn", factor=3.0, mscale=0.7, mscale_all_dim=0.3, truncate=False, beta_fast=3.0, beta_slow=0.25)
# Sequences of up to 9 tokens are short, those of 17 long, and so they are without their last.
LONG = dict(type="longrope", short_factor=[1.0, 1.5, 2.0, 2.5, 1.25, 3.0], long_factor=[1.0, 2.5, 4.0, 6.0, 3.5, 8.0])
LLAMA3 = dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=32)

# name: (config, options); options: dtype, shard (bytes), after (function on the folder), attention (gain on q and k),
# spare (rows of the head that no token uses, given a large norm)
CASES = {
    "gpt2": (gpt2(), {}),
    "gpt2-unscaled": (gpt2(scale_attn_weights=False), {}),
    "gpt2-by-layer": (gpt2(scale_attn_by_inverse_layer_idx=True, n_layer=3), {}),
    "gpt2-reorder-upcast": (gpt2(scale_attn_by_inverse_layer_idx=True, reorder_and_upcast_attn=True), dict(dtype=F16)),
    "gpt2-inner-untied": (gpt2(n_inner=24, activation_function="gelu", tie_word_embeddings=False), {}),
    "gpt2-old-names": (gpt2(activation_function="gelu_pytorch_tanh"), dict(after=old_gpt2_names)),
    "gpt2-bin": (gpt2(), dict(after=pickled())),
    "gpt2-bin-legacy": (gpt2(), dict(after=pickled(legacy=True))),
    "gpt_neo": (gpt_neo(), {}),
    "gpt_neo-local-first": (gpt_neo(intermediate_size=None, attention_types=[[["local", "global"], 1]]), dict(dtype=F16)),
    "gpt_neo-runs": (gpt_neo(num_layers=4, window_size=3, attention_types=[[["global"], 1], [["local"], 2], [["global"], 1]]), {}),
    "gpt_neo-global": (gpt_neo(attention_types=[[["global"], 2]], activation_function="relu", num_heads=4), {}),
    "gpt_neo-buffers": (gpt_neo(), dict(dtype=BF16, after=old_gpt_neo_buffers)),
    "opt": (opt(), {}),
    "opt-350m": (
        opt(do_layer_norm_before=False, word_embed_proj_dim=8, _remove_final_layer_norm=False),
        dict(after=opt_without_prefix),
    ),
    "opt-no-final-norm": (opt(_remove_final_layer_norm=True), dict(dtype=F16)),
    "opt-no-bias": (opt(enable_bias=False, activation_function="gelu"), {}),
    "opt-plain-norm": (opt(layer_norm_elementwise_affine=False), {}),
    "opt-bin-sharded": (opt(), dict(after=pickled(shards=3), dtype=F16)),
    "gemma": (gemma(num_key_value_heads=1), {}),
    "gemma-sharded-f16": (gemma(hidden_size=36, intermediate_size=26, tie_word_embeddings=False, attention_bias=True),
                          dict(dtype=F16, shard=6000)),
    "gemma2": (gemma2(), {}),
    "gemma2-uncapped-f16": (gemma2(attn_logit_softcapping=None, final_logit_softcapping=None, attention_bias=True,
                                   num_key_value_heads=4, tie_word_embeddings=False,
                                   layer_types=["full_attention", "sliding_attention", "full_attention"]),
                            dict(dtype=F16, shard=4000)),
    "gemma3_text": (gemma3(rope_scaling=dict(rope_type="linear", factor=8.0)), {}),
    "gemma3-sharded-f16": (gemma3_with_vision(rope_scaling=dict(rope_type="linear", factor=8.0)), dict(dtype=F16, shard=4000)),
    "gemma3-newer-names": (gemma3_with_vision(num_key_value_heads=1), dict(dtype=BF16, after=gemma3_names_of_version_5)),
    "bloom": (bloom(), {}),
    "bloom-untied-sharded-f16": (bloom(hidden_size=16, n_head=4, n_layer=1, tie_word_embeddings=False),
                                 dict(dtype=F16, shard=4000)),
    "bloom-old-names": (bloom(hidden_size=20, n_head=5), dict(dtype=BF16, after=old_bloom)),
    "falcon-7b": (falcon(), {}),
    "falcon-40b": (falcon(new_decoder_architecture=True, num_kv_heads=2), dict(dtype=BF16)),
    "falcon-11b": (falcon(new_decoder_architecture=True, num_kv_heads=2, num_ln_in_parallel_attn=1, ffn_hidden_size=40,
                          rope_theta=500.0, tie_word_embeddings=False), dict(dtype=F16, shard=4000)),
    # So many heads that slopes, and their products with positions, are no numbers of bfloat16.
    "falcon-rw": (falcon(hidden_size=20, num_attention_heads=10, alibi=True, multi_query=False, parallel_attn=False, bias=True), {}),
    "falcon-alibi-parallel": (falcon(hidden_size=20, num_attention_heads=10, num_kv_heads=5, num_hidden_layers=1, alibi=True,
                                     new_decoder_architecture=True), dict(dtype=F16)),
    "falcon-linear": (falcon(multi_query=False, bias=True, rope_scaling=dict(rope_type="linear", factor=4.0)), dict(dtype=BF16)),
    "gpt_neox-parallel": (gpt_neox(), {}),
    "gpt_neox-sequential": (gpt_neox(use_parallel_residual=False), {}),
    "gpt_neox-full-rotary": (gpt_neox(rotary_pct=1.0, attention_bias=False, rotary_emb_base=500), {}),
    "gpt_neox-buffers": (gpt_neox(), dict(dtype=F16, after=old_neox_buffers)),
    "gpt_neox-large-scores": (gpt_neox(), dict(dtype=F16, attention=60.0)),
    "gpt_neox-tied-tanh": (gpt_neox(tie_word_embeddings=True, hidden_act="gelu_new"), dict(dtype=BF16)),
    "phi": (phi(), {}),
    "phi-query-key-norm": (phi(hidden_size=32, num_attention_heads=4, num_key_value_heads=2, qk_layernorm=True,
                               partial_rotary_factor=0.75), dict(dtype=BF16)),
    "phi-tied-sharded-f16": (phi(num_key_value_heads=1, tie_word_embeddings=True, head_dim=6, partial_rotary_factor=1.0),
                             dict(dtype=F16, shard=4000)),
    "stablelm": (stablelm(), {}),
    "stablelm-2": (stablelm(use_qkv_bias=True, tie_word_embeddings=True, partial_rotary_factor=0.5), dict(dtype=BF16)),
    "stablelm-2-12b": (stablelm(hidden_size=16, num_attention_heads=2, num_key_value_heads=1, qk_layernorm=True, use_parallel_residual=True,
                                partial_rotary_factor=0.5), dict(dtype=F16, shard=4000)),
    "stablelm-rope-parameters": (stablelm(rope_theta=500.0, rope_scaling={**LLAMA3}, max_position_embeddings=256, num_key_value_heads=2,
                                          qk_layernorm=True, partial_rotary_factor=0.75), dict(dtype=BF16, after=rope_parameters)),
    "starcoder2": (starcoder2(), {}),
    "starcoder2-window": (starcoder2(sliding_window=5, use_bias=False, tie_word_embeddings=False), dict(dtype=BF16)),
    "starcoder2-sharded-f16": (starcoder2(head_dim=6, num_key_value_heads=1, rope_scaling=dict(rope_type="dynamic", factor=3.0)),
                               dict(dtype=F16, shard=4000)),
    "qwen2-tied": (qwen2(), {}),
    "qwen2-untied-bf16": (qwen2(tie_word_embeddings=False), dict(dtype=BF16)),
    "qwen2-sharded": (qwen2(), dict(shard=4000)),
    "qwen2-window-off": (qwen2(use_sliding_window=False, sliding_window=4, max_window_layers=1), {}),
    "qwen2-window-on": (qwen2(use_sliding_window=True, sliding_window=4, max_window_layers=1), {}),
    "qwen2-spare-rows": (qwen2(tie_word_embeddings=False), dict(spare=10)),
    "qwen3": (qwen3(), {}),
    "qwen3-tied-bf16": (qwen3(tie_word_embeddings=True), dict(dtype=BF16)),
    "qwen3-mqa-biases": (qwen3(attention_bias=True, num_key_value_heads=1), {}),
    "qwen3-heads-do-not-divide": (qwen3(num_attention_heads=3, num_key_value_heads=3, head_dim=10), {}),
    "qwen3-head-dim-unsaid": (qwen3(num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1, head_dim=128),
                              dict(dtype=BF16, after=without("head_dim"))),
    "qwen3-window-off": (qwen3(use_sliding_window=False, sliding_window=4, max_window_layers=1), {}),
    "qwen3-window-on": (qwen3(use_sliding_window=True, sliding_window=4, max_window_layers=1), {}),
    "qwen3-window-by-turns": (qwen3(num_hidden_layers=3, use_sliding_window=True, sliding_window=5, layer_types=[
        "sliding_attention", "full_attention", "sliding_attention"]), {}),
    "qwen3-linear": (qwen3(rope_scaling=dict(rope_type="linear", factor=4.0)), {}),
    "qwen3-dynamic": (qwen3(rope_scaling=dict(type="dynamic", factor=3.0)), {}),
    "qwen3-yarn": (qwen3(rope_scaling={**YARN}, rope_theta=100.0, head_dim=16), {}),
    "qwen3-llama3": (qwen3(rope_scaling={**LLAMA3}, rope_theta=100.0, head_dim=8, max_position_embeddings=256), {}),
    "qwen3-rope-parameters": (qwen3(rope_theta=500.0, rope_scaling={**LLAMA3}, max_position_embeddings=256), dict(after=rope_parameters)),
    "qwen3-sharded-f16": (qwen3(), dict(dtype=F16, shard=4000)),
    "llama-gqa": (llama(), {}),
    "llama-mha-tied": (llama(num_key_value_heads=4, tie_word_embeddings=True), {}),
    "llama-mqa-biases": (llama(num_key_value_heads=1, attention_bias=True, mlp_bias=True), {}),
    "llama-head-dim": (llama(head_dim=6), {}),
    "llama-llama3": (llama(rope_scaling={**LLAMA3}, rope_theta=100.0, head_dim=8, max_position_embeddings=256), {}),
    "llama-linear": (llama(rope_scaling=dict(rope_type="linear", factor=4.0)), dict(dtype=BF16)),
    # The original context is that of the configuration, and the last pair the last to be blended.
    "llama-yarn": (llama(rope_scaling=dict(rope_type="yarn", factor=4.0), rope_theta=7.0, head_dim=16), {}),
    "llama-longrope": (llama(rope_scaling={**LONG, "attention_factor": 1.3}, rope_theta=100.0, head_dim=12,
                             original_max_position_embeddings=10), {}),
    "llama-dynamic": (llama(rope_scaling=dict(rope_type="dynamic", factor=3.0)), {}),
    "gpt_neox-yarn": (gpt_neox(rotary_pct=0.75, hidden_size=32, rope_scaling={**YARN_MSCALE}, rotary_emb_base=50), dict(dtype=F16)),
    "gpt_neox-dynamic": (gpt_neox(rotary_pct=0.5, rope_scaling=dict(type="dynamic", factor=2.0)), {}),
    "llama-rope-parameters": (llama(rope_theta=500.0, rope_scaling={**LLAMA3}, max_position_embeddings=256), dict(after=rope_parameters)),
    "llama-sharded-f16": (llama(), dict(dtype=F16, shard=4000)),
    "llama-bin-awkward": (llama(), dict(after=pickled(awkward=True), dtype=BF16)),
    "mamba": (mamba(), {}),
    "mamba-biases-untied-bf16": (mamba(hidden_size=12, state_size=18, use_bias=True, use_conv_bias=False, conv_kernel=2,
                                       tie_word_embeddings=False), dict(dtype=BF16)),
    # Version 5 takes whole numbers only.
    **({} if transformers.__version__.startswith("5") else {
        "mamba-older-f16": (mamba(hidden_size=10, state_size=5, expand=1.5, time_step_rank="auto"),
                            dict(dtype=F16, after=older_mamba))
    }),
    "falcon_mamba": (falcon_mamba(tie_word_embeddings=False), {}),
    "falcon_mamba-biases-bf16": (falcon_mamba(hidden_size=12, state_size=7, use_bias=True, use_conv_bias=False,
                                              intermediate_size=20, expand=4), dict(dtype=BF16)),
    # Of several groups the gated norm is one a group; 4.57 has one for all, so those are written by version 5.
    "mamba2": (mamba2(tie_word_embeddings=True), {}),
    "mamba2-limits-bf16": (mamba2(num_heads=2, head_dim=16, n_groups=1, state_size=24, time_step_limit=(0.125, 0.875)), dict(dtype=BF16)),
    "rwkv": (rwkv(), {}),
    "rwkv-narrow-bf16": (rwkv(hidden_size=10, attention_hidden_size=12, intermediate_size=None, rescale_every=0), dict(dtype=BF16)),
    "rwkv-sharded-f16": (rwkv(hidden_size=12, attention_hidden_size=8, rescale_every=1), dict(dtype=F16, shard="3KB")),
    "mistral-no-window": (mistral(), dict(dtype=BF16)),
    "mistral-window": (mistral(sliding_window=5), {}),
    "olmo": (olmo(num_key_value_heads=4), {}),
    "olmo-tied-bf16": (olmo(tie_word_embeddings=True), dict(dtype=BF16)),
    "olmo-mqa-biases": (olmo(vocab_size=41, hidden_size=20, intermediate_size=27, num_hidden_layers=3, num_attention_heads=5,
                             num_key_value_heads=1, attention_bias=True), {}),
    "olmo-head-dim": (olmo(head_dim=6), {}),
    "olmo-dynamic": (olmo(rope_scaling=dict(type="dynamic", factor=3.0)), {}),
    # Softer scores: with others this draw loses six times what its kin do where products are of bfloat16, in torch too.
    "olmo-rope-parameters": (olmo(rope_theta=500.0, rope_scaling={**LLAMA3}, max_position_embeddings=256),
                             dict(after=rope_parameters, attention=0.5)),
    "olmo-clipped": (olmo(clip_qkv=0.75), {}),
    "olmo-sharded-f16": (olmo(), dict(dtype=F16, shard=4000)),
    "olmo2-gqa": (olmo2(), {}),
    "olmo2-mha-tied": (olmo2(num_key_value_heads=4, tie_word_embeddings=True), {}),
    "olmo2-mqa-biases": (olmo2(vocab_size=41, hidden_size=20, intermediate_size=27, num_hidden_layers=3, num_attention_heads=5,
                               num_key_value_heads=1, attention_bias=True), {}),
    "olmo2-head-dim": (olmo2(head_dim=6), {}),
    "olmo2-linear": (olmo2(rope_scaling=dict(type="linear", factor=4.0)), dict(dtype=BF16)),
    "olmo2-dynamic": (olmo2(rope_scaling=dict(type="dynamic", factor=3.0)), {}),
    "olmo2-rope-parameters": (olmo2(rope_theta=500.0, rope_scaling={**LLAMA3}, max_position_embeddings=256), dict(after=rope_parameters)),
    "olmo2-sharded-f16": (olmo2(), dict(dtype=F16, shard=4000)),
    "smollm3": (smollm3(), dict(attention=0.5)),
    "smollm3-window-f16": (smollm3(num_hidden_layers=3, no_rope_layers=None, no_rope_layer_interval=2, use_sliding_window=True,
                                   sliding_window=5, attention_bias=True, mlp_bias=True, tie_word_embeddings=False),
                           dict(dtype=F16, shard=4000)),
    "granite": (granite(), {}),
    "granite-rope-parameters": (granite(num_key_value_heads=1, attention_bias=True, mlp_bias=True, tie_word_embeddings=True,
                                        rope_theta=500.0, rope_scaling={**LLAMA3}, max_position_embeddings=256),
                                dict(dtype=F16, shard=4000, after=rope_parameters)),
    # YaRN on full attention, the fourth block.
    "olmo3": (olmo3(rope_scaling={**YARN}, rope_theta=100.0), {}),
    "olmo3-tied-bf16": (olmo3(tie_word_embeddings=True, num_key_value_heads=2, attention_bias=True, num_hidden_layers=2, layer_types=[
        "full_attention", "sliding_attention"]), dict(dtype=BF16)),
    "olmo3-rope-parameters": (olmo3(rope_scaling={**YARN}, rope_theta=100.0), dict(after=rope_parameters_by_kind)),
    "phi3": (phi3(sliding_window=5), dict(dtype=BF16)),
    # Six of eight pairs of a head.
    "phi3-longrope": (phi3(hidden_size=32, partial_rotary_factor=0.75, original_max_position_embeddings=10, rope_theta=100.0,
                           rope_scaling={**LONG, "type": "su"}, tie_word_embeddings=True, num_key_value_heads=None), {}),
    "phi3-rope-parameters": (phi3(original_max_position_embeddings=10, rope_scaling=dict(LONG)), dict(after=rope_parameters)),
    # Every key that may be away is away from its default: bases of config_keys.py.
    "gemma-odd": (gemma(rope_theta=500.0, rms_norm_eps=2**-7, rope_scaling=dict(type="linear", factor=2.0), attention_bias=True,
                        tie_word_embeddings=False), dict(dtype=BF16)),
    "gemma2-odd": (gemma2(rope_theta=500.0, rms_norm_eps=2**-7, rope_scaling=dict(type="linear", factor=2.0), attention_bias=True,
                          tie_word_embeddings=False), dict(dtype=BF16, after=without("layer_types"))),
    "gemma3_text-odd": (gemma3(num_hidden_layers=4, layer_types=None, sliding_window_pattern=3, rms_norm_eps=2**-7,
                               rope_scaling=dict(rope_type="linear", factor=2.0), final_logit_softcapping=4.0,
                               attention_bias=True, tie_word_embeddings=False),
                        dict(dtype=BF16, after=without("layer_types", "_sliding_window_pattern"))),
    "smollm3-odd": (smollm3(num_hidden_layers=4, no_rope_layers=None, no_rope_layer_interval=3, use_sliding_window=True,
                            sliding_window=5, rope_theta=500.0, rms_norm_eps=2**-7, attention_bias=True, mlp_bias=True,
                            rope_scaling=dict(type="linear", factor=2.0), tie_word_embeddings=False),
                    dict(dtype=BF16, after=without("layer_types", "no_rope_layers"))),
    "granite-odd": (granite(rope_theta=500.0, rms_norm_eps=2**-7, rope_scaling=dict(rope_type="linear", factor=2.0),
                            attention_bias=True, mlp_bias=True, tie_word_embeddings=True), dict(dtype=BF16)),
    "gpt2-odd": (gpt2(activation_function="gelu", layer_norm_epsilon=2**-7, scale_attn_weights=False,
                      scale_attn_by_inverse_layer_idx=True, n_inner=64, tie_word_embeddings=False), {}),
    "gpt_neo-odd": (gpt_neo(activation_function="gelu", layer_norm_epsilon=2**-7, window_size=4, tie_word_embeddings=False,
                            attention_types=[[["local"], 1], [["local", "global"], 1]], num_layers=3),
                    dict(after=without("attention_layers"))),
    "opt-odd": (opt(activation_function="gelu", ffn_dim=40, _remove_final_layer_norm=True), {}),
    "bloom-odd": (bloom(hidden_size=16, n_head=4, layer_norm_epsilon=2**-7, tie_word_embeddings=False), {}),
    "falcon-odd": (falcon(multi_query=False, parallel_attn=False, bias=True, rope_theta=500.0, ffn_hidden_size=40,
                          rope_scaling=dict(rope_type="linear", factor=2.0), activation="gelu_new", layer_norm_epsilon=2**-7,
                          tie_word_embeddings=False), {}),
    "phi-odd": (phi(num_attention_heads=4, num_key_value_heads=2, qk_layernorm=True, partial_rotary_factor=1.0, rope_theta=500.0,
                    rope_scaling=dict(rope_type="linear", factor=2.0), hidden_act="gelu", layer_norm_eps=2**-7), {}),
    "stablelm-odd": (stablelm(hidden_size=16, num_attention_heads=2, num_key_value_heads=2, use_qkv_bias=True, qk_layernorm=True,
                              partial_rotary_factor=0.5, rope_theta=500.0, layer_norm_eps=2**-7,
                              rope_scaling=dict(rope_type="linear", factor=2.0)), {}),
    "starcoder2-odd": (starcoder2(num_key_value_heads=4, sliding_window=5, hidden_act="gelu", norm_epsilon=2**-7, rope_theta=500.0,
                                  rope_scaling=dict(rope_type="linear", factor=2.0), tie_word_embeddings=False), {}),
    "gpt_neox-odd": (gpt_neox(rotary_pct=0.5, rotary_emb_base=500, use_parallel_residual=False, hidden_act="gelu_new",
                              layer_norm_eps=2**-7, rope_scaling=dict(rope_type="linear", factor=2.0)), {}),
    "qwen2-odd": (qwen2(num_hidden_layers=3, use_sliding_window=True, sliding_window=4, max_window_layers=1,
                        rope_theta=500.0, rms_norm_eps=2**-7, tie_word_embeddings=False), dict(after=without("layer_types"))),
    "qwen3-odd": (qwen3(num_hidden_layers=3, use_sliding_window=True, sliding_window=4, max_window_layers=1, attention_bias=True,
                        rope_theta=500.0, rms_norm_eps=2**-7, rope_scaling=dict(rope_type="linear", factor=2.0),
                        tie_word_embeddings=True), dict(after=without("layer_types"))),
    "llama-odd": (llama(rope_theta=500.0, rms_norm_eps=2**-7, rope_scaling=dict(rope_type="linear", factor=2.0),
                        num_key_value_heads=4), {}),
    "mamba-odd": (mamba(hidden_size=12, state_size=5, conv_kernel=3, expand=3, use_bias=True, use_conv_bias=False,
                        layer_norm_epsilon=2**-7, tie_word_embeddings=False), {}),
    "falcon_mamba-odd": (falcon_mamba(hidden_size=12, state_size=5, conv_kernel=3, expand=3, use_bias=True,
                                      layer_norm_epsilon=2**-7, mixer_rms_eps=2**-7), dict(after=without("intermediate_size"))),
    "mamba2-odd": (mamba2(hidden_size=12, expand=3, num_heads=6, head_dim=6, n_groups=3, state_size=5, conv_kernel=3, use_bias=True,
                          use_conv_bias=False, layer_norm_epsilon=2**-7, time_step_limit=(0.25, 1.0)), dict(dtype=F16)),
    "rwkv-odd": (rwkv(hidden_size=8, attention_hidden_size=20, num_hidden_layers=7, rescale_every=2, layer_norm_epsilon=2**-7,
                      tie_word_embeddings=True), {}),
    "mistral-odd": (mistral(sliding_window=5, rope_theta=500.0, rms_norm_eps=2**-7), {}),
    "olmo-odd": (olmo(rope_theta=500.0, rope_scaling=dict(type="linear", factor=2.0), num_key_value_heads=4), {}),
    "olmo3-odd": (olmo3(rope_theta=400000.0, rms_norm_eps=2**-7, sliding_window=4, rope_scaling=dict(rope_type="linear", factor=2.0),
                        num_key_value_heads=None), dict(after=without("layer_types"))),
    "phi3-odd": (phi3(rope_theta=500.0, rms_norm_eps=2**-7, sliding_window=5, partial_rotary_factor=0.5,
                      num_key_value_heads=None), {}),
    "olmo2-odd": (olmo2(rope_theta=500.0, rms_norm_eps=2**-7, rope_scaling=dict(type="linear", factor=2.0),
                        num_key_value_heads=4), {}),
}

if OLMoConfig:
    CASES |= {
        # DataDecide's settings; OLMo 1's, with the bounds of 1.7; LayerNorm with a gain alone.
        "hf_olmo-datadecide": (hf_olmo(layer_norm_type="rms", weight_tying=False), dict(after=pickled())),
        "hf_olmo-first": (hf_olmo(layer_norm_with_affine=False, clip_qkv=0.75, mlp_hidden_size=44), dict(dtype=BF16)),
        "hf_olmo-gain-alone": (hf_olmo(layer_norm_type="low_precision", n_heads=4, n_kv_heads=1), dict(dtype=F16)),
        "hf_olmo-learned": (hf_olmo(rope=False, include_bias=True, activation_type="gelu", n_heads=4, n_kv_heads=2), {}),
        "hf_olmo-odd": (hf_olmo(norm_after=True, layer_norm_type="rms", attention_layer_norm=True, embedding_layer_norm=True,
                                activation_type="relu", n_heads=4, multi_query_attention=True, clip_qkv=2.0, rope_theta=500,
                                layer_norm_eps=2**-7, weight_tying=False, embedding_size=None, mlp_hidden_size=24), {}),
    }


def randomise(model, seed, attention):
    """Draws every parameter: matrices keep variance (gain 1.5), norms stay near 1, biases are felt."""
    g = torch.Generator().manual_seed(seed)
    # GPT-NeoX's head, as version 4 has it and every file: order and size of the draws hang on names.
    names = {"lm_head.weight": "embed_out.weight"} if model.config.model_type == "gpt_neox" else {}
    for name, p in sorted((names.get(name, name), p) for name, p in model.named_parameters()):
        noise = torch.randn(p.shape, generator=g)
        if name.endswith(("A_log", "conv1d.weight", "dt_proj.bias", "dt_bias", "time_decay", "time_first")):
            pass  # decays from near 0 to near 1, taps of both signs, time steps on both sides of softplus's bend
        elif "time_mix_" in name:
            noise = 0.5 + 0.5 * noise
        elif name.endswith("mixer.D"):
            noise = 1.0 + 0.5 * noise
        elif p.dim() == 2 and ("embed" in name or "wte" in name or "wpe" in name):
            noise *= 0.7
        elif p.dim() == 2:
            # Conv1D stores [in, out]; for these nearly square shapes the geometric mean serves both layouts.
            noise *= 1.5 / math.sqrt(math.sqrt(p.shape[0] * p.shape[1]))
            if any(s in name for s in ("q_proj", "k_proj", "query_key_value")):
                noise *= attention
        elif name.endswith("weight") and "gemma" in model.config.model_type:
            # Gains of 1 + w are exact in float32 where w has the bits of bfloat16.
            noise = (0.3 * noise).to(BF16).to(F32)
        elif name.endswith("weight"):
            noise = 0.3 * noise + 1.0
        else:
            noise *= 0.3
        p.data.copy_(noise)


def sequences(seed, rows):
    g = torch.Generator().manual_seed(seed + 1)
    return [torch.randint(0, rows, (n,), generator=g) for n in LENGTHS]


@contextlib.contextmanager
def in_float64():
    """Inside, code that upcasts to float32 by name upcasts to float64 instead."""
    saved = torch.float32, torch.float, torch.Tensor.float
    torch.float32 = torch.float = torch.float64
    torch.Tensor.float = lambda self: self.double()
    try:
        yield
    finally:
        torch.float32, torch.float, torch.Tensor.float = saved


def rotary_in_float64(module):
    """Frequencies again, that were computed in float32 when the model was built."""
    layers = module.rope_type if isinstance(module.rope_type, dict) else {None: module.rope_type}
    for layer, kind in layers.items():  # version 5 may have a table a kind of layer, in one module
        # Version 5 keeps the plain frequencies beside the table of functions.
        plain = lambda config, _, **layer: module.compute_default_rope_parameters(config, **layer)
        init = ROPE_INIT_FUNCTIONS.get(kind, plain)
        inv_freq, scaling = init(module.config, "cpu", **({"layer_type": layer} if layer else {}))
        prefix = f"{layer}_" if layer else ""
        setattr(module, prefix + "attention_scaling", scaling)
        for name in ("inv_freq", "original_inv_freq"):
            setattr(module, prefix + name, inv_freq.clone())


def golden(model, ids_list, known=None):
    """float64 scores of each sequence; `known` bounds the rows that count for the masked figures."""
    model = model.double().eval()
    entries, logits_by_name = [], {}
    with in_float64(), torch.no_grad():
        for module in model.modules():
            if hasattr(module, "rope_type"):
                rotary_in_float64(module)
            getattr(module, "_OLMo__cache", {}).clear()  # hf_olmo's tables, likewise
        for n, ids in enumerate(ids_list):
            logits = model(ids[None], use_cache=False).logits[0]
            assert logits.dtype == torch.float64 and torch.isfinite(logits).all()
            logits_by_name[f"logits.{n}"] = logits.contiguous()
            entry = dict(ids=ids.tolist(), **scores(logits, ids))
            if known is not None:
                entry["known_only"] = scores(logits[:, :known], ids)
            entries.append(entry)
    return entries, logits_by_name


def scores(logits, ids):
    """Per token i >= 1, from row i-1: R = #{z >= z_t}, ties, nll, entropy, and the distance to the nearest other logit."""
    rows, targets = logits[:-1], ids[1:]
    if len(targets) == 0:
        return dict(rank=[], ties=[], nll=[], entropy=[], gap=[])
    z_t = rows.gather(1, targets[:, None])
    logp = torch.log_softmax(rows, dim=-1)
    apart = (rows - z_t).abs().scatter(1, targets[:, None], math.inf)
    return dict(
        rank=(rows >= z_t).sum(1).tolist(),
        ties=((rows == z_t).sum(1) - 1).tolist(),
        nll=[float(f"{x:.12g}") for x in -logp.gather(1, targets[:, None])[:, 0]],
        entropy=[float(f"{x:.12g}") for x in -(logp.exp() * logp).sum(1)],
        gap=[float(f"{x:.3g}") for x in apart.min(1).values],
    )


def read(folder):
    """A folder as transformers reads it; fails where weights are missing, which it would draw."""
    model, info = AutoModelForCausalLM.from_pretrained(
        folder, attn_implementation=implementation(AutoConfig.from_pretrained(folder)), dtype=torch.float32, output_loading_info=True)
    # A tied head is no parameter of its own, and version 5 lists it all the same.
    missing = {key for key in info["missing_keys"] if not (model.config.tie_word_embeddings and "lm_head" in key)}
    if missing:
        raise ValueError(f"missing {sorted(missing)[0]}")
    return model


def implementation(config):
    """Of attention: the plain one, but for Falcon's ALiBi, whose slopes it adds twice (4.57 and 5.24)."""
    return "sdpa" if getattr(config, "alibi", False) else "eager"


def write(name, config, options, out):
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")
    folder = out / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    dtype = options.get("dtype", F32)
    config._attn_implementation = implementation(config)
    model = AutoModelForCausalLM.from_config(config, attn_implementation=implementation(config))
    randomise(model, seed, options.get("attention", 1.0))
    if spare := options.get("spare"):
        model.get_output_embeddings().weight.data[-spare:] *= 20.0
    model.tie_weights()
    model = model.to(dtype)
    model.config.dtype = dtype
    if model.config.tie_word_embeddings and not model._tied_weights_keys:  # Mamba 2 does not say of itself which
        model._tied_weights_keys = ["lm_head.weight"]
    model.save_pretrained(folder, max_shard_size=options.get("shard", "5GB"))
    (folder / "generation_config.json").unlink(missing_ok=True)

    # What transformers reads back from the plain folder, before it is bent into an older shape.
    again = read(folder)
    rows = config.get_text_config().vocab_size
    known = rows - spare if spare else None
    entries, logits = golden(again, sequences(seed, known or rows), known)
    if after := options.get("after"):
        after(folder)

    head = dict(generator="tools/goldens/checkpoints.py", torch=torch.__version__, transformers=transformers.__version__)
    (folder / "golden.json").write_text(json.dumps(dict(**head, known=known, sequences=entries), indent=None) + "\n")
    save_file(logits, folder / "golden.safetensors")


# Initialising an OPT without affine norms, or a StableLM with norms of heads, fails in this version of transformers; we draw
# all weights ourselves anyway.
transformers.OPTPreTrainedModel._init_weights = transformers.StableLmPreTrainedModel._init_weights = lambda self, module: None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = Path(__file__).resolve().parents[2]
    parser.add_argument("--out", type=Path, default=root / "crates/decoder/tests/goldens")
    parser.add_argument("names", nargs="*", help="cases to write; all by default")
    args = parser.parse_args()
    cases = CASES
    if unknown := set(args.names) - set(cases):
        sys.exit(f"unknown case {sorted(unknown)}; known: {', '.join(cases)}")
    torch.set_num_threads(1)
    for name in args.names or cases:
        config, options = cases[name]
        write(name, config, options, args.out)
        size = sum(f.stat().st_size for f in (args.out / name).iterdir())
        print(f"{name:28} {size:8} bytes")


if __name__ == "__main__":
    main()
