"""Runs our scoring and its peers by turns, A B A B, on the same models, and prints ratios of tokens a second.

    cargo bench -p relscale-decoder --bench score --no-run          # says where the program is
    python tools/peers/bench_peers.py --ours target/release/deps/score-XXXX --model gpt2=GPT2 --model qwen=QWEN \
        [--windows 1x1024 --windows 4x512] [--dtype f32 --dtype bf16] [--peer eager --peer compiled --peer authors] \
        [--rounds 5] [--threads 2] [--isa avx2] [--out FILE.json]

Models are folders as `random_model.py` writes them. Each peer is one process that loads the model once and then waits, so
that a round is: our program (one warm-up, then --repeats timed calls, of which it prints the median), then one timed call of
the peer, then ours again, and so on; only one of the two works at a time. A ratio is ours over the peer's of the same round.
All score the same work: every token of every window but the first: rank, nll and entropy.

Peers:

  eager     transformers + torch: logits, (logits >= target).sum(-1), logsumexp, entropy
  compiled  the same under torch.compile
  authors   as the rank law's authors do it: softmax over all logits, top-k of it for each k of their grid, and a loop in
            Python over the tokens that asks whether the right one is in it, and its rank by comparison; float32 only

Each row has the processor, the kernels that ours took, ours and its share of the processor's own limit in GFLOP/s (multiply-adds
without memory, in the same program; none where the kernels are not by hand), and what torch says of itself: its CPU capability,
and whether oneDNN would take AMX tiles.

`--isa avx2` holds both sides to AVX2: ours by `--kernels avx2` of the bench (a run by other kernels is refused); torch by
ATEN_CPU_CAPABILITY, ONEDNN_MAX_CPU_ISA and MKL_ENABLE_INSTRUCTIONS. What torch.compile generates is held to it in its own vector
code; the C++ compiler is still told `-march=native`.

Memory is the peak of the resident set since the process began (VmHWM), loading included; that of the peer when it has done
its first call.
"""

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

DTYPES = {"f32": "float32", "bf16": "bfloat16"}
PEERS = ["eager", "compiled", "authors"]
# Default grid of the published code.
AUTHORS_K = [1, 10, 100, 1000, 10000]
# What holds each library of a peer to an instruction set.
ISA = {
    "avx2": {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"},
}


def vm_hwm():
    """Peak resident set of this process, MB."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1e3


# --- a peer, in its own process: `bench_peers.py --serve PEER ...` ---------------------------------------------------------


def ids_of(rows, windows, length):
    """The ids of the bench: multiples of Knuth's constant modulo the rows of the head."""
    import torch

    return torch.tensor([i * 2_654_435_761 % rows for i in range(windows * length)]).view(windows, length)


def plain(model, windows):
    """rank (>=), nll and entropy of every token of windows [B, T] but the first of each."""
    logits = model(windows, use_cache=False).logits[:, :-1].float()
    z = logits.gather(-1, windows[:, 1:, None])
    rank = (logits >= z).sum(-1)
    total = logits.logsumexp(-1, keepdim=True)
    p = (logits - total).exp()
    # H = ln Z - sum p z
    entropy = total[..., 0] - (p * logits).sum(-1)
    return rank, (total - z)[..., 0], entropy


def authors(model, windows):
    """Membership in the top-k of the softmax, token by token; then the rank by comparison, as their code stores it."""
    import torch

    hits = {k: 0 for k in AUTHORS_K}
    ranks, nlls = [], []
    for window in windows:
        logits = model(window[None], use_cache=False).logits[0, :-1].float()
        probabilities = torch.softmax(logits, dim=-1)
        targets = window[1:]
        top = {k: torch.topk(probabilities, min(k, probabilities.shape[-1]), dim=-1).indices for k in AUTHORS_K}
        for position, target in enumerate(targets.tolist()):
            for k in AUTHORS_K:
                hits[k] += bool((top[k][position] == target).any())
            ranks.append(int((logits[position] > logits[position, target]).sum()) + 1)
            nlls.append(-float(torch.log(probabilities[position, target])))
    return hits, ranks, nlls


def capability():
    """What torch says it may use of this processor."""
    import torch

    vectors = torch.backends.cpu.get_cpu_capability()
    # Private, and not in every version.
    asked = getattr(torch.cpu, "_is_amx_tile_supported", None)
    tiles = {None: "unknown", True: "yes", False: "no"}[asked and bool(asked())]
    return f"{vectors}, AMX {tiles}"


def serve(args):
    """Loads the model, makes one call to warm up, then answers each line of standard input with the seconds of one call."""
    import torch
    import transformers
    from transformers import AutoModelForCausalLM

    transformers.logging.set_verbosity_error()
    torch.set_num_threads(args.threads)
    dtype = getattr(torch, DTYPES[args.serve_dtype])
    model = AutoModelForCausalLM.from_pretrained(args.serve_model, dtype=dtype).eval()
    count, length = map(int, args.serve_windows.split("x"))
    windows = ids_of(model.config.vocab_size, count, length)
    score = {"eager": plain, "compiled": torch.compile(plain), "authors": authors}[args.serve]
    with torch.inference_mode():
        score(model, windows)
        versions = f"torch {torch.__version__}, transformers {transformers.__version__}"
        print(f"ready {versions} | {capability()}", flush=True)
        for _ in sys.stdin:
            start = time.perf_counter()
            score(model, windows)
            print(f"{time.perf_counter() - start} {vm_hwm()}", flush=True)


# --- the turns -------------------------------------------------------------------------------------------------------------


class Peer:
    def __init__(self, name, folder, windows, dtype, threads, isa):
        command = [sys.executable, __file__, "--serve", name, "--serve-model", str(folder), "--serve-windows", windows]
        command += ["--serve-dtype", dtype, "--threads", str(threads)]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **ISA.get(isa, {})},
        )
        self.versions, self.capability = self.line().removeprefix("ready ").split(" | ")

    def line(self):
        text = self.process.stdout.readline()
        if not text:
            raise SystemExit(f"a peer ended: {' '.join(self.process.args)}; run this by itself to see why")
        return text.strip()

    def seconds(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        seconds, megabytes = self.line().split()
        return float(seconds), float(megabytes)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


@dataclass
class Ours:
    """One run of our bench."""

    rate: float  # tokens a second, the median of its repeats
    megabytes: float  # peak of the resident set
    processor: str
    kernels: str
    flops: float | None  # GFLOP/s, and the processor's own limit; None where it is not known
    limit: float | None


def ours(program, folder, windows, dtype, threads, repeats, isa):
    count, length = windows.split("x")
    command = [program, str(folder), count, length, str(repeats)] + ([] if dtype == "f32" else ["--dtype", dtype])
    command += ["--kernels", isa] if isa else []
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "RAYON_NUM_THREADS": str(threads)},
    )
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    rate = re.search(r"\((\S+)\), \d+ threads: median (\d+) tokens/s", text)
    if status != 0 or not rate:
        raise SystemExit(f"{' '.join(command)} failed: {process.stderr.read() or text}")
    if isa and rate[1] != isa:
        raise SystemExit(f"{' '.join(command)} ran by {rate[1]}: this processor cannot be held to {isa}")
    on = re.search(r"^on (.*)$", text, re.M)
    limit = re.search(r"(\d+) GFLOP/s of (\d+):", text)
    flops, most = map(float, limit.groups()) if limit else (None, None)
    return Ours(float(rate[2]), usage.ru_maxrss / 1e3, on[1] if on else "unknown", rate[1], flops, most)


def of_limit(runs):
    """Ours in GFLOP/s beside the limit, medians over the rounds."""
    if any(run.limit is None for run in runs):
        return "-"
    flops, most = (statistics.median(getattr(run, name) for run in runs) for name in ("flops", "limit"))
    return f"{flops:.0f} of {most:.0f}: {100 * flops / most:.0f} %"


def spread(values, digits=0):
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def machine():
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    memory = int(re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text())[1]) / 1e6
    return f"{cpu[1] if cpu else platform.processor()}, {os.cpu_count()} cores, {memory:.0f} GB, {platform.system()} {platform.release()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", help="the bench program `score`")
    parser.add_argument("--model", action="append", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--windows", action="append", metavar="COUNTxLENGTH")
    parser.add_argument("--dtype", action="append", choices=DTYPES)
    parser.add_argument("--peer", action="append", choices=PEERS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=3, help="timed calls in one run of ours")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--isa", choices=ISA, help="hold both sides to this instruction set")
    parser.add_argument("--out", type=Path, help="write every single number here (JSON)")
    parser.add_argument("--serve", choices=PEERS, help=argparse.SUPPRESS)
    parser.add_argument("--serve-model", help=argparse.SUPPRESS)
    parser.add_argument("--serve-windows", help=argparse.SUPPRESS)
    parser.add_argument("--serve-dtype", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        return serve(args)
    if not args.ours or not args.model:
        parser.error("--ours and at least one --model are needed")

    print(machine())
    results, versions = [], None
    header = "| model | dtype | windows | peer | ours, tokens/s | peer, tokens/s | ratio | ours, MB | peer, MB |"
    header += " processor | kernels | ours, GFLOP/s of the limit | torch |"
    rows = [header, "|---" * 13 + "|"]
    for named in args.model:
        name, _, folder = named.rpartition("=")
        for dtype in args.dtype or ["f32"]:
            for windows in args.windows or ["1x1024", "4x512"]:
                count, length = map(int, windows.split("x"))
                for kind in args.peer or PEERS:
                    if kind == "authors" and dtype != "f32":
                        continue
                    peer = Peer(kind, folder, windows, dtype, args.threads, args.isa)
                    if versions is None:
                        versions = peer.versions
                        print(f"{versions}, Python {platform.python_version()}, {args.threads} threads", flush=True)
                    turns = []
                    for _ in range(args.rounds):
                        own = ours(args.ours, folder, windows, dtype, args.threads, args.repeats, args.isa)
                        seconds, memory = peer.seconds()
                        turns.append((own, count * length / seconds, memory))
                    peer.close()
                    runs, theirs, their_memories = zip(*turns)
                    rates, memories = [run.rate for run in runs], [run.megabytes for run in runs]
                    ratios = [a / b for a, b in zip(rates, theirs)]
                    row = [name or folder, dtype, windows.replace("x", " x "), kind, spread(rates), spread(theirs)]
                    row += [spread(ratios, 2), f"{max(memories):.0f}", f"{max(their_memories):.0f}"]
                    row += [runs[0].processor, runs[0].kernels, of_limit(runs), peer.capability]
                    rows.append("| " + " | ".join(row) + " |")
                    print(rows[-1], flush=True)
                    results.append(
                        {
                            "model": name or folder,
                            "dtype": dtype,
                            "windows": windows,
                            "peer": kind,
                            "ours": rates,
                            "peer_rates": theirs,
                            "ours_mb": memories,
                            "peer_mb": their_memories,
                            "processor": runs[0].processor,
                            "kernels": runs[0].kernels,
                            "isa": args.isa,
                            "ours_gflops": [run.flops for run in runs],
                            "limit_gflops": [run.limit for run in runs],
                            "torch": peer.capability,
                        }
                    )
                    if args.out:
                        about = {"machine": machine(), "versions": versions, "results": results}
                        args.out.write_text(json.dumps(about, indent=1) + "\n")
    print("\n" + "\n".join(rows))


if __name__ == "__main__":
    main()
