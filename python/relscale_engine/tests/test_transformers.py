"""The transformers backend: what it refuses, what it says, and a session from end to end."""

import json
import random
from array import array

import pytest
from support import NEEDS_TORCH, Program, save, window

torch = pytest.importorskip("torch", reason=NEEDS_TORCH)
transformers = pytest.importorskip("transformers", reason=NEEDS_TORCH)

from safetensors.torch import load_file, save_file  # noqa: E402

from relscale_engine import frames  # noqa: E402
from relscale_engine.backends import transformers as subject  # noqa: E402
from relscale_engine.backends.transformers import VERSION, TransformersBackend  # noqa: E402
from relscale_engine.errors import EngineError  # noqa: E402
from relscale_engine.frames import decode_scores  # noqa: E402
from relscale_engine.options import Options  # noqa: E402

CPU = Options(device="cpu")


def llama(folder, **over):
    base = dict(
        vocab_size=97,
        max_position_embeddings=32,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        bos_token_id=3,
    )
    return save(transformers.LlamaConfig(**{**base, **over}), folder)


def bent(folder, **keys):
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **keys}))


def test_a_session_from_end_to_end(tmp_path):
    folder = llama(tmp_path)
    backend = TransformersBackend("m", str(folder), CPU, print)
    rng = random.Random(5)
    windows = [window([rng.randrange(97) for _ in range(n)]) for n in (32, 5, 11)]
    mask = bytes(int(row not in (40, 41)) for row in range(97))
    with Program(
        "-m", "relscale_engine", "--backend", "transformers", "--device", "cpu"
    ) as program:
        program.hello(folder=str(folder), options={"batch_tokens": "40"})
        hello = program.receive_json(b"HELO")
        assert hello["protocol"] == 1 and hello["engine"] == "transformers"
        assert hello["gives"] == ["ties", "entropy", "argmax"] and hello["rank_rule"] == ">="
        assert (hello["rows"], hello["context"], hello["bos"]) == (97, 32, 3)
        assert hello["weights_sha256"] == backend.facts()["weights_sha256"]
        assert (hello["compute_dtype"], hello["head_dtype"], hello["stored_dtype"]) == ("f32",) * 3
        assert torch.__version__ in hello["engine_version"]
        program.send(frames.VOCABULARY)
        program.ask(windows, number=9)
        kind, payload = program.receive()
        assert kind == frames.SCORES, payload
        number, got = decode_scores(payload, hello["gives"])
        expected = backend.score(windows)
        assert number == 9
        assert got.rank == expected.rank and got.argmax == expected.argmax
        assert max(abs(a - b) for a, b in zip(got.nll, expected.nll, strict=True)) < 1e-5
        program.send(frames.VOCABULARY, mask)
        program.ask([window([1, 40])], number=10)
        failure = program.receive_json(b"FAIL")
        assert "token 40 is scored, but its row takes no part" in failure["message"]
        assert program.wait() == 1


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"folder": "/nowhere/at/all"}, "/nowhere/at/all is not a folder on this machine"),
        ({"model": ""}, "neither a folder nor a model"),
        ({"folder": "/", "options": {"device": "abacus"}}, "device 'abacus'"),
        ({"folder": "/", "options": {"device": "cpu"}}, "cannot read the configuration of /"),
        ({"options": ["cpu"]}, "options are not a JSON object"),
    ],
)
def test_a_hello_that_names_no_model_is_refused_in_words(members, words):
    with Program("-m", "relscale_engine") as program:
        program.hello(**members)
        failure = program.receive_json(b"FAIL")
        assert failure["kind"] == "error" and words in failure["message"], failure
        assert program.wait() == 1


def test_a_model_that_is_named_comes_from_the_hub_s_cache(tmp_path, monkeypatch):
    """Without a socket, in the layout of `huggingface_hub`."""
    folder = llama(tmp_path / "plain")
    commit = "0123456789abcdef0123456789abcdef01234567"
    model = tmp_path / "hub/models--made-up--tiny"
    for kind in ("refs", "snapshots", "blobs"):
        (model / kind).mkdir(parents=True)
    (model / "refs/main").write_text(commit)
    folder.rename(model / "snapshots" / commit)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for name, found in (("made-up/tiny", True), ("made-up/away", False)):
        with Program("-m", "relscale_engine", "--device", "cpu") as program:
            program.hello(model=name)
            if found:
                hello = program.receive_json(b"HELO")
                assert hello["architecture"] == "llama" and len(hello["weights_sha256"]) == 64
                program.ask([window([1, 2, 3])])
                assert program.receive()[0] == frames.SCORES
            else:
                message = program.receive_json(b"FAIL")["message"]
                assert "made-up/away is no folder, and transformers cannot find it" in message


def test_weights_that_lack_a_tensor_are_refused(tmp_path):
    folder = llama(tmp_path)
    path = folder / "model.safetensors"
    tensors = load_file(path)
    del tensors["model.layers.1.mlp.up_proj.weight"]
    save_file({**tensors, "spare.weight": torch.zeros(2)}, path, metadata={"format": "pt"})
    with pytest.raises(EngineError, match="lack model.layers.1.mlp.up_proj.weight"):
        TransformersBackend("m", str(folder), CPU, print)


def test_tensors_without_use_are_said(tmp_path):
    folder = llama(tmp_path)
    path = folder / "model.safetensors"
    save_file({**load_file(path), "spare.weight": torch.zeros(2)}, path, metadata={"format": "pt"})
    notices = TransformersBackend("m", str(folder), CPU, print).facts()["notices"]
    assert notices == ["Tensors that LlamaForCausalLM has no use for: spare.weight."]


def test_shapes_that_do_not_fit_are_refused(tmp_path):
    folder = llama(tmp_path)
    bent(folder, intermediate_size=28)
    with pytest.raises(EngineError, match="transformers cannot load"):
        TransformersBackend("m", str(folder), CPU, print)


def test_quantised_models_are_refused(tmp_path):
    folder = llama(tmp_path)
    bent(folder, quantization_config={"quant_method": "bitsandbytes", "load_in_8bit": True})
    with pytest.raises(EngineError, match="is quantised"):
        TransformersBackend("m", str(folder), CPU, print)


def test_ids_beyond_the_embedding_are_refused(tmp_path):
    backend = TransformersBackend("m", str(llama(tmp_path)), CPU, print)
    with pytest.raises(EngineError, match="token 97, beyond the 97 rows of the input"):
        backend.score([window([1, 2]), window([97, 1, 5])])


def test_options_that_fast_attention_ignores_are_followed(tmp_path):
    config = transformers.GPT2Config(
        vocab_size=97, n_positions=32, n_embd=16, n_layer=2, n_head=2, scale_attn_weights=False
    )
    notices = TransformersBackend("m", str(save(config, tmp_path)), CPU, print).facts()["notices"]
    assert len(notices) == 1 and "does not follow scale_attn_weights=False" in notices[0]


def test_a_fast_attention_that_differs_is_found_without_knowing_why(tmp_path, monkeypatch):
    monkeypatch.setattr(subject, "EAGER_KEYS", {})
    config = transformers.Gemma2Config(
        vocab_size=97,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=8,
        attn_logit_softcapping=0.5,
    )
    backend = TransformersBackend("m", str(save(config, tmp_path)), CPU, print)
    assert backend._config._attn_implementation == "eager"
    if VERSION < (5, 0):  # Later versions know it of this model themselves.
        assert len(backend.facts()["notices"]) == 1
        assert "hidden states by torch's fast one are" in backend.facts()["notices"][0]


def test_a_model_that_padding_changes_is_batched_by_length(tmp_path, monkeypatch):
    """A trunk that sees the end of its window, as a model that is not causal would."""
    folder = llama(tmp_path)
    plain = subject.logits.run

    def peeping(model, ids, mask=None):
        embed = model.get_input_embeddings()
        handle = embed.register_forward_hook(lambda m, i, out: out + out[:, -1:] * 0.5)
        try:
            return plain(model, ids, mask)
        finally:
            handle.remove()

    monkeypatch.setattr(subject.logits, "run", peeping)
    backend = TransformersBackend("m", str(folder), CPU, print)
    assert not backend._padded
    assert "when it is padded in a batch" in backend.facts()["notices"][0]
    sizes = []
    trunk = backend._trunk
    monkeypatch.setattr(
        backend, "_trunk", lambda batch: sizes.append([len(w) for w in batch]) or trunk(batch)
    )
    backend.score([window([1] * 5), window([2] * 5), window([3] * 6), window([4] * 4)])
    assert sizes == [[5], [4, 4], [3]]


def test_out_of_memory_halves_the_batch_and_loses_nothing(tmp_path, monkeypatch):
    backend = TransformersBackend("m", str(llama(tmp_path)), CPU, print)
    rng = random.Random(7)
    windows = [window([rng.randrange(97) for _ in range(n)]) for n in (9, 30, 4, 17, 30, 2, 12, 30)]
    expected = backend.score(windows)
    trunk, sizes = backend._trunk, []

    def small(batch):
        sizes.append(len(batch))
        if len(batch) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate")
        return trunk(batch)

    monkeypatch.setattr(backend, "_trunk", small)
    got = backend.score(windows)
    assert got.rank == expected.rank
    assert max(sizes) == 8 and len(sizes) < 20
    again = len(sizes)
    backend.score(windows)
    assert max(sizes[again:]) <= 4, "what a batch may hold is remembered"

    def never(batch):
        raise RuntimeError(
            "[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory"
        )

    monkeypatch.setattr(backend, "_trunk", never)
    with pytest.raises(EngineError, match="out of memory on cpu") as failure:
        backend.score(windows)
    assert failure.value.kind == "memory"


def test_counts_of_experts_are_said(tmp_path):
    config = transformers.MixtralConfig(
        vocab_size=97,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        num_local_experts=3,
    )
    backend = TransformersBackend("m", str(save(config, tmp_path)), CPU, print)
    assert any("mixture of 3 experts" in notice for notice in backend.facts()["notices"])
    assert backend.facts()["parameters"]["non_embedding"] > 3 * 3 * 16 * 24


def test_numbers_pass_between_arrays_and_tensors():
    values = array("I", [0, 5, 2**31 - 1])
    assert subject._numbers(values).tolist() == [0, 5, 2**31 - 1]
    assert subject._numbers(array("I")).tolist() == []
    assert subject._array("f", torch.tensor([0.5, 2.0])) == array("f", [0.5, 2.0])
