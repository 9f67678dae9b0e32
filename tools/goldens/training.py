"""PyTorch's gradients and ten training losses of a tiny model, in float64: the judge of the training step.

    python tools/goldens/training.py

writes testdata/training/:

    model/      a random Mistral: 3 blocks, 4 query heads on 2 key/value heads, a window of 5 tokens, head tied, f32
    gradient/   the gradient of the first batch's mean loss, by parameter name: a folder of the same shape, each tensor the
                gradient of the tensor of that name
    steps.json  the batches, the settings, and loss and gradient norm (before clipping) of ten steps, each loss before its step

The gradients are autograd's through `transformers`' own model, in float64 throughout (see checkpoints.py). The steps are
torch.optim.AdamW's, whose weight decay is decoupled, on matrices alone; the learning rate rises in a line, stays, and falls in a
line (the recipe's schedule), and a gradient whose norm is above `clip` is scaled to it.
"""

import json
import shutil
from pathlib import Path

import torch
from checkpoints import F32, in_float64
from safetensors.torch import save_file
from transformers import MistralConfig, MistralForCausalLM

OUT = Path(__file__).parents[2] / "testdata" / "training"
VOCABULARY, LENGTH, BATCH, STEPS = 37, 12, 4, 10
SETTINGS = {
    "peak": 0.01,
    "warm_up": 0.3,
    "decay": 0.4,
    "betas": [0.9, 0.95],
    "epsilon": 1e-8,
    "weight_decay": 0.1,
    "clip": 3.0,
}


def learning_rate(step):
    rise = min(step / max(SETTINGS["warm_up"] * STEPS, 1), 1)
    fall = min((STEPS + 1 - step) / max(SETTINGS["decay"] * STEPS, 1), 1)
    return SETTINGS["peak"] * min(rise, fall)


def mean_loss(model, batch):
    logits = model(batch[:, :-1], use_cache=False).logits
    return torch.nn.functional.cross_entropy(logits.reshape(-1, VOCABULARY), batch[:, 1:].reshape(-1))


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    torch.manual_seed(20_51)
    config = MistralConfig(
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
    )
    model = MistralForCausalLM(config)
    with torch.no_grad():
        for parameter in model.parameters():
            # Large enough that no part is nearly linear; gains about 1.
            spread = torch.randn_like(parameter)
            parameter.copy_(0.3 * spread if parameter.ndim == 2 else 1 + 0.2 * spread)
    model.save_pretrained(OUT / "model")
    # A text that can be learnt: each token follows from the last and its place.
    ids = [(i * i + i // 3) % 31 for i in range(STEPS * BATCH * (LENGTH + 1))]
    batches = torch.tensor(ids).view(STEPS, BATCH, LENGTH + 1)

    model = model.double().train()
    matrices = [p for p in model.parameters() if p.ndim == 2]
    gains = [p for p in model.parameters() if p.ndim == 1]
    optimiser = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": SETTINGS["weight_decay"]}, {"params": gains, "weight_decay": 0.0}],
        betas=tuple(SETTINGS["betas"]),
        eps=SETTINGS["epsilon"],
    )
    losses, norms = [], []
    with in_float64():
        for module in model.modules():
            if hasattr(module, "inv_freq"):  # computed in float32 when the model was built
                module.inv_freq, _ = module.rope_init_fn(config, torch.device("cpu"))
        for step, batch in enumerate(batches, 1):
            optimiser.zero_grad()
            loss = mean_loss(model, batch)
            assert loss.dtype == torch.float64
            loss.backward()
            if step == 1:
                shutil.copytree(OUT / "model", OUT / "gradient")
                gradient = {name: p.grad.to(F32).contiguous() for name, p in model.named_parameters()}
                save_file(gradient, OUT / "gradient" / "model.safetensors", {"format": "pt"})
            norm = torch.sqrt(sum(p.grad.square().sum() for p in model.parameters())).item()
            for parameter in model.parameters():
                parameter.grad *= min(SETTINGS["clip"] / norm, 1)
            for group in optimiser.param_groups:
                group["lr"] = learning_rate(step)
            optimiser.step()
            losses.append(loss.item())
            norms.append(norm)
    for folder in ("model", "gradient"):
        (OUT / folder / "generation_config.json").unlink(missing_ok=True)
        (OUT / folder / "model.safetensors").chmod(0o644)
    steps = {"length": LENGTH, "steps": STEPS, **SETTINGS, "batches": batches.tolist(), "losses": losses, "norms": norms}
    (OUT / "steps.json").write_text(json.dumps(steps) + "\n")
    assert min(norms) < SETTINGS["clip"] < max(norms), "clipping must be seen to act and to leave alone"
    print(losses, norms)


if __name__ == "__main__":
    main()
