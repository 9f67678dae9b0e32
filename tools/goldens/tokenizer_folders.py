"""Writes crates/corpus/tests/data/tokenizer_folders.json: tokenizer folders of every shape, and what transformers makes of them.

    python tools/goldens/tokenizer_folders.py > crates/corpus/tests/data/tokenizer_folders.json
    python tools/goldens/tokenizer_folders.py --compare OTHER.json    # the same by another version: what differs

A case is a set of small files beside one of three vocabularies (`vocab.json` + `merges.txt`, or a `tokenizer.json` made of
them). Expected are the ids of each text without what the tokenizer adds by itself, what it adds before and after, the ids of
the roles, and all special ids; or null, where AutoTokenizer fails.
"""

import contextlib
import io
import json
import sys
import tempfile
from pathlib import Path

import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, decoders, trainers
from transformers import AutoTokenizer

TEXT = """The rank of the right token, again and again: it's what they'll count, and we've counted 1234567 of them.
    def rank(x):\n\treturn x  # two  spaces\n\n\nThe caf\u00e9 wasn't open; na\u00efve M\u00fcnchen \u4eac \u2014 'LL 'S IT'S we'RE.
The tokens [PAD] and [SEP] and <|im_start|> of a text are words.  Tokens!!\r\n\r\nEnd   of it."""

TEXTS = [
    "IT'S the 1234567th token -- we'LL see\r\n\r\n  again",
    "cafe\u0301 na\u00efve\t\tMu\u0308nchen \u4eac\u2014x",
    "a[SEP]b [PAD] c<|im_start|>d <|im_end|> e<|endoftext|>f </s> g<mark> h",
    "  <mark>  x [X]y <s>z",
    "word\n\n\nword 12 345",
]


def train():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(vocab_size=330, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    tokenizer.train_from_iterator([TEXT] * 3, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    merges = [" ".join(m) if isinstance(m, list) else m for m in model["merges"]]
    return model["vocab"], merges


def vocabularies():
    plain, merges = train()
    gpt2 = {"<|endoftext|>": 0, **{token: i + 1 for token, i in plain.items()}}
    opt = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, **{token: i + 4 for token, i in plain.items()}}
    return {"gpt2": gpt2, "plain": plain, "opt": opt}, merges


def json_of(vocab, merges, added=(), processor=None, space=False):
    """A tokenizer.json with GPT-2's pattern."""
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[tuple(m.split(" ")) for m in merges]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=space)
    tokenizer.decoder = decoders.ByteLevel()
    out = json.loads(tokenizer.to_str())
    out["added_tokens"] = list(added)
    out["post_processor"] = processor
    return out


def token(content, id=None, special=True, **over):
    out = {"content": content, "lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": special, **over}
    return out if id is None else {"id": id, **out}


def template(bos, id):
    single = [{"SpecialToken": {"id": bos, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    return {"type": "TemplateProcessing", "single": single, "pair": [*single, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {bos: {"id": bos, "ids": [id], "tokens": [bos]}}}


def cases():
    """name: (vocabulary, {file: content}); `json` in place of the vocabulary's files: a tokenizer.json."""
    vocabs, merges = vocabularies()
    n = {name: len(vocab) for name, vocab in vocabs.items()}
    T, S, A, C = "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "config.json"
    im = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    decoder = lambda vocab, *tokens: {str(n[vocab] + i): t for i, t in enumerate(tokens)}
    word = max((t for t in vocabs["gpt2"] if t.isascii() and t.isalpha()), key=len)
    model = lambda kind, **over: {C: {"model_type": kind, **over}}
    out = {
        # vocab.json + merges.txt
        "gpt2 by model_type": ("gpt2", model("gpt2")),
        "gpt_neo by model_type": ("gpt2", model("gpt_neo")),
        "gpt2 by class": ("gpt2", {**model("qwen2"), T: {"tokenizer_class": "GPT2Tokenizer"}}),
        "gpt2 by fast class": ("gpt2", {T: {"tokenizer_class": "GPT2TokenizerFast"}}),
        "gpt2 by class in config.json": ("gpt2", model("qwen2", tokenizer_class="GPT2Tokenizer")),
        "class of tokenizer_config over config.json": ("plain", {**model("gpt2", tokenizer_class="GPT2Tokenizer"), T: {"tokenizer_class": "Qwen2Tokenizer"}}),
        "gpt2 without its own special token": ("plain", model("gpt2")),
        "gpt2, roles beyond the vocabulary": ("gpt2", {**model("gpt2"), A: {"[SEP]": n["gpt2"], "[PAD]": n["gpt2"] + 1}, T: {"tokenizer_class": "GPT2Tokenizer"},
            S: {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>", "unk_token": "<|endoftext|>", "pad_token": "[PAD]", "sep_token": "[SEP]"}}),
        "gpt2, roles in the other order": ("gpt2", {**model("gpt2"), A: {"[PAD]": n["gpt2"], "[SEP]": n["gpt2"] + 1},
            S: {"pad_token": "[PAD]", "sep_token": {"content": "[SEP]", "lstrip": True, "rstrip": False, "normalized": False, "single_word": False}}}),
        "gpt2, roles without ids": ("gpt2", {**model("gpt2"), S: {"pad_token": "[PAD]", "sep_token": "[SEP]", "mask_token": "[X]"}}),
        "gpt2, roles in tokenizer_config": ("gpt2", {**model("gpt2"), T: {"pad_token": "[PAD]", "bos_token": "<s>", "eos_token": None}}),
        "gpt2, both files name a role": ("gpt2", {**model("gpt2"), T: {"pad_token": "[PAD]"}, S: {"pad_token": "[X]"}}),
        "gpt2, both files and a decoder": ("gpt2", {**model("gpt2"), T: {"pad_token": "[PAD]", "added_tokens_decoder": decoder("gpt2", token("[PAD]"))}, S: {"pad_token": "[X]"}}),
        "gpt2, words added": ("gpt2", {**model("gpt2"), A: {"<mark>": n["gpt2"], "[X]": n["gpt2"] + 1}}),
        "gpt2, a decoder with its flags": ("gpt2", {**model("gpt2"), T: {"added_tokens_decoder": decoder("gpt2", token("<mark>", special=False, lstrip=True, rstrip=True), token("[X]", single_word=True), token("[SEP]", normalized=True))}}),
        "gpt2, a decoder beside added_tokens.json": ("gpt2", {**model("gpt2"), A: {"[X]": n["gpt2"]}, T: {"added_tokens_decoder": decoder("gpt2", token("<mark>"))}}),
        "gpt2, an added token of the vocabulary": ("gpt2", {**model("gpt2"), A: {word: vocabs["gpt2"][word]}}),
        "gpt2, additional specials": ("gpt2", {**model("gpt2"), S: {"additional_special_tokens": ["<mark>", token("[X]")]}}),
        "gpt2, additional specials in tokenizer_config": ("gpt2", {**model("gpt2"), T: {"additional_special_tokens": ["<mark>", "[X]"]}}),
        "gpt2, a space before": ("gpt2", {**model("gpt2"), T: {"add_prefix_space": True}}),
        "gpt2, begins by itself": ("gpt2", {**model("gpt2"), T: {"add_bos_token": True}}),
        "gpt2, unknown is another": ("gpt2", {**model("gpt2"), T: {"unk_token": "<unk>"}}),
        "qwen2, merges without a version": ("plain", {**model("qwen2"), "merges.txt": "no version"}),
        "qwen2, merges without a last newline": ("plain", {**model("qwen2"), "merges.txt": "no newline"}),
        "opt": ("opt", {**model("opt"), T: {"tokenizer_class": "GPT2Tokenizer", "add_bos_token": True, "bos_token": {"__type": "AddedToken", **token("</s>")}, "eos_token": "</s>", "unk_token": "</s>", "pad_token": "<pad>"}}),
        "opt, as its map": ("opt", {**model("opt"), S: {"bos_token": "</s>", "eos_token": "</s>", "unk_token": "</s>", "pad_token": "<pad>"}}),
        "opt by model_type": ("opt", model("opt")),
        "qwen2 by model_type": ("plain", model("qwen2")),
        "qwen3 by model_type": ("plain", model("qwen3")),
        "qwen2 by class": ("plain", {**model("gpt2"), T: {"tokenizer_class": "Qwen2TokenizerFast"}}),
        "qwen2 as published": ("plain", {**model("qwen2"), A: {t: n["plain"] + i for i, t in enumerate(im)}, T: {"tokenizer_class": "Qwen2Tokenizer", "eos_token": "<|endoftext|>", "pad_token": "<|endoftext|>", "bos_token": None, "unk_token": None, "errors": "replace", "added_tokens_decoder": decoder("plain", *map(token, im))}}),
        "qwen2 by added_tokens": ("plain", {**model("qwen2"), A: {t: n["plain"] + i for i, t in enumerate(im)}, S: {"eos_token": "<|im_end|>", "additional_special_tokens": ["<|im_start|>"]}}),
        "qwen2, a space before": ("plain", {**model("qwen2"), T: {"add_prefix_space": True}}),
        "qwen2, begins by itself": ("plain", {**model("qwen2"), T: {"add_bos_token": True, "bos_token": "<|im_start|>"}}),
        "llama by class": ("plain", {**model("llama"), T: {"tokenizer_class": "LlamaTokenizer"}}),
        "llama by model_type": ("plain", model("llama")),
        "olmo3 by model_type": ("gpt2", model("olmo3")),
        "phi by model_type": ("gpt2", model("phi")),
        "granite by model_type": ("gpt2", model("granite")),
        "gemma by model_type": ("plain", model("gemma")),
        "bloom by model_type": ("plain", model("bloom")),
        "olmo by model_type": ("plain", model("olmo")),
        "neox by model_type": ("plain", model("gpt_neox")),
        "fast without a class": ("plain", {**model("gpt2"), T: {"tokenizer_class": "PreTrainedTokenizerFast"}}),
        # tokenizer.json
        "json, a role that it lacks": ("json plain", {**model("llama"), T: {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "[PAD]"}}),
        "json, a decoder with more": ("json plain", {**model("qwen2"), T: {"tokenizer_class": "Qwen2Tokenizer", "added_tokens_decoder": decoder("plain", *map(token, im))}}),
        "json, added_tokens.json with more": ("json gpt2", {**model("gpt2"), A: {"<mark>": n["gpt2"]}}),
        "json, a decoder with other flags": ("json bos", {**model("llama"), T: {"tokenizer_class": "PreTrainedTokenizerFast", "added_tokens_decoder": {str(n["plain"] + 2): token("<mark>", special=False, lstrip=True, rstrip=True)}}}),
        "json, its map overrules": ("json bos", {**model("llama"), T: {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>"}, S: {"bos_token": "</s>"}}),
        "json, roles of gpt2 by default": ("json gpt2", {**model("gpt2"), T: {"tokenizer_class": "GPT2Tokenizer"}}),
        "json, roles by model_type": ("json gpt2", model("gpt_neox")),
        "json, olmo by model_type": ("json gpt2", model("olmo")),
        "json, mamba, a flag": ("json gpt2", {**model("mamba"), T: {"add_bos_token": True}}),
        "json, olmo3 by model_type": ("json gpt2", {**model("olmo3"), T: {"pad_token": "[PAD]"}}),
        "json, starcoder2 by model_type": ("json gpt2", {**model("starcoder2"), T: {"add_bos_token": True}}),
        "json, phi by model_type": ("json gpt2", model("phi")),
        "json, phi3, llama's flag": ("json bos", {**model("phi3"), T: {"unk_token": None, "add_bos_token": True}}),
        "json, gemma's roles and flag": ("json bos", {**model("gemma"), T: {"tokenizer_class": "GemmaTokenizer"}}),
        "json, gemma by model_type, its flag off": ("json template", {**model("gemma2"), T: {"bos_token": "<s>", "eos_token": "</s>", "unk_token": None, "pad_token": None, "add_bos_token": False}}),
        "json, bloom's roles": ("json bos", {**model("bloom"), T: {"unk_token": None, "pad_token": None, "add_bos_token": True}}),
        "json, falcon by model_type": ("json bos", {**model("falcon"), T: {"bos_token": "<s>", "add_bos_token": True}}),
        "json, roles of llama by default": ("json bos", {**model("llama"), T: {"tokenizer_class": "LlamaTokenizerFast"}}),
        "json, llama's flag": ("json bos", {**model("llama"), T: {"tokenizer_class": "LlamaTokenizerFast", "bos_token": "<s>", "eos_token": "</s>", "add_bos_token": True, "add_eos_token": False}}),
        "json, llama's flag off": ("json bos", {**model("llama"), T: {"tokenizer_class": "LlamaTokenizerFast", "bos_token": "<s>", "eos_token": "</s>", "add_bos_token": False}}),
        "json, llama's end flag": ("json bos", {**model("llama"), T: {"tokenizer_class": "LlamaTokenizerFast", "bos_token": "<s>", "eos_token": "</s>", "add_bos_token": True, "add_eos_token": True}}),
        "json, a flag of no class": ("json bos", {**model("llama"), T: {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "add_bos_token": True}}),
        "json, a template and a flag off": ("json template", {**model("llama"), T: {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "add_bos_token": False}}),
        "json, a template and no flag": ("json template", {**model("llama"), T: {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>"}}),
        "json, a template, llama's class, no flag": ("json template", {**model("llama"), T: {"tokenizer_class": "LlamaTokenizerFast", "bos_token": "<s>", "eos_token": "</s>"}}),
        "json, a flag for gpt2": ("json gpt2", {**model("gpt2"), T: {"tokenizer_class": "GPT2TokenizerFast", "add_bos_token": True}}),
        "json, a flag for qwen2": ("json bos", {**model("qwen2"), T: {"tokenizer_class": "Qwen2Tokenizer", "bos_token": "<s>", "add_bos_token": True}}),
        "json, a flag for neox": ("json gpt2", {**model("gpt_neox"), T: {"tokenizer_class": "GPTNeoXTokenizer", "add_bos_token": True}}),
        "json, a space before": ("json gpt2", {**model("gpt2"), T: {"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": True}}),
        "json with a space before, no flag": ("json spaced", {**model("gpt2"), T: {"tokenizer_class": "GPT2Tokenizer"}}),
        "json with a space before, a flag": ("json spaced", {**model("gpt2"), T: {"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": True}}),
        "json with a space before, no class": ("json spaced", {**model("llama"), T: {"tokenizer_class": "PreTrainedTokenizerFast"}}),
        "json with a space before, nothing else": ("json spaced", model("gpt_neox")),
        "json, specials with and without a role": ("json bos", {**model("llama"), T: {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "</s>"}}),
    }
    tables = {
        "json plain": json_of(vocabs["plain"], merges),
        "json gpt2": json_of(vocabs["gpt2"], merges, [token("<|endoftext|>", 0)]),
        "json spaced": json_of(vocabs["gpt2"], merges, [token("<|endoftext|>", 0)], space=True),
        "json bos": json_of(vocabs["plain"], merges, [token("<s>", n["plain"]), token("</s>", n["plain"] + 1), token("<mark>", n["plain"] + 2)]),
        "json template": json_of(vocabs["plain"], merges, [token("<s>", n["plain"]), token("</s>", n["plain"] + 1)], template("<s>", n["plain"])),
    }
    return vocabs, merges, tables, out


def expected(folder):
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            tokenizer = AutoTokenizer.from_pretrained(folder)
    except Exception as error:  # whatever it is: the reference has no tokenizer here
        print(f"  fails: {type(error).__name__}: {str(error).splitlines()[0][:100]}", file=sys.stderr)
        return None
    encode = lambda text, special: tokenizer(text, add_special_tokens=special)["input_ids"]
    plain, full = encode("a", False), encode("a", True)
    at = next((i for i in range(len(full)) if full[i : i + len(plain)] == plain), len(full))
    roles = {role: getattr(tokenizer, f"{role}_token_id", None) for role in ("bos", "eos", "unk", "pad")}
    return dict(ids=[encode(text, False) for text in TEXTS], before=full[:at], after=full[at + len(plain) :],
                roles=roles, special=sorted(set(tokenizer.all_special_ids)))


def main():
    vocabs, merges, tables, all_cases = cases()
    written = []
    for name, (vocabulary, files) in all_cases.items():
        print(name, file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            if vocabulary in tables:
                (folder / "tokenizer.json").write_text(json.dumps(tables[vocabulary]))
            else:
                (folder / "vocab.json").write_text(json.dumps(vocabs[vocabulary]))
                (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n")
            for file, content in files.items():
                if file == "merges.txt":  # the same merges, written another way
                    lines = ([] if content == "no version" else ["#version: 0.2"]) + merges
                    (folder / file).write_text("\n".join(lines) + ("" if content == "no newline" else "\n"))
                    continue
                (folder / file).write_text(json.dumps(content))
            written.append(dict(name=name, vocabulary=vocabulary, files=files, expected=expected(folder)))
    head = dict(generator="tools/goldens/tokenizer_folders.py", transformers=transformers.__version__, texts=TEXTS)
    result = dict(**head, vocabularies=vocabs, merges=merges, tables=tables, cases=written)
    if len(sys.argv) > 2:
        other = {case["name"]: case["expected"] for case in json.loads(Path(sys.argv[2]).read_text())["cases"]}
        for case in written:
            mine, theirs = case["expected"], other[case["name"]]
            for key in sorted((mine or theirs or {}).keys()):
                a, b = (mine or {}).get(key), (theirs or {}).get(key)
                if a != b:
                    print(f"{case['name']}: {key}: {transformers.__version__} {a}, the other {b}")
        return
    # One case a line: differences are read by people.
    lines = [f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=True)}" for key, value in result.items() if key != "cases"]
    lines.append('"cases": [\n' + ",\n".join(json.dumps(case) for case in written) + "\n]")
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    main()
