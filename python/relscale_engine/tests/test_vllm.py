"""The vLLM backend: what vLLM tells is read or refused; with vLLM here, beside transformers."""

import importlib.util
import math
import random
import sys
import types
from array import array

import pytest
from support import NEEDS_TORCH, Program, save, window

from relscale_engine import frames
from relscale_engine.backends.vllm import VllmBackend, _numbers_of, _read
from relscale_engine.errors import EngineError
from relscale_engine.frames import decode_scores
from relscale_engine.options import Options

HERE = importlib.util.find_spec("vllm") is not None
MODELS = ("llama", "gpt2", "gpt_neox", "opt", "qwen2")


def entry(logprob, rank):
    return types.SimpleNamespace(logprob=logprob, rank=rank)


def nested():
    """What 0.11 tells of the window 5 6 7 8: nothing of the first, then a table for each token."""
    return [None, {6: entry(-0.5, 2)}, {7: entry(-2.0, 9), 3: entry(-0.1, 1)}, {8: entry(0.0, 1)}]


def flat():
    """The same in columns, as later versions tell it."""
    return type(
        "FlatLogprobs",
        (),
        {
            "start_indices": [0, 0, 1, 3],
            "end_indices": [0, 1, 3, 4],
            "token_ids": [6, 3, 7, 8],
            "logprobs": [-0.5, -0.1, -2.0, 0.0],
            "ranks": [2, 1, 9, 1],
            "__len__": lambda self: 4,
        },
    )()


@pytest.mark.parametrize("told", [nested(), flat()], ids=["nested", "flat"])
def test_both_forms_are_read_by_the_token(told):
    rank, nll = array("I"), array("f")
    _read(window([5, 6, 7, 8], [1, 2, 3]), told, rank, nll)
    assert rank.tolist() == [2, 9, 1] and nll.tolist() == [0.5, 2.0, 0.0]


def test_scores_that_are_none_mark_their_position():
    for bad in (entry(-9999.0, 4), entry(math.nan, 4), entry(-math.inf, 4), entry(-1.0, 0)):
        rank, nll = array("I"), array("f")
        _read(window([5, 6]), [None, {6: bad}], rank, nll)
        assert rank.tolist() == [0] and math.isnan(nll[0])


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (None, "told nothing of a window of 4"),
        ([], "told 0 entries of a window of 4"),
        (nested()[:3], "told 3 entries of a window of 4"),
        ([None] * 4, "did not tell the score of token 6 at 1"),
        ([None, {9: entry(-0.5, 2)}, *nested()[2:]], "did not tell the score of token 6 at 1"),
    ],
)
def test_short_and_foreign_answers_are_refused(told, words):
    with pytest.raises(EngineError, match=words):
        _read(window([5, 6, 7, 8]), told, array("I"), array("f"))


def test_versions_that_count_otherwise_are_refused(monkeypatch, tmp_path):
    assert _numbers_of("0.11.0") == (0, 11) and _numbers_of("0.11.1rc2+cpu") == (0, 11)
    assert _numbers_of("dev") > (0, 11)
    monkeypatch.setitem(sys.modules, "vllm", types.SimpleNamespace(__version__="0.10.2"))
    with pytest.raises(EngineError, match="0.10.2 counts ranks by another rule"):
        VllmBackend("m", str(tmp_path), Options(), print)


def test_a_name_without_a_folder_is_refused():
    with pytest.raises(EngineError, match="wants a model folder"):
        VllmBackend("org/model", None, Options(), print)


def test_a_head_that_stays_in_bf16_is_refused_unless_it_is_asked_for():
    backend = VllmBackend.__new__(VllmBackend)
    backend._version, backend._notices = "0.11.0", []
    config = types.SimpleNamespace(dtype="torch.bfloat16", head_dtype="torch.bfloat16")
    with pytest.raises(EngineError, match="takes the product of the head in bf16"):
        backend._head(config, Options())
    assert backend._head(config, Options(head_dtype="bf16")) == "bf16"
    assert len(backend._notices) == 1
    config.head_dtype = "torch.float32"
    assert backend._head(config, Options()) == "f32"
    assert backend._head(types.SimpleNamespace(dtype="torch.float32"), Options()) == "f32"


def test_rows_cannot_be_left_out():
    backend = VllmBackend.__new__(VllmBackend)
    backend.set_vocabulary(None)
    backend.set_vocabulary(b"\1\1")
    with pytest.raises(EngineError, match="can leave none out"):
        backend.set_vocabulary(b"\1\0")


@pytest.mark.skipif(HERE, reason="vllm is installed")
def test_without_vllm_the_message_says_so(tmp_path):
    with Program("-m", "relscale_engine", "--backend", "vllm") as program:
        program.hello(folder=str(tmp_path))
        failure = program.receive_json(b"FAIL")
        assert failure["kind"] == "error"
        assert "vLLM cannot be imported by" in failure["message"]
        assert "No module named 'vllm'" in failure["message"]
        assert program.wait() == 1


def config(name):
    transformers = pytest.importorskip("transformers", reason=NEEDS_TORCH)
    small = dict(
        vocab_size=503,
        max_position_embeddings=128,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=2,
    )
    return {
        "llama": lambda: transformers.LlamaConfig(**small, num_key_value_heads=1),
        "qwen2": lambda: transformers.Qwen2Config(**small, num_key_value_heads=1),
        "gpt_neox": lambda: transformers.GPTNeoXConfig(**small),
        "gpt2": lambda: transformers.GPT2Config(
            vocab_size=503, n_positions=128, n_embd=64, n_layer=2, n_head=2
        ),
        "opt": lambda: transformers.OPTConfig(
            vocab_size=503,
            max_position_embeddings=128,
            hidden_size=64,
            ffn_dim=96,
            num_hidden_layers=2,
            num_attention_heads=2,
            word_embed_proj_dim=64,
        ),
    }[name]()


@pytest.mark.skipif(not HERE, reason="vllm is not installed")
@pytest.mark.parametrize("name", MODELS)
def test_vllm_and_transformers_agree(name, tmp_path, monkeypatch):
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")
    folder = save(config(name), tmp_path)
    rng = random.Random(1)
    windows = [window([rng.randrange(503) for _ in range(n)]) for n in (127, 17, 60, 2, 1)]
    windows[2] = window(windows[2].ids.tolist(), [3, 10, 40])
    told = {}
    for backend in ("transformers", "vllm"):
        asked = {"dtype": "f32", **({"eager": "yes"} if backend == "vllm" else {"device": "cpu"})}
        with Program("-m", "relscale_engine", "--backend", backend) as program:
            program.hello(folder=str(folder), options=asked)
            hello = program.receive_json(b"HELO")
            program.ask(windows)
            kind, payload = program.receive()
            assert kind == frames.SCORES, payload
            told[backend] = (hello, decode_scores(payload, hello["gives"])[1])
            program.send(frames.GOODBYE)
            assert program.wait() == 0
    (hello_t, scores_t), (hello_v, scores_v) = told["transformers"], told["vllm"]
    for fact in ("weights_sha256", "config_sha256", "parameters", "rows", "stored_dtype", "bos"):
        assert hello_t[fact] == hello_v[fact], fact
    assert hello_v["rows_only"] and "rows_only" not in hello_t
    assert hello_v["gives"] == [] and hello_v["context"] == hello_t["context"] - 1
    assert scores_t.rank == scores_v.rank
    assert max(abs(a - b) for a, b in zip(scores_t.nll, scores_v.nll, strict=True)) < 1e-4
