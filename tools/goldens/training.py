"""PyTorch's gradients and ten training losses of tiny models, in float64: the judge of the training step.

    python tools/goldens/training.py [mistral] [qwen3]

writes testdata/training/NAME/:

    model/      random, f32. mistral: 3 blocks, 4 query heads on 2 key/value heads, a window of 5 tokens, head tied;
                qwen3: 2 blocks, heads of 6 channels where their share is 4, Llama 3's rotary scaling, a head of its own
    gradient/   the gradient of the first batch's mean loss, by parameter name: a folder of the same shape, each tensor the
                gradient of the tensor of that name
    steps.json  the batches, the settings, and loss and gradient norm (before clipping) of ten steps, each loss before its step

The gradients are autograd's through `transformers`' own model, in float64 throughout (see checkpoints.py). The learning rate
rises in a line, stays, and falls in a line (the recipe's schedule), and a gradient whose norm is above `clip` is scaled to it.
The steps of mistral are torch.optim.AdamW's, whose weight decay is decoupled, on matrices alone. Those of qwen3 are cautious
Adam's with AdamC's decay, as Levanter has them: tensors of one kind are one in all blocks together, and an embedding that is no
head does not decay.
"""

import json
import re
import shutil
import sys
from pathlib import Path

import torch
from checkpoints import F32, in_float64, rotary_in_float64
from safetensors.torch import save_file
from transformers import MistralConfig, MistralForCausalLM, Qwen3Config, Qwen3ForCausalLM

OUT = Path(__file__).parents[2] / "testdata" / "training"
VOCABULARY, LENGTH, BATCH, STEPS = 37, 12, 4, 10
SETTINGS = {
    "mistral": {
        "optimiser": "adamw",
        "peak": 0.01,
        "warm_up": 0.3,
        "decay": 0.4,
        "betas": [0.9, 0.95],
        "epsilon": 1e-8,
        "weight_decay": 0.1,
        "clip": 3.0,
    },
    "qwen3": {
        "optimiser": "cautious-adamc",
        "peak": 0.01,
        "warm_up": 0.3,
        "decay": 0.4,
        "betas": [0.95, 0.98],
        "epsilon": 1e-15,
        "weight_decay": 1.0,
        "clip": 2.5,
    },
}


def mistral():
    return MistralForCausalLM(MistralConfig(
        vocab_size=VOCABULARY,
        hidden_size=16,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=4,
        intermediate_size=24,
        max_position_embeddings=LENGTH,
        sliding_window=5,
        rms_norm_eps=1e-5,
        rope_theta=50.0,
        tie_word_embeddings=True,
        attn_implementation="eager",
    ))


def qwen3():
    return Qwen3ForCausalLM(Qwen3Config(
        vocab_size=VOCABULARY,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=6,
        intermediate_size=24,
        max_position_embeddings=64,
        rms_norm_eps=1e-5,
        rope_theta=50.0,
        rope_scaling=dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                          original_max_position_embeddings=32),
        tie_word_embeddings=False,
        attn_implementation="eager",
    ))


def learning_rate(settings, step):
    rise = min(step / max(settings["warm_up"] * STEPS, 1), 1)
    fall = min((STEPS + 1 - step) / max(settings["decay"] * STEPS, 1), 1)
    return settings["peak"] * min(rise, fall)


class CautiousAdamC:
    """Liang et al. 2024 and Defazio 2025, from their formulas."""

    def __init__(self, model, settings):
        self.settings, self.taken, self.kinds = settings, 0, {}
        for name, p in model.named_parameters():
            kind = self.kinds.setdefault(re.sub(r"\.\d+\.", ".N.", name), [])
            kind.append((p, torch.zeros_like(p), torch.zeros_like(p)))

    def step(self, rate):
        s, self.taken = self.settings, self.taken + 1
        (b1, b2), decay = s["betas"], s["weight_decay"] * rate / s["peak"]
        with torch.no_grad():
            for name, tensors in self.kinds.items():
                updates = []
                for p, m, v in tensors:
                    m.mul_(b1).add_((1 - b1) * p.grad)
                    v.mul_(b2).add_((1 - b2) * p.grad**2)
                    u = m / (1 - b1**self.taken) / ((v / (1 - b2**self.taken)).sqrt() + s["epsilon"])
                    updates.append((u, u * p.grad > 0))
                share = torch.cat([mask.flatten() for _, mask in updates]).double().mean()
                for (p, _, _), (u, mask) in zip(tensors, updates):
                    still = p.ndim == 1 or "embed_tokens" in name
                    p -= rate * (u * mask / (share + s["epsilon"]) + (0 if still else decay) * p)
                self.least = min(getattr(self, "least", 1.0), share.item())


class AdamW:
    def __init__(self, model, settings):
        matrices = [p for p in model.parameters() if p.ndim == 2]
        gains = [p for p in model.parameters() if p.ndim == 1]
        self.inner = torch.optim.AdamW(
            [{"params": matrices, "weight_decay": settings["weight_decay"]}, {"params": gains, "weight_decay": 0.0}],
            betas=tuple(settings["betas"]),
            eps=settings["epsilon"],
        )

    def step(self, rate):
        for group in self.inner.param_groups:
            group["lr"] = rate
        self.inner.step()


def mean_loss(model, batch):
    logits = model(batch[:, :-1], use_cache=False).logits
    return torch.nn.functional.cross_entropy(logits.reshape(-1, VOCABULARY), batch[:, 1:].reshape(-1))


def write(name):
    out, settings = OUT / name, SETTINGS[name]
    shutil.rmtree(out, ignore_errors=True)
    torch.manual_seed(20_51)
    model = {"mistral": mistral, "qwen3": qwen3}[name]()
    with torch.no_grad():
        for parameter in model.parameters():
            # Large enough that no part is nearly linear; gains about 1.
            spread = torch.randn_like(parameter)
            parameter.copy_(0.3 * spread if parameter.ndim == 2 else 1 + 0.2 * spread)
    model.save_pretrained(out / "model")
    # A text that can be learnt: each token follows from the last and its place.
    ids = [(i * i + i // 3) % 31 for i in range(STEPS * BATCH * (LENGTH + 1))]
    batches = torch.tensor(ids).view(STEPS, BATCH, LENGTH + 1)

    model = model.double().train()
    optimiser = {"adamw": AdamW, "cautious-adamc": CautiousAdamC}[settings["optimiser"]](model, settings)
    losses, norms = [], []
    with in_float64():
        for module in model.modules():
            if hasattr(module, "rope_type"):
                rotary_in_float64(module)
        for step, batch in enumerate(batches, 1):
            model.zero_grad()
            loss = mean_loss(model, batch)
            assert loss.dtype == torch.float64
            loss.backward()
            if step == 1:
                shutil.copytree(out / "model", out / "gradient")
                gradient = {name: p.grad.to(F32).contiguous() for name, p in model.named_parameters()}
                save_file(gradient, out / "gradient" / "model.safetensors", {"format": "pt"})
            norm = torch.sqrt(sum(p.grad.square().sum() for p in model.parameters())).item()
            for parameter in model.parameters():
                parameter.grad *= min(settings["clip"] / norm, 1)
            optimiser.step(learning_rate(settings, step))
            losses.append(loss.item())
            norms.append(norm)
    for folder in ("model", "gradient"):
        (out / folder / "generation_config.json").unlink(missing_ok=True)
        (out / folder / "model.safetensors").chmod(0o644)
    steps = {"length": LENGTH, "steps": STEPS, **settings, "batches": batches.tolist(), "losses": losses, "norms": norms}
    (out / "steps.json").write_text(json.dumps(steps) + "\n")
    print(name, losses, norms, getattr(optimiser, "least", ""))
    assert min(norms) < settings["clip"] < max(norms), "clipping must be seen to act and to leave alone"


if __name__ == "__main__":
    for name in sys.argv[1:] or SETTINGS:
        write(name)
