#!/usr/bin/env python3
"""Writes crates/measure/tests/data/protocols/llama_cpp.json: perplexities of the tiny Llama by llama.cpp itself.

Run by hand, after protocols.py:  pip install -r tools/peers/requirements.txt && python tools/peers/half_window_llama_cpp.py

The tensors go into a GGUF file as they are, f32; llama.cpp computes the logits, with an f32 cache and without flash
attention. It comes from the wheel of xllamacpp, whose build needs no recent C library, and is called through the
declarations of llama_cpp_py_sync, generated from the same sources. Ids come from the tokenizer of the folder, since the
program itself would not read special tokens in a text as such. The counting is that of its perplexity(), restated: wheels
have the library and not the program.
"""

import json
import math
import tempfile
from importlib.metadata import version
from pathlib import Path

import gguf
import numpy as np
import xllamacpp.xllamacpp
from llama_cpp_py_sync._cffi_bindings import get_ffi
from safetensors.numpy import load_file
from tokenizers import Tokenizer

DATA = Path(__file__).resolve().parents[2] / "crates" / "measure" / "tests" / "data" / "protocols"
LAYER = {
    "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}


def interleaved(weight, heads):
    """llama.cpp rotates neighbouring dimensions, transformers the two halves of a head."""
    rows, columns = weight.shape
    return weight.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)


def write_gguf(path, config, tensors):
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_theta"])
    writer.add_rope_dimension_count(config["head_dim"])
    writer.add_vocab_size(config["vocab_size"])
    writer.add_tokenizer_model("none")
    heads = {"attn_q": config["num_attention_heads"], "attn_k": config["num_key_value_heads"]}
    for name, tensor in sorted(tensors.items()):
        if name == "model.embed_tokens.weight":
            target = "token_embd"
        elif name == "model.norm.weight":
            target = "output_norm"
        else:
            _, _, layer, rest = name.removesuffix(".weight").split(".", 3)
            if LAYER[rest] in heads:
                tensor = interleaved(tensor, heads[LAYER[rest]])
            target = f"blk.{layer}.{LAYER[rest]}"
        writer.add_tensor(target + ".weight", np.ascontiguousarray(tensor, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


class LlamaCpp:
    def __init__(self, path, n_ctx):
        self.ffi = get_ffi()
        self.lib = self.ffi.dlopen(xllamacpp.xllamacpp.__file__)
        self.lib.llama_backend_init()
        self.model = self.lib.llama_model_load_from_file(str(path).encode(), self.lib.llama_model_default_params())
        params = self.lib.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = n_ctx
        params.n_outputs_max = params.n_outputs_max_per_seq = n_ctx
        params.n_threads = params.n_threads_batch = 1
        params.flash_attn_type = 0
        params.type_k = params.type_v = 0  # f32
        self.context = self.lib.llama_init_from_model(self.model, params)
        self.rows = self.lib.llama_vocab_n_tokens(self.lib.llama_model_get_vocab(self.model))

    def log_softmax(self, tokens):
        """[tokens, rows] in float64, from the library's f32 logits."""
        self.lib.llama_memory_clear(self.lib.llama_get_memory(self.context), True)
        batch = self.lib.llama_batch_init(len(tokens), 0, 1)
        batch.n_tokens = len(tokens)
        for i, token in enumerate(tokens):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.seq_id[i][0], batch.logits[i] = token, i, 1, 0, 1
        assert self.lib.llama_decode(self.context, batch) == 0
        buffer = self.ffi.buffer(self.lib.llama_get_logits(self.context), 4 * len(tokens) * self.rows)
        logits = np.frombuffer(buffer, dtype=np.float32).reshape(len(tokens), self.rows).astype(np.float64)
        self.lib.llama_batch_free(batch)
        top = logits.max(-1, keepdims=True)
        return logits - top - np.log(np.exp(logits - top).sum(-1, keepdims=True))


def perplexity(model, ids, n_ctx, bos):
    tokens, first, nll, count = [bos] + ids, n_ctx // 2, 0.0, 0
    for start in range(0, len(tokens) // n_ctx * n_ctx, n_ctx):
        logp = model.log_softmax([bos] + tokens[start + 1 : start + n_ctx])
        for j in range(first, n_ctx - 1):
            nll -= logp[j, tokens[start + j + 1]]
        count += n_ctx - first - 1
    return {"n_ctx": n_ctx, "bos": bos, "count": count, "perplexity": math.exp(nll / count)}


def main():
    folder = DATA / "llama"
    config = json.loads((folder / "config.json").read_text())
    texts = [json.loads(line)["text"] for line in (DATA / "documents.jsonl").read_text().splitlines()]
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    ids = tokenizer.encode("\n\n".join(texts), add_special_tokens=False).ids
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "llama.gguf"
        write_gguf(path, config, load_file(folder / "model.safetensors"))
        found = [perplexity(LlamaCpp(path, config["max_position_embeddings"]), ids, n, 0) for n in [32, 15, 8]]
    result = {"versions": {name: version(name) for name in ["xllamacpp", "llama_cpp_py_sync", "gguf"]}, "llama": found}
    (DATA / "llama_cpp.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
