"""Tokens a second of the `tokenizers` package on the documents of a file, as Python programs use it: `encode_batch`, all threads.

    python tools/peers/tokenise.py FOLDER FILE [--batch 1000] [--fast] [--threads 2] [--read datasets] [--only-read]

FOLDER has tokenizer.json, or vocab.json and merges.txt of GPT-2's kind. A document is a line of a text, or the field `text` of a
row: of JSONL, plain or compressed (.gz, .zst), and of Parquet. `--read datasets` streams rows by Hugging Face's package, `--read plain` by `json` with
`gzip` or `pyarrow`'s zstd, or by `pyarrow`; `--only-read` stops there. Ids are kept, nothing else. Beside it stands
`cargo bench -p relscale-measure --bench read -- FOLDER FILE` (of lines `FILE?split=lines`), which also hashes the text, checks it, and gives each
token its source bytes. `--fast` leaves out offsets (`encode_batch_fast`), without which Python has no such bytes.
"""

import argparse
import gzip
import io
import json
import os
import re
import time
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("folder", type=Path)
parser.add_argument("file", type=Path)
parser.add_argument("--batch", type=int, default=1000)
parser.add_argument("--fast", action="store_true")
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--read", choices=["datasets", "plain"], default="datasets")
parser.add_argument("--only-read", action="store_true")
args = parser.parse_args()
os.environ["RAYON_NUM_THREADS"] = str(args.threads)
os.environ["TOKENIZERS_PARALLELISM"] = "true"
os.environ["HF_HUB_OFFLINE"] = "1"

import pyarrow  # noqa: E402
import pyarrow.parquet  # noqa: E402
import tokenizers  # noqa: E402  (reads the environment when it first encodes)
from tokenizers import Tokenizer, models, pre_tokenizers  # noqa: E402

kind = {".jsonl": "json", ".parquet": "parquet"}.get(Path(re.sub(r"\.(gz|zst)$", "", args.file.name)).suffix, "text")
if kind != "text" and args.read == "datasets":
    import datasets


def pyarrow_zstd(path, _mode):
    return io.BufferedReader(pyarrow.input_stream(path, compression="zstd"), 1 << 16)


def documents():
    """The texts, one by one."""
    if kind == "text":
        with args.file.open(encoding="utf-8", newline="") as text:
            for line in text:
                yield line.rstrip("\r\n")
    elif args.read == "datasets":
        for row in datasets.load_dataset(kind, data_files=str(args.file), split="train", streaming=True):
            yield row["text"]
    elif kind == "parquet":
        for batch in pyarrow.parquet.ParquetFile(args.file).iter_batches(columns=["text"], batch_size=256):
            yield from batch.column(0).to_pylist()
    else:
        opened = {".gz": gzip.open, ".zst": pyarrow_zstd}.get(args.file.suffix, open)(args.file, "rb")
        with opened as lines:
            for line in lines:
                yield json.loads(line)["text"]


if (args.folder / "tokenizer.json").is_file():
    tokenizer = Tokenizer.from_file(str(args.folder / "tokenizer.json"))
else:
    files = (str(args.folder / name) for name in ("vocab.json", "merges.txt"))
    tokenizer = Tokenizer(models.BPE.from_file(*files))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
encode = tokenizer.encode_batch_fast if args.fast else tokenizer.encode_batch

start, busy, size, count, kept, tokens, batch = time.perf_counter(), time.process_time(), 0, 0, [], 0, []


def flush():
    global tokens
    for encoding in encode(batch, add_special_tokens=False):
        kept.append(encoding.ids)
        tokens += len(kept[-1])
    batch.clear()


for document in documents():
    size += len(document.encode())
    count += 1
    if args.only_read:
        continue
    batch.append(document)
    if len(batch) == args.batch:
        flush()
if batch:
    flush()
seconds, busy = time.perf_counter() - start, time.process_time() - busy
peak = int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) / 1e3
print(
    f"tokenizers {tokenizers.__version__}: {count} documents, {size / 1e6:.1f} MB, {tokens} tokens: {seconds:.2f} s "
    f"({busy:.2f} s of processors), {size / 1e6 / seconds:.1f} MB/s, {tokens / seconds:.0f} tokens/s, {peak:.0f} MB at most"
)
