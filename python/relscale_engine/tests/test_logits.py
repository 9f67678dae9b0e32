"""How models come to their logits is found out, and what cannot be followed is refused."""

import pytest
from support import NEEDS_TORCH, spread

torch = pytest.importorskip("torch", reason=NEEDS_TORCH)
transformers = pytest.importorskip("transformers", reason=NEEDS_TORCH)

from relscale_engine import logits  # noqa: E402
from relscale_engine.errors import EngineError  # noqa: E402
from relscale_engine.logits import LogitMap  # noqa: E402

SMALL = dict(
    vocab_size=37,
    hidden_size=16,
    intermediate_size=28,
    num_hidden_layers=1,
    num_attention_heads=4,
    num_key_value_heads=2,
    pad_token_id=0,
)
IDS = torch.tensor([[5, 3, 8, 1, 30], [2, 2, 7, 11, 9]])


def made(config):
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    spread(model)
    model.tie_weights()
    return model


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (transformers.LlamaConfig(**SMALL), LogitMap()),
        (transformers.CohereConfig(**SMALL, logit_scale=0.0625), LogitMap(0.0625)),
        (transformers.GraniteConfig(**SMALL, logits_scaling=8.0), LogitMap(0.125)),
        (transformers.Gemma2Config(**SMALL, head_dim=8), LogitMap(cap=30.0)),
        (transformers.Gemma2Config(**SMALL, head_dim=8, final_logit_softcapping=None), LogitMap()),
        # A key that this model does not follow: what it does counts, not what is written.
        (transformers.LlamaConfig(**SMALL, logit_scale=0.5), LogitMap()),
    ],
    ids=["llama", "cohere", "granite", "gemma2", "gemma2 without cap", "key without effect"],
)
def test_the_map_is_found(config, expected):
    model = made(config)
    assert logits.find_map(model, IDS) == expected
    logits.check_product(model, IDS, expected)


def test_a_map_that_is_not_known_is_refused():
    model = made(transformers.LlamaConfig(**SMALL))
    forward = model.forward

    def bent(*args, **kwargs):
        out = forward(*args, **kwargs)
        out.logits = out.logits.sinh()
        return out

    model.forward = bent
    with pytest.raises(EngineError, match="does something to its logits that is not followed"):
        logits.find_map(model, IDS)


def test_a_head_that_is_no_plain_product_is_refused():
    """A head that normalises its weight, as Baichuan 2's does."""
    model = made(transformers.LlamaConfig(**SMALL))

    class Normalised(torch.nn.Linear):
        def forward(self, hidden):
            return torch.nn.functional.linear(hidden, torch.nn.functional.normalize(self.weight))

    head = Normalised(16, 37, bias=False)
    model.set_output_embeddings(head)
    assert logits.find_map(model, IDS) == LogitMap()
    with pytest.raises(EngineError, match="are not its last hidden state times its output"):
        logits.check_product(model, IDS, LogitMap())


def test_a_head_with_a_bias_is_followed():
    model = made(transformers.PhiConfig(**SMALL))
    assert model.get_output_embeddings().bias is not None
    logits.check_product(model, IDS, logits.find_map(model, IDS))


def test_a_model_that_uses_its_head_twice_is_refused():
    model = made(transformers.LlamaConfig(**SMALL))
    forward = model.forward

    def twice(*args, **kwargs):
        forward(*args, **kwargs)
        return forward(*args, **kwargs)

    model.forward = twice
    with pytest.raises(EngineError, match="2 times in one pass"):
        logits.find_map(model, IDS)


def test_only_one_position_reaches_the_head_while_hidden_states_are_taken():
    model = made(transformers.LlamaConfig(**SMALL))
    tap = logits.HeadTap(model.get_output_embeddings())
    with tap.taking() as taken:
        seen = logits.run(model, IDS)
    assert taken[0].shape == (2, 5, 16)
    assert seen.shape == (1, 1, 37)
