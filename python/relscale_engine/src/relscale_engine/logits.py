"""From a model's last hidden state to its logits: found out, then checked.

Every causal language model of transformers ends with a product by its output embedding, but some
divide the logits, multiply them or cap them afterwards, by keys of their configuration that are
easily missed. So nothing is believed:

1. The model's own forward is run with a ramp in the place of the product. What comes out is the
   function behind the product, entry by entry, whatever the weights. It must be one that
   `candidates` knows.
2. The product itself is repeated from what went into the output embedding, with the function
   behind it, and compared with the model's logits.

A model that fails either check is refused, with what was seen.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from .errors import EngineError

RAMP = 80.0
"""Largest entry of the ramp: past any cap in use (Gemma 2 caps at 30)."""


@dataclass(frozen=True)
class LogitMap:
    """What is done to the product `z`: `cap * tanh(scale * z / cap)`; without cap `scale * z`."""

    scale: float = 1.0
    cap: float | None = None

    def apply_(self, z: Tensor) -> Tensor:
        """Applies the map in place."""
        if self.scale != 1.0:
            z.mul_(self.scale)
        if self.cap is not None:
            z.div_(self.cap).tanh_().mul_(self.cap)
        return z

    def __str__(self) -> str:
        cap = "" if self.cap is None else f", capped at {self.cap:g}"
        return f"scale {self.scale:g}{cap}"


def candidates(config: Any) -> list[LogitMap]:
    """Maps that a configuration may mean, those by its keys first, the bare product last."""
    text = config.get_text_config()
    scales = []
    for key, inverse in (
        ("logit_scale", False),  # Cohere
        ("logits_scaling", True),  # Granite
        ("lm_head_multiplier", False),  # Falcon-H1
        ("output_multiplier_scale", False),
        ("logits_scaling", False),
        ("logit_scale", True),
    ):
        value = getattr(text, key, None)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value not in (0, 1):
            scales.append(1.0 / value if inverse else float(value))
    scales.append(1.0)
    cap = getattr(text, "final_logit_softcapping", None)  # Gemma 2
    caps = [float(cap), None] if cap else [None]
    return [LogitMap(scale, cap) for cap in caps for scale in scales]


class HeadTap:
    """Looks at what goes into and comes out of a model's output embedding."""

    def __init__(self, head: nn.Module) -> None:
        self.head = head

    @contextlib.contextmanager
    def taking(self, *, cut: bool = True) -> Iterator[list[Tensor]]:
        """Collects the inputs of the output embedding.

        With `cut` it is given one position alone afterwards, so that the logits of all others,
        which nobody wants here, are never made.
        """
        taken: list[Tensor] = []

        def look(_: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...] | None:
            if not inputs or not isinstance(inputs[0], Tensor):
                raise EngineError("the output embedding is not called with a tensor")
            taken.append(inputs[0])
            return (inputs[0][:1, :1], *inputs[1:]) if cut else None

        handle = self.head.register_forward_pre_hook(look)
        try:
            yield taken
        finally:
            handle.remove()

    @contextlib.contextmanager
    def answering(self, made: Tensor) -> Iterator[None]:
        """Puts `made` in the place of the product."""
        handle = self.head.register_forward_hook(lambda *_: made)
        try:
            yield
        finally:
            handle.remove()


def run(model: Any, ids: Tensor, mask: Tensor | None = None) -> Tensor:
    """The logits of a batch of ids `[B, T]`: `[B, T, V]`."""
    extra = {} if mask is None else {"attention_mask": mask}
    with torch.inference_mode():
        logits = model(input_ids=ids, use_cache=False, return_dict=True, **extra).logits
    assert isinstance(logits, Tensor)
    return logits


def output_embedding(model: Any) -> tuple[nn.Module, Tensor, Tensor | None]:
    """The module of the head, its weight `[V, E]` and its bias `[V]`, if it has one."""
    head = model.get_output_embeddings()
    name = type(model).__name__
    if head is None:
        raise EngineError(f"{name} names no output embedding, so its logits cannot be followed")
    weight = getattr(head, "weight", None)
    if not isinstance(weight, Tensor) or weight.dim() != 2 or not weight.is_floating_point():
        raise EngineError(
            f"the output embedding of {name} is a {type(head).__name__} without a plain matrix "
            "(quantised?): load a checkpoint in f32, f16 or bf16"
        )
    bias = getattr(head, "bias", None)
    return head, weight.detach(), bias.detach() if isinstance(bias, Tensor) else None


def find_map(model: Any, ids: Tensor) -> LogitMap:
    """The function behind the product, from what the model does to a ramp.

    # Errors
    An `EngineError` where it is none of the candidates.
    """
    head, weight, _ = output_embedding(model)
    rows = weight.shape[0]
    shape = (*ids.shape, rows)
    count = ids.numel() * rows
    # Neighbours differ and every size occurs, small ones often: a function that mixes entries, or
    # is no straight line around 0, shows.
    ramp = torch.linspace(-1.0, 1.0, count, device=ids.device)
    ramp = (RAMP * ramp.pow(3)).roll(rows // 3).reshape(shape)
    tap = HeadTap(head)
    with tap.taking(cut=False) as taken, tap.answering(ramp.clone()):
        seen = run(model, ids)
    if len(taken) != 1:
        raise EngineError(
            f"{type(model).__name__} uses its output embedding {len(taken)} times in one pass; "
            "only models that use it once, at the end, can be followed"
        )
    if seen.shape != ramp.shape:
        raise EngineError(
            f"{type(model).__name__} gives logits of shape {tuple(seen.shape)} where its output "
            f"embedding has {rows} rows"
        )
    narrow = seen.dtype in (torch.bfloat16, torch.float16)
    tolerance = 2.0**-6 if narrow else 1e-4
    tried = candidates(model.config)
    for choice in tried:
        expected = choice.apply_(ramp.clone())
        gap = (seen.float() - expected).abs() - tolerance * expected.abs()
        if bool((gap <= tolerance * 0.01).all()):
            return choice
    far = int((seen.float() - ramp).abs().argmax())
    raise EngineError(
        f"{type(model).__name__} does something to its logits that is not followed here: "
        f"{float(ramp.flatten()[far]):g} becomes {float(seen.flatten()[far]):g} (tried: "
        f"{'; '.join(map(str, tried))}). Ranks and losses would be another model's"
    )


def check_product(model: Any, ids: Tensor, logit_map: LogitMap) -> None:
    """Compares the model's logits with the product repeated, on `ids` `[B, T]`.

    # Errors
    An `EngineError` where they differ by more than rounding.
    """
    head, weight, bias = output_embedding(model)
    with HeadTap(head).taking(cut=False) as taken:
        seen = run(model, ids).float()
    hidden = taken[0]
    if hidden.shape[:-1] != ids.shape or hidden.shape[-1] != weight.shape[1]:
        raise EngineError(
            f"the output embedding of {type(model).__name__} is given {tuple(hidden.shape)} for "
            f"ids of shape {tuple(ids.shape)}: not one row a token"
        )
    with torch.inference_mode():
        product = hidden.float() @ weight.float().t()
        if bias is not None:
            product += bias.float()
        ours = logit_map.apply_(product)
    # In f32 a sum of E rounded products is off by some sqrt(E) roundings; in narrower numbers sums
    # are taken in f32 and rounded once or twice at the end. A wrong head is off by far more.
    info = torch.finfo(hidden.dtype)
    allowed = (256 if info.bits >= 32 else 4) * info.eps * max(1.0, float(ours.abs().max()))
    gap = float((ours - seen).abs().max())
    if not gap <= allowed:
        raise EngineError(
            f"the logits of {type(model).__name__} are not its last hidden state times its output "
            f"embedding ({logit_map}): they differ by {gap:.3g}, where rounding explains "
            f"{allowed:.3g}. Ranks and losses would be another model's"
        )
