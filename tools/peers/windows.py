#!/usr/bin/env python3
"""Writes testdata/windows/{rolling,strided,half-window,paper}.toml: the windows that other programs make.

Run by hand:  pip install lm_eval==0.4.13 && python tools/peers/windows.py
* rolling      lm_eval 0.4.13 itself: get_rolling_token_windows, make_disjoint_window, and the truncation to
               max_length + 1 tokens of its HFLM._loglikelihood_tokens.
* strided      the loop of "Perplexity of fixed-length models" (huggingface/transformers, docs/source/en/perplexity.md,
               commit 052b1dc), with lists in the place of tensors and the label shift of the loss written out.
* half-window  perplexity() of ggml-org/llama.cpp, tools/perplexity/perplexity.cpp, commit 050fc7f, its index arithmetic
               alone.
* paper        the mask of the rank law's released code: input and label both real and neither special.

A text of n tokens is the list 0..n-1, the prefix is -1, so a window can be read off what a program feeds.
"""

import pathlib
from importlib.metadata import version

from lm_eval.utils import get_rolling_token_windows, make_disjoint_window

OUT = pathlib.Path(__file__).resolve().parents[2] / "testdata" / "windows"
PREFIX = -1


def window(fed, scored):
    """A window as our records have it, from the fed tokens and the scored ones."""
    prefix = bool(fed) and fed[0] == PREFIX
    own = fed[1:] if prefix else fed
    assert own == list(range(own[0], own[0] + len(own))) if own else True
    start = own[0] if own else 0
    return {"prefix": prefix, "start": start, "end": start + len(own), "scored": scored}


def rolling(n, length):
    windows = []
    for pair in get_rolling_token_windows(list(range(n)), PREFIX, length, 1):
        context, continuation = make_disjoint_window(pair)
        fed = (context + continuation)[-(length + 1):]
        windows.append(window(fed, continuation))
    return windows


def strided(n, max_length, stride, with_prefix):
    sequence = ([PREFIX] if with_prefix else []) + list(range(n))
    seq_len = len(sequence)
    windows = []
    prev_end_loc = 0
    for begin_loc in range(0, seq_len, stride):
        end_loc = min(begin_loc + max_length, seq_len)
        trg_len = end_loc - prev_end_loc
        input_ids = sequence[begin_loc:end_loc]
        target_ids = list(input_ids)
        target_ids[:-trg_len] = [None] * len(target_ids[:-trg_len])
        # The loss compares the logits at i with the label at i + 1.
        scored = [t for t in target_ids[1:] if t is not None]
        num_valid_tokens = sum(t is not None for t in target_ids)
        one = window(input_ids, scored)
        one["weight"] = num_valid_tokens - 1
        if scored:
            windows.append(one)
        prev_end_loc = end_loc
        if end_loc == seq_len:
            break
    return windows


def half_window(n, n_ctx, add_bos):
    tokens = ([PREFIX] if add_bos else []) + list(range(n))
    if len(tokens) < 2 * n_ctx:
        return None
    first = n_ctx // 2
    windows = []
    for i in range(len(tokens) // n_ctx):
        start = i * n_ctx
        chunk = tokens[start:start + n_ctx]
        if add_bos:
            chunk[0] = PREFIX
        # process_logits(logits + first, tokens + start + first, n_ctx - 1 - first): logit i against token i + 1.
        scored = [tokens[start + first + j + 1] for j in range(n_ctx - 1 - first)]
        windows.append(window(chunk, scored))
    return windows


def paper(n, seq_len, with_prefix, specials):
    special = set(specials) | {PREFIX}
    sequence = (([PREFIX] if with_prefix else []) + list(range(n)))[:seq_len]
    scored = [label for given, label in zip(sequence, sequence[1:]) if given not in special and label not in special]
    return [window(sequence, scored)] if scored else []


def text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(text(v) for v in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {text(v)}" for k, v in value.items()) + " }"
    return str(value)


def write(protocol, source, cases):
    lines = [f"# Written by tools/peers/windows.py; source: {source}", f'protocol = "{protocol}"', ""]
    for case in cases:
        lines.append("[[case]]")
        for key, value in case.items():
            if key == "windows" and value is not None:
                lines += ["windows = ["] + [f"  {text(w)}," for w in value] + ["]"]
            elif key == "windows":
                lines.append("too_short = true")
            elif value is not None:
                lines.append(f"{key} = {text(value)}")
        lines.append("")
    (OUT / f"{protocol}.toml").write_text("\n".join(lines))


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    lengths = [1, 2, 3, 4, 5, 8, 13]
    sizes = [0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 21, 26]
    write("rolling", f"lm_eval {version('lm_eval')}", [
        {"tokens": n, "length": length, "prefix": True, "windows": rolling(n, length)}
        for length in lengths for n in sizes
    ])
    write("strided", "transformers, perplexity guide, commit 052b1dc", [
        {"tokens": n, "length": length, "stride": stride, "prefix": prefix,
         "windows": strided(n, length, stride, prefix)}
        for length, stride in [(2, 1), (2, 2), (4, 1), (4, 2), (4, 3), (4, 4), (8, 3), (8, 5), (8, 8)]
        for n in [0, 1, 2, 3, 4, 5, 8, 9, 17] for prefix in [False, True]
    ])
    write("half-window", "llama.cpp, perplexity.cpp, commit 050fc7f", [
        {"tokens": n, "length": length, "prefix": prefix, "windows": half_window(n, length, prefix)}
        for length in [3, 4, 5, 8] for n in [0, 5, 6, 7, 8, 10, 15, 16, 24, 33] for prefix in [False, True]
    ])
    write("paper", "arXiv 2510.20387, released code", [
        {"tokens": n, "length": length, "prefix": prefix, "specials": specials,
         "windows": paper(n, length, prefix, specials)}
        for length in [2, 5, 8] for n in [0, 1, 2, 5, 9] for prefix in [False, True] for specials in [[], [0], [2, 3]]
    ])


if __name__ == "__main__":
    main()
