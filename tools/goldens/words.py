"""Words, their hits and spans by another program: `crates/corpus/tests/data/words.json`.

Four tokenizers (byte-level BPE; the same cutting across spaces; BPE in the manner of SentencePiece, with
bytes for what it lacks; WordPiece) are trained by Hugging Face's tokenizers on the texts below, which have
white space of one to three bytes, code, and characters that are cut into pieces. Ranks come from a
generator; some positions have no score. Words are what Python's `\\S+` finds in the text;
which tokens hold a letter of a word follows from the tokenizer's offsets. No vocabulary is looked at.

Needs tokenizers 0.22 (any version with these trainers does).
"""

import json
import re
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

OUT = Path(__file__).resolve().parents[2] / "crates/corpus/tests/data/words.json"
K = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
SPAN_K, SPAN_WORDS = [1, 10, 100], [2, 4, 8, 16, 32]

TEXTS = [
    "The rank of the right token is one of the best things that one can know of a language model. "
    "One of the questions of the day is how much of it one can know of the models that nobody has made: "
    "the rank, of all things, is what one of the laws of the day is about.",
    "fn main() {\n\tlet words: Vec<&str> = text.split_whitespace().collect();\r\n"
    "    println!(\"{} of {}\", words.len(), text.len()); // of the text\n}\n",
    "吾輩は猫である。\u3000名前はまだ無い。\u3000どこで生れたかとんと見当がつかぬ。\n何でも薄暗いじめじめした所で",
    "Prix\u00a0: 10\u202f000 € — déjà vu, naïve\u2028café; e\u0301te\u0301 🦀🦀 żółw\tłoś  ",
    " leading and trailing \n\n",
    "one",
]


def numbers(seed):
    state = seed
    while True:
        state = (state * 1_664_525 + 1_013_904_223) % 2**32
        yield state >> 8


def tokenizers():
    corpus = TEXTS[:2] * 3
    byte_level = Tokenizer(models.BPE())
    byte_level.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    byte_level.decoder = decoders.ByteLevel()
    across = Tokenizer(models.BPE())
    across.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    across.decoder = decoders.ByteLevel()
    for tokenizer in (byte_level, across):
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(vocab_size=380, initial_alphabet=alphabet, special_tokens=["<|end|>"])
        tokenizer.train_from_iterator(corpus, trainer)
    sentencepiece = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True))
    sentencepiece.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    specials = ["<unk>", "<s>", "</s>"]
    fallback = [f"<0x{byte:02X}>" for byte in range(256)]
    letters = sorted(set("".join(corpus)) - set("\n\t\r "))
    # The trainer learns from whole texts, so that tokens cross spaces as those of Gemma do not; cut them.
    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizers.Metaspace()
    learner.train_from_iterator(corpus, trainers.BpeTrainer(vocab_size=120, initial_alphabet=letters))
    learned = json.loads(learner.to_str())["model"]
    vocabulary = specials + fallback + sorted(learned["vocab"], key=learned["vocab"].get)
    vocabulary = {token: at for at, token in enumerate(dict.fromkeys(vocabulary))}
    merges = [tuple(merge) for merge in learned["merges"]]
    sentencepiece.model = models.BPE(vocab=vocabulary, merges=merges, unk_token="<unk>", byte_fallback=True)
    sentencepiece.add_special_tokens(specials)
    wordpiece = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    wordpiece.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    # Whole words are rare in so small a vocabulary, and a letter of any text must be there twice.
    every = sorted(set("".join(TEXTS)) - set(" \n\t\r\u3000\u00a0\u202f\u2028"))
    trainer = trainers.WordPieceTrainer(vocab_size=420, special_tokens=["[UNK]"], initial_alphabet=every)
    wordpiece.train_from_iterator([*corpus, " ".join("a" + letter for letter in every)], trainer)
    return {"byte-level": byte_level, "across-spaces": across, "sentencepiece": sentencepiece, "wordpiece": wordpiece}


def count(text, encoding, ranks):
    """What the rows of a document count; a rank is None where there is no finite score."""
    # The space that SentencePiece puts before a text stands for nothing, and holds no letter.
    nothing = [at == 0 and token == "▁" for at, token in enumerate(encoding.tokens)]
    holds = [(0, 0) if none else tuple(offset) for offset, none in zip(encoding.offsets, nothing)]

    def over(start, end):
        held = [rank for rank, (a, b) in zip(ranks, holds) if a < end and b > start]
        return held if held and all(rank is not None for rank in held) else None

    words = [match.span() for match in re.finditer(r"\S+", text)]
    known = [max(held) for held in (over(*word) for word in words) if held]
    spans = []
    for n in SPAN_WORDS:
        stretches = [over(words[at][0], words[at + n - 1][1]) for at in range(len(words) - n + 1)]
        spans.append([max(held) for held in stretches if held])
    return {
        "words": len(known),
        "left_out": len(words) - len(known),
        "hits": [sum(rank <= k for rank in known) for k in K],
        "spans": [len(span) for span in spans],
        "span_hits": [[sum(rank <= k for rank in span) for span in spans] for k in SPAN_K],
    }


def main():
    cases = []
    for name, tokenizer in tokenizers().items():
        documents = []
        for at, text in enumerate(TEXTS):
            encoding = tokenizer.encode(text, add_special_tokens=False)
            drawn = numbers(7 * at + 1)
            ranks = [1 + next(drawn) % 3 * (next(drawn) % 80) for _ in encoding.ids]
            # In every second document some positions have no finite score.
            if at % 2 == 1:
                ranks = [None if next(drawn) % 9 == 0 else rank for rank in ranks]
            documents.append({"text": text, "ids": encoding.ids, "ranks": ranks, "count": count(text, encoding, ranks)})
        # The same words, whoever cuts the text.
        cases.append({"name": name, "tokenizer": json.loads(tokenizer.to_str()), "documents": documents})
    for document in zip(*(case["documents"] for case in cases)):
        totals = {one["count"]["words"] + one["count"]["left_out"] for one in document}
        assert len(totals) == 1, totals
    OUT.write_text(json.dumps({"k": K, "cases": cases}, ensure_ascii=True, separators=(",", ":")) + "\n")
    print(OUT, OUT.stat().st_size)


main()
