"""Checks the engine `vllm` against a real vLLM server, and records what servers answer.

    python tools/peers/vllm_server.py models OUT              six tiny random models (gpt2, opt, gpt_neox, qwen2, qwen3, llama)
    python tools/peers/vllm_server.py record URL FILE.json    answers to a list of requests, as testdata/servers keeps them
    python tools/peers/vllm_server.py check --ours PROGRAM --models OUT --url URL NAME [--option ...]
    python tools/peers/vllm_server.py compare STUDY_A STUDY_B

`models` needs torch and transformers, `check` and `compare` pyarrow. A server of one of the models is started by hand:

    vllm serve OUT/NAME --skip-tokenizer-init --dtype float32 --enforce-eager --port 8000 --served-model-name tiny

`check` measures OUT/NAME by the program's own engine and by the server, over the same ids, and compares row by row: nll to
1e-4 nats, and ranks, which may differ where another logit lies within rounding of the token's own. `--judge` holds both
against transformers in float64, and fails on a rank that differs anywhere else; of a family that the program itself does not
run (`--foreign`), the server's alone.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

ROWS, WIDTH, LAYERS, HEADS, CONTEXT = 300, 64, 2, 2, 128


def configs():
    from transformers import GPT2Config, GPTNeoXConfig, LlamaConfig, OPTConfig, Qwen2Config, Qwen3Config

    alike = dict(
        vocab_size=ROWS,
        hidden_size=WIDTH,
        intermediate_size=128,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=1,
        max_position_embeddings=CONTEXT,
        tie_word_embeddings=False,
        bos_token_id=0,
        eos_token_id=0,
    )
    return {
        "gpt2": GPT2Config(vocab_size=ROWS, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS, n_positions=CONTEXT, bos_token_id=0, eos_token_id=0),
        "opt": OPTConfig(
            vocab_size=ROWS,
            hidden_size=WIDTH,
            ffn_dim=128,
            num_hidden_layers=LAYERS,
            num_attention_heads=HEADS,
            word_embed_proj_dim=WIDTH,
            max_position_embeddings=CONTEXT,
        ),
        "gpt_neox": GPTNeoXConfig(
            vocab_size=ROWS,
            hidden_size=WIDTH,
            intermediate_size=128,
            num_hidden_layers=LAYERS,
            num_attention_heads=HEADS,
            max_position_embeddings=CONTEXT,
            rotary_pct=0.5,
            bos_token_id=0,
            eos_token_id=0,
        ),
        "qwen2": Qwen2Config(**alike),
        "qwen3": Qwen3Config(**alike, head_dim=32),
        "llama": LlamaConfig(**alike),
    }


def models(out):
    """Weights so large that logits spread as a trained model's do; rows 17 and 18 of an untied head are equal."""
    import torch
    from transformers import AutoModelForCausalLM

    for seed, (name, config) in enumerate(configs().items()):
        torch.manual_seed(seed)
        model = AutoModelForCausalLM.from_config(config)
        ids = torch.randint(0, ROWS, (1, 100))
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.dim() > 1:
                    parameter.mul_(6)
            head = model.get_output_embeddings().weight
            head.mul_(3 / model(ids).logits.std())
            if head.data_ptr() != model.get_input_embeddings().weight.data_ptr():
                head[18] = head[17]
            print(name, "spread of logits", round(float(model(ids).logits.std()), 2))
        model.save_pretrained(out / name)


def ids(count, state=1):
    out = []
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2**31
        out.append(state // 65536 % ROWS)
    return out


def ask(url, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url + path, data=data, headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=600) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def record(url, file):
    def body(prompt, **changes):
        plain = dict(
            model="tiny", prompt=prompt, max_tokens=1, temperature=1.0, top_p=1.0, presence_penalty=0.0, frequency_penalty=0.0,
            prompt_logprobs=0, top_k=-1, min_p=0.0, repetition_penalty=1.0, cache_salt="relscale-1-1",
        )
        return {**plain, **changes}

    completions = {
        "prompt": body(ids(12)),
        "one token": body(ids(1)),
        "beside 1": body(ids(12), prompt_logprobs=1),
        "top 20": body(ids(24), prompt_logprobs=20),
        "top 21": body(ids(4), prompt_logprobs=21),
        "longest": body(ids(CONTEXT - 1)),
        "too long by one": body(ids(CONTEXT)),
        "too long": body(ids(200)),
        "unknown model": body(ids(4), model="other"),
        "unknown member": body(ids(4), nonsense=1),
        "empty": body([]),
        "tempered": body(ids(12), temperature=0.5, top_k=5, repetition_penalty=1.5),
        "top_k 0": body(ids(4), top_k=0),
        "empty salt": body(ids(4), cache_salt=""),
        "twins 17": body(ids(6) + [17]),
        "twins 18": body(ids(6) + [18]),
        # Kills a server that was started without a tokenizer, which would have refused it.
        "id beyond": body([1, 2, 5000]),
        "after that": body(ids(4)),
    }
    requests = [("models", "/v1/models", None), ("version", "/version", None)]
    requests += [(name, "/v1/completions", sent) for name, sent in completions.items()]
    lines = []
    for name, path, sent in requests:
        status, answer = ask(url, path, sent)
        case = {"path": path, "request": sent, "status": status, "body": answer}
        lines.append(json.dumps(name) + ": " + json.dumps(case, separators=(",", ":")))
        print(status, name)
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def rows(study):
    import pyarrow.parquet

    parts = sorted(Path(study).glob("runs/*/part-*.parquet"))
    columns = ["document", "position", "token", "rank", "nll"]
    tables = [pyarrow.parquet.read_table(part, columns=columns).to_pylist() for part in parts]
    return {(row["document"], row["position"]): row for table in tables for row in table}


def compare(a, b):
    """How far two studies of one run each differ."""
    a, b = rows(a), rows(b)
    lost = a.keys() ^ b.keys()
    pairs = [(a[key], b[key]) for key in a.keys() & b.keys()]
    other = [(x, y) for x, y in pairs if x["rank"] != y["rank"]]
    most = max(abs(x["nll"] - y["nll"]) for x, y in pairs)
    print(f"{len(pairs)} rows, {len(lost)} on one side only; {len(other)} with another rank; nll differs by at most {most:.1e} nats")
    for x, y in other[:5]:
        print("  ", x, y["rank"], y["nll"])
    return not lost and most < 1e-4


def text(file):
    with file.open("w") as out:
        for document, length in enumerate([40, 1, 127, 300, 64, 500, 3, 200, 128, 90] * 6):
            out.write(" ".join(map(str, ids(length, 1000 + document))) + "\n")


def judged(folder, study):
    """Ranks by transformers in float64 of every row of a study whose windows are those of the server's context."""
    import torch
    from transformers import AutoModelForCausalLM

    # Plain attention: the default one ignores Gemma 2's cap on scores.
    model = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager").eval().double()
    import pyarrow.parquet

    documents = [[int(word) for word in line.split()] for line in (Path(study).parent / "text.ids").read_text().splitlines()]
    parts = sorted(Path(study).glob("runs/*/part-*.parquet"))
    found = [row for part in parts for row in pyarrow.parquet.read_table(part).to_pylist()]
    windows = {}
    for row in found:
        windows.setdefault((row["document"], row["position"] - row["context"]), []).append(row)
    other, near, most = 0, 0, 0.0
    with torch.no_grad():
        for (document, start), scored in windows.items():
            end = max(row["position"] for row in scored)
            logits = model(torch.tensor([documents[document][start : end + 1]])).logits[0]
            for row in scored:
                z = logits[row["position"] - start - 1]
                own = z[row["token"]]
                rank = int((z >= own).sum())
                most = max(most, abs(float(z.logsumexp(0) - own) - row["nll"]))
                if rank != row["rank"]:
                    other += 1
                    near += int(((z - own).abs() < 1e-4).sum() > 1)
    print(f"by transformers in float64: {len(found)} rows, {other} with another rank ({near} of them near ties); nll differs by at most {most:.1e}")
    return other == near and most < 1e-4


def check(args):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        text(folder / "text.ids")
        model = f"{args.name}={args.models / args.name}"
        common = [args.ours, "measure", "--model", model, "--corpus", f"ids={folder / 'text.ids'}?format=text", "--vocab", "rows", "--bos", "none", "--length", str(CONTEXT - 1)]
        served = ["--engine", "vllm", "--url", args.url, *args.option]
        subprocess.run([*common, *served, "--out", folder / "served"], check=True)
        well = True
        if not args.foreign:
            subprocess.run([*common, "--out", folder / "local"], check=True)
            well = compare(folder / "local", folder / "served")
            if args.judge:
                well &= judged(args.models / args.name, folder / "local")
        if args.judge or args.foreign:
            well &= judged(args.models / args.name, folder / "served")
        return well


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("models").add_argument("out", type=Path)
    one = commands.add_parser("record")
    one.add_argument("url")
    one.add_argument("file", type=Path)
    one = commands.add_parser("compare")
    one.add_argument("a", type=Path)
    one.add_argument("b", type=Path)
    one = commands.add_parser("check")
    one.add_argument("name")
    one.add_argument("--ours", required=True, help="the program")
    one.add_argument("--models", type=Path, required=True, help="folder that `models` wrote")
    one.add_argument("--url", required=True)
    one.add_argument("--option", action="append", default=[], help="a further argument of `relscale measure`")
    one.add_argument("--judge", action="store_true", help="compare with transformers in float64 as well")
    one.add_argument("--foreign", action="store_true", help="a family that the program itself does not run")
    args = parser.parse_args()
    if args.command == "models":
        models(args.out)
    elif args.command == "record":
        record(args.url.rstrip("/"), args.file)
    else:
        well = compare(args.a, args.b) if args.command == "compare" else check(args)
        sys.exit(0 if well else 1)


if __name__ == "__main__":
    main()
