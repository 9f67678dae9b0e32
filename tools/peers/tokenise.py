"""Tokens a second of the `tokenizers` package on the lines of a text, as Python programs use it: `encode_batch`, all threads.

    python tools/peers/tokenise.py FOLDER TEXT [--batch 1000] [--fast] [--threads 2]

FOLDER has tokenizer.json, or vocab.json and merges.txt of GPT-2's kind. Ids are kept, nothing else. Beside it stands
`cargo bench -p relscale-measure --bench read -- FOLDER TEXT?split=lines`, which also hashes the text, checks it, and gives each
token its source bytes. `--fast` leaves out offsets (`encode_batch_fast`), without which Python has no such bytes.
"""

import argparse
import os
import re
import time
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("folder", type=Path)
parser.add_argument("text", type=Path)
parser.add_argument("--batch", type=int, default=1000)
parser.add_argument("--fast", action="store_true")
parser.add_argument("--threads", type=int, default=2)
args = parser.parse_args()
os.environ["RAYON_NUM_THREADS"] = str(args.threads)
os.environ["TOKENIZERS_PARALLELISM"] = "true"

import tokenizers  # noqa: E402  (reads the environment when it first encodes)
from tokenizers import Tokenizer, models, pre_tokenizers  # noqa: E402

if (args.folder / "tokenizer.json").is_file():
    tokenizer = Tokenizer.from_file(str(args.folder / "tokenizer.json"))
else:
    files = (str(args.folder / name) for name in ("vocab.json", "merges.txt"))
    tokenizer = Tokenizer(models.BPE.from_file(*files))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
encode = tokenizer.encode_batch_fast if args.fast else tokenizer.encode_batch

start, busy, size, kept, tokens = time.perf_counter(), time.process_time(), 0, [], 0
with args.text.open(encoding="utf-8", newline="") as text:
    batch = []

    def flush():
        global tokens
        for encoding in encode(batch, add_special_tokens=False):
            kept.append(encoding.ids)
            tokens += len(kept[-1])
        batch.clear()

    for line in text:
        size += len(line.encode())
        batch.append(line.rstrip("\r\n"))
        if len(batch) == args.batch:
            flush()
    flush()
seconds, busy = time.perf_counter() - start, time.process_time() - busy
peak = int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) / 1e3
print(
    f"tokenizers {tokenizers.__version__}: {len(kept)} lines, {size / 1e6:.1f} MB, {tokens} tokens: {seconds:.2f} s "
    f"({busy:.2f} s of processors), {size / 1e6 / seconds:.1f} MB/s, {tokens / seconds:.0f} tokens/s, {peak:.0f} MB at most"
)
