#!/usr/bin/env python3
"""Writes crates/measure/tests/data/protocols: two tiny models, a text, and the numbers that other programs give for them.

Run by hand:  pip install -r tools/peers/requirements.txt && python tools/peers/protocols.py

Models: random GPT-2 (its tokenizer adds nothing, bos = eos, as GPT-2's) and random Llama (its tokenizer puts <s> first);
both with more rows than tokens and a context of 32. Weights are stored in f32; everything is computed in float64, so
that what differs from these numbers is the rounding of whoever compares.

* rolling      HFLM.loglikelihood_rolling of lm_eval itself, and its own bits_per_byte and weighted_perplexity, weighted by
               bytes as its wikitext task does it.
* strided      the loop of "Perplexity of fixed-length models" (huggingface/transformers, docs/source/en/perplexity.md,
               commit 052b1dc), restated around the model's own loss, which takes its logits in f32.
* half-window  perplexity() of ggml-org/llama.cpp, tools/perplexity/perplexity.cpp, commit 050fc7f, restated over logits of
               transformers: chunks and counting are that program's, the arithmetic of the model is not.
* paper        the rank law's released procedure, restated: truncated and padded sequences, neither input nor label special,
               rank = entries strictly above + 1, over all rows.
"""

import json
import math
import shutil
from importlib.metadata import version
from pathlib import Path

import torch
from lm_eval.api.instance import Instance
from lm_eval.api.metrics import bits_per_byte, weighted_perplexity
from lm_eval.models.huggingface import HFLM
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    AutoModelForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

OUT = Path(__file__).resolve().parents[2] / "crates" / "measure" / "tests" / "data" / "protocols"
CONTEXT = 32
TOKENS = 300
# Ranks are compared exactly, so no other logit may be closer to a target's than the rounding of f32.
SMALLEST_GAP = 2e-5

ENGLISH = (
    "The lighthouse keeper counted the ships that passed, and wrote each of them down in a long grey book. On some days "
    "there were none; on others the page was too short. When the fog came he could not see the ships, so he counted the "
    "horns instead, and put a small mark beside the number, because a horn is not a ship and he was an honest man. "
)
POLISH = (
    "Zażółć gęślą jaźń – napisał w zeszycie, a potem dodał jeszcze: „wąż łyka żabę, źrebię pije wodę”. Łódź płynęła wolno, "
    "śnieg padał gęsto, więc nikt nie wyszedł na brzeg. "
)
CHINESE = "灯塔看守人每天数船，把它们写在一本灰色的书里。有雾的时候，他只能听见号角声。🚢🚢 它们走了。"
CODE = "fn rank(row: &[f32], target: usize) -> usize {\n    row.iter().filter(|&&z| z >= row[target]).count()\n}\n"


def train_tokenizer(specials, before):
    """A byte-level BPE of TOKENS entries, the specials first; `before` is put before every text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=TOKENS,
        special_tokens=specials,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([ENGLISH, POLISH, CHINESE, CODE], trainer)
    if before:
        pair = (before, tokenizer.token_to_id(before))
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{before} $A", pair=f"{before} $A {before} $B", special_tokens=[pair]
        )
    return tokenizer


def documents(tokenizer):
    """Every awkward length: none, one token, shorter than the context, exactly it, one more, twice, many."""
    long = "".join([ENGLISH, CODE, POLISH, ENGLISH])

    def of_tokens(count):
        ends = (end for end in range(1, len(long)) if len(tokenizer.encode(long[:end], add_special_tokens=False)) == count)
        return long[: next(ends)]

    texts = {
        "empty": "",
        "one-token": of_tokens(1),
        "short": of_tokens(7),
        "context-less-one": of_tokens(CONTEXT - 1),
        "context": of_tokens(CONTEXT),
        "context-and-one": of_tokens(CONTEXT + 1),
        "twice": of_tokens(2 * CONTEXT),
        "twice-and-one": of_tokens(2 * CONTEXT + 1),
        "polish": POLISH,
        "chinese": CHINESE,
        "code": CODE,
        "special-inside": "A text ends here.<|endoftext|>Another begins.",
        "english": ENGLISH,
    }
    return [{"id": name, "text": text} for name, text in texts.items()]


def write_model(name, seed):
    """The folder of a model whose weights are large enough that its predictions are far from even."""
    torch.manual_seed(seed)
    if name == "gpt2":
        roles = {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>", "unk_token": "<|endoftext|>"}
        tokenizer = train_tokenizer(["<|endoftext|>"], None)
        config = GPT2Config(
            vocab_size=TOKENS + 5, n_positions=CONTEXT, n_embd=16, n_layer=2, n_head=2,
            bos_token_id=0, eos_token_id=0,
        )
        model = GPT2LMHeadModel(config)
    else:
        roles = {"bos_token": "<s>", "eos_token": "</s>", "additional_special_tokens": ["<|endoftext|>"]}
        tokenizer = train_tokenizer(["<s>", "</s>", "<|endoftext|>"], "<s>")
        config = LlamaConfig(
            vocab_size=TOKENS + 9, max_position_embeddings=CONTEXT, hidden_size=16, intermediate_size=40,
            num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, tie_word_embeddings=True,
            bos_token_id=0, eos_token_id=1,
        )
        model = LlamaForCausalLM(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0.0, 0.5) if parameter.dim() > 1 else parameter.add_(torch.randn_like(parameter) * 0.1)
    folder = OUT / name
    folder.mkdir(parents=True)
    model.save_pretrained(folder)
    (folder / "model.safetensors").chmod(0o644)
    (folder / "generation_config.json").unlink(missing_ok=True)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **roles).save_pretrained(folder)
    return folder


def rolling(folder, texts, max_length, batch_size, add_bos_token=False, **options):
    """The harness itself. Its default, `add_bos_token=None`, lets a tokenizer's own <s> stand behind the prefix <s>."""
    harness = HFLM(
        pretrained=str(folder), device="cpu", dtype="float64", batch_size=batch_size, max_length=max_length,
        add_bos_token=add_bos_token, **options,
    )
    requests = [Instance("loglikelihood_rolling", {}, (text,), i) for i, text in enumerate(texts)]
    found = [float(ll) for ll in harness.loglikelihood_rolling(requests, disable_tqdm=True)]
    weighted = [(ll, len(text.encode())) for ll, text in zip(found, texts)]
    return {
        "max_length": max_length,
        "prefix_token_id": harness.prefix_token_id,
        "loglikelihood": found,
        "bits_per_byte": bits_per_byte(weighted),
        "byte_perplexity": weighted_perplexity(weighted),
    }


@torch.inference_mode()
def strided(model, ids, max_length, stride):
    sequence = torch.tensor([ids])
    nll_sum, n_tokens, windows = 0.0, 0, 0
    prev_end = 0
    for begin in range(0, len(ids), stride):
        end = min(begin + max_length, len(ids))
        trg_len = end - prev_end
        input_ids = sequence[:, begin:end]
        target_ids = input_ids.clone()
        target_ids[:, :-trg_len] = -100
        loss = float(model(input_ids, labels=target_ids).loss)
        num_loss_tokens = int((target_ids != -100).sum()) - 1
        nll_sum += loss * num_loss_tokens
        n_tokens += num_loss_tokens
        windows += 1
        prev_end = end
        if end == len(ids):
            break
    average = nll_sum / n_tokens
    return {
        "max_length": max_length, "stride": stride, "windows": windows, "tokens": n_tokens,
        "average_nll": average, "perplexity": math.exp(average),
    }


@torch.inference_mode()
def half_window(model, ids, n_ctx, bos):
    tokens = ([bos] if bos is not None else []) + ids
    assert len(tokens) >= 2 * n_ctx
    first = n_ctx // 2
    nll, count = 0.0, 0
    for start in range(0, len(tokens) // n_ctx * n_ctx, n_ctx):
        chunk = tokens[start : start + n_ctx]
        if bos is not None:
            chunk[0] = bos
        logp = model(torch.tensor([chunk])).logits[0].log_softmax(-1)
        for j in range(first, n_ctx - 1):
            nll -= float(logp[j, tokens[start + j + 1]])
        count += n_ctx - first - 1
    return {"n_ctx": n_ctx, "bos": bos, "count": count, "perplexity": math.exp(nll / count)}


@torch.inference_mode()
def paper(model, tokenizer, texts, seq_len, k_list):
    special = torch.tensor(tokenizer.all_special_ids)
    # What the tokenizer puts before a text is none of the text's positions.
    own = len(tokenizer("")["input_ids"])
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
    smallest_gap, found = math.inf, []
    for text in texts:
        ids = tokenizer(text, truncation=True, max_length=seq_len)["input_ids"]
        row = {"position": [], "rank": [], "nll": []}
        found.append(row)
        if not ids:
            continue
        padded = torch.tensor([ids + [pad] * (seq_len - len(ids))])
        mask = torch.tensor([[1] * len(ids) + [0] * (seq_len - len(ids))])
        logits = model(padded, attention_mask=mask).logits[0, :-1]
        inputs, labels = padded[0, :-1], padded[0, 1:]
        valid = (mask[0, :-1] == 1) & (mask[0, 1:] == 1) & ~torch.isin(inputs, special) & ~torch.isin(labels, special)
        for i in valid.nonzero()[:, 0].tolist():
            row_logits, label = logits[i], int(labels[i])
            others = torch.cat([row_logits[:label], row_logits[label + 1 :]])
            smallest_gap = min(smallest_gap, float((others - row_logits[label]).abs().min()))
            row["position"].append(i + 1 - own)
            row["rank"].append(int((row_logits > row_logits[label]).sum()) + 1)
            row["nll"].append(-float(row_logits.log_softmax(-1)[label]))
    ranks = [rank for row in found for rank in row["rank"]]
    nlls = [nll for row in found for nll in row["nll"]]
    return smallest_gap, {
        "seq_len": seq_len,
        "documents": found,
        "k": k_list,
        "rbp": [sum(rank <= k for rank in ranks) / len(ranks) for k in k_list],
        "cross_entropy": sum(nlls) / len(nlls),
    }


def numbers(folder, texts):
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64).eval()
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    k_list = [1, 2, 5, 10, 20, 50, 100, 200, model.config.vocab_size]
    gap, of_paper = paper(model, tokenizer, texts, CONTEXT, k_list)
    if gap < SMALLEST_GAP:
        return None
    joined = "\n\n".join(texts)
    with_special = tokenizer(joined)["input_ids"]
    plain = tokenizer(joined, add_special_tokens=False)["input_ids"]
    bos = tokenizer.bos_token_id if with_special != plain else None
    eos = tokenizer.eos_token_id
    return {
        "tokens": [len(tokenizer(text, add_special_tokens=False)["input_ids"]) for text in texts],
        "joined_tokens": len(plain),
        "smallest_gap": gap,
        "rolling": [
            rolling(folder, texts, CONTEXT, 1),
            rolling(folder, texts, 16, 7),
            rolling(folder, texts, 11, 4, prefix_token_id=eos),
        ],
        "rolling_as_the_tokenizer_likes": rolling(folder, texts, CONTEXT, 1, add_bos_token=None),
        "rolling_joined": rolling(folder, [joined], CONTEXT, 7),
        "strided": [
            strided(model, with_special, length, stride)
            for length, stride in [(CONTEXT, 16), (CONTEXT, 32), (CONTEXT, 1), (24, 7)]
        ],
        "half_window": [half_window(model, plain, n_ctx, bos) for n_ctx in [CONTEXT, 15, 8]],
        "paper": of_paper,
    }


def main():
    torch.set_num_threads(1)
    if OUT.exists():
        shutil.rmtree(OUT)
    OUT.mkdir(parents=True)
    # Lengths are those of GPT-2's tokenizer; the other one, with two more specials, cuts nearly the same.
    made = documents(train_tokenizer(["<|endoftext|>"], None))
    (OUT / "documents.jsonl").write_text("".join(json.dumps(d, ensure_ascii=False) + "\n" for d in made))
    texts = [document["text"] for document in made]
    result = {"versions": {name: version(name) for name in ["accelerate", "lm_eval", "torch", "transformers", "tokenizers"]}}
    for name in ["gpt2", "llama"]:
        for seed in range(100):
            folder = write_model(name, seed)
            found = numbers(folder, texts)
            if found:
                result[name] = {"seed": seed, **found}
                break
            shutil.rmtree(folder)
    (OUT / "peers.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
