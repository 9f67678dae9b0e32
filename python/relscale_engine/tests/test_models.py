"""Models beyond the decoder's families, through the whole engine, beside a float64 run of each.

Tolerances: a rank is right where it lies between the counts of logits above the target's by more
than `NEAR` of the logits' spread, and above it less that; nll and entropy to 1e-4 nats.
"""

import random

import pytest
from support import NEEDS_TORCH, judge, save, window

torch = pytest.importorskip("torch", reason=NEEDS_TORCH)
transformers = pytest.importorskip("transformers", reason=NEEDS_TORCH)

from relscale_engine.backends.transformers import TransformersBackend  # noqa: E402
from relscale_engine.options import Options  # noqa: E402

NEAR = 3e-5
SMALL = dict(
    vocab_size=211,
    max_position_embeddings=64,
    hidden_size=32,
    intermediate_size=48,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    pad_token_id=0,
)
GEMMA = dict(**SMALL, head_dim=16, query_pre_attn_scalar=8, sliding_window=8)

CONFIGS = {
    "mamba": lambda: transformers.MambaConfig(
        vocab_size=211, hidden_size=32, num_hidden_layers=2, state_size=8
    ),
    "mamba2": lambda: transformers.Mamba2Config(
        vocab_size=211,
        hidden_size=32,
        num_hidden_layers=2,
        state_size=8,
        num_heads=4,
        head_dim=16,
        n_groups=2,
        chunk_size=16,
    ),
    "rwkv": lambda: transformers.RwkvConfig(
        vocab_size=211, context_length=64, hidden_size=32, num_hidden_layers=2, rescale_every=1
    ),
    "gemma2": lambda: transformers.Gemma2Config(
        **GEMMA, attn_logit_softcapping=5.0, final_logit_softcapping=6.0
    ),
    "gemma3_text": lambda: transformers.Gemma3TextConfig(**GEMMA),
    "qwen3_moe": lambda: transformers.Qwen3MoeConfig(
        **SMALL, num_experts=6, num_experts_per_tok=2, moe_intermediate_size=24, head_dim=8
    ),
    "olmo2": lambda: transformers.Olmo2Config(**SMALL),
    "falcon": lambda: transformers.FalconConfig(
        vocab_size=211, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, alibi=True
    ),
    "falcon-new": lambda: transformers.FalconConfig(
        vocab_size=211,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_kv_heads=2,
        new_decoder_architecture=True,
    ),
    "bloom": lambda: transformers.BloomConfig(vocab_size=211, hidden_size=32, n_layer=2, n_head=4),
    "cohere": lambda: transformers.CohereConfig(**SMALL),
    "granite": lambda: transformers.GraniteConfig(**SMALL, logits_scaling=4.0),
    "phi": lambda: transformers.PhiConfig(**SMALL),
    "gptj": lambda: transformers.GPTJConfig(
        vocab_size=211, n_positions=64, n_embd=32, n_layer=2, n_head=4, rotary_dim=4
    ),
}

RECURRENT = ("mamba", "mamba2", "rwkv", "bloom")
"""Models without a longest window."""


def texts():
    rng = random.Random(11)
    return [[rng.randrange(211) for _ in range(n)] for n in (40, 17, 3, 40, 29, 1, 2, 23)]


@pytest.mark.parametrize("name", CONFIGS)
def test_scores_are_those_of_a_float64_run(name, tmp_path):
    config = CONFIGS[name]()
    folder = save(config, tmp_path)
    windows = texts()
    # Falcon's plain attention adds its ALiBi bias twice (transformers 4.57): the fast one judges.
    logits = judge(folder, windows, "sdpa" if name.startswith("falcon") else "eager")

    # A budget that makes batches of several windows of unequal lengths, and blocks and tiles that
    # cut the positions and the vocabulary.
    options = Options(device="cpu", batch_tokens=96, head_rows=32, head_tile=64)
    backend = TransformersBackend("m", str(folder), options, print)
    assert backend._padded, "a causal model, so padding on the right must change nothing"
    got = backend.score([window(ids) for ids in windows])
    at = unsure = 0
    for ids, z in zip(windows, logits, strict=True):
        for i in range(1, len(ids)):
            row, target = z[i - 1], ids[i]
            near = NEAR * float(row.std())
            low = int((row > row[target] + near).sum()) + 1
            high = int((row > row[target] - near).sum())
            assert low <= got.rank[at] <= high, (name, i)
            unsure += low != high
            logp = row.log_softmax(0)
            assert abs(got.nll[at] + float(logp[target])) < 1e-4
            assert abs(got.entropy[at] + float((logp.exp() * logp).sum())) < 1e-4
            if float(row.max() - row.topk(2).values[1]) > near:
                assert got.argmax[at] == int(row.argmax())
            at += 1
    assert at == len(got.rank) == sum(len(ids) - 1 for ids in windows)
    assert unsure < 0.03 * at, "the tolerance lets too much through"

    facts = backend.facts()
    assert facts["rows"] == 211
    assert facts["architecture"] == config.model_type
    assert (facts["context"] is None) == (name in RECURRENT)
    counts = facts["parameters"]
    assert counts["total"] == sum(p.numel() for p in backend._model.parameters())
    assert counts["token_embedding"] == 211 * 32
    assert counts["head"] in (0, 211 * 32 + (211 if name in ("phi", "gptj") else 0))


@pytest.mark.parametrize("name", ["mamba", "rwkv", "gemma2", "falcon"])
def test_scores_do_not_depend_on_the_batch_but_by_rounding(name, tmp_path):
    folder = save(CONFIGS[name](), tmp_path)
    windows = [window(ids) for ids in texts()]
    one = TransformersBackend("m", str(folder), Options(device="cpu", batch_tokens=1), print)
    many = TransformersBackend("m", str(folder), Options(device="cpu"), print)
    alone, together = one.score(windows), many.score(windows)
    assert max(abs(a - b) for a, b in zip(alone.nll, together.nll, strict=True)) < 2e-5
    assert sum(a != b for a, b in zip(alone.rank, together.rank, strict=True)) <= 2


def test_some_positions_alone_are_those_of_all(tmp_path):
    folder = save(CONFIGS["olmo2"](), tmp_path)
    backend = TransformersBackend("m", str(folder), Options(device="cpu"), print)
    ids = texts()[0]
    whole = backend.score([window(ids)])
    some = backend.score(
        [window(ids, [4, 9, 30]), window(ids, []), window([], []), window(ids, [39])]
    )
    assert [some.rank[i] for i in range(4)] == [whole.rank[i - 1] for i in (4, 9, 30, 39)]
    assert backend.score([]).rank == backend.score([window(ids, [])]).rank


def test_a_model_in_bf16_with_its_head_in_f32_has_no_ties(tmp_path):
    folder = save(
        transformers.LlamaConfig(**{**SMALL, "vocab_size": 5003}), tmp_path, dtype=torch.bfloat16
    )
    rng = random.Random(3)
    windows = [window([rng.randrange(5003) for _ in range(60)]) for _ in range(4)]
    said = []
    wide = TransformersBackend("m", str(folder), Options(device="cpu", dtype="bf16"), said.append)
    assert wide.facts()["compute_dtype"] == "bf16" and wide.facts()["stored_dtype"] == "bf16"
    tied = sum(t > 0 for t in wide.score(windows).ties)
    assert tied == 0 and not said
    narrow = TransformersBackend(
        "m", str(folder), Options(device="cpu", dtype="bf16", head_dtype="bf16"), said.append
    )
    tied = sum(t > 0 for t in narrow.score(windows).ties)
    assert tied > 20
    assert len(said) == 1 and f"{100 * tied / (4 * 59):.1f} % share their logit" in said[0]
