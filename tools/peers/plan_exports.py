"""Reads exported plans with the engines' own code: torchtitan's configuration and model, PyYAML for Levanter's files.

    relscale sweep plan --preset marin --out OUT --export levanter,torchtitan
    python tools/peers/plan_exports.py OUT

For torchtitan: every TOML goes through its ConfigManager, which knows each field by type; the flavour module is imported; the model
of every run is built without memory and its parameters are counted against plan.json. For Levanter: every YAML is parsed (YAML 1.1, as
Levanter does) and each number compared with plan.json; with Levanter installed, its own TrainLmConfig parses it too.
"""

import importlib
import json
import pathlib
import sys

import yaml


def levanter(folder, runs):
    try:
        import draccus
        from levanter.main.train_lm import TrainLmConfig
    except ImportError as missing:
        print(f"levanter: not installed ({missing}); its fields are not checked by it")
        TrainLmConfig = None
    for run in runs:
        path = folder / f"{run['name']}.yaml"
        told = yaml.safe_load(path.read_text())
        model, optimizer, trainer = told["model"], told["optimizer"], told["trainer"]
        a, o = run["architecture"], run["optimiser"]
        pairs = [
            (model["type"], "qwen3" if a["qk_norm"] else "llama"),
            (model["max_seq_len"], a["sequence"]),
            (told["train_seq_len"], a["sequence"]),
            (told["z_loss_weight"], o["z_loss"]),
            (model["hidden_dim"], a["width"]),
            (model["intermediate_dim"], a["hidden"]),
            (model["num_layers"], a["layers"]),
            (model["num_heads"], a["heads"]),
            (model["num_kv_heads"], a["kv_heads"]),
            (model["head_dim"], a["head_width"]),
            (model["tie_word_embeddings"], a["tied"]),
            (model["layer_norm_epsilon"], a["norm_epsilon"]),
            (model["rope"]["theta"], a["rope_base"]),
            (optimizer["learning_rate"], o["learning_rate"]),
            (optimizer["beta1"], o["beta1"]),
            (optimizer["beta2"], o["beta2"]),
            (optimizer["epsilon"], o["epsilon"]),
            (optimizer["weight_decay"], o["weight_decay"]),
            (optimizer["max_grad_norm"], o["clip"]),
            (optimizer["warmup"], o["warm_up"]),
            (optimizer["decay"], o["decay"]),
            (trainer["id"], run["name"]),
            (trainer["train_batch_size"], run["batch"]),
            (trainer["num_train_steps"], run["steps"]),
            (trainer["seed"], run["seed"]),
        ]
        for got, want in pairs:
            assert got == want and type(got) is type(want), (path.name, got, want)
        if TrainLmConfig is not None:
            config = draccus.parse(TrainLmConfig, config_path=str(path), args=[])
            assert config.model.hidden_dim == a["width"] and config.optimizer.beta2 == o["beta2"]
    print(f"levanter: {len(runs)} files, every number as in the plan" + ("" if TrainLmConfig is None else ", and by Levanter itself"))


def torchtitan(folder, runs):
    import torch
    from torchtitan.config import ConfigManager
    from torchtitan.models.qwen3 import Qwen3Model, qwen3_args

    sys.path.insert(0, str(folder))
    for run in runs:
        config = ConfigManager().parse_args(["--job.config_file", str(folder / f"{run['name']}.toml")])
        importlib.import_module(config.experimental.custom_import)
        a, o = run["architecture"], run["optimiser"]
        pairs = [
            (config.optimizer.lr, o["learning_rate"]),
            (config.optimizer.beta2, o["beta2"]),
            (config.optimizer.eps, o["epsilon"]),
            (config.training.global_batch_size, run["batch"]),
            (config.training.seq_len, a["sequence"]),
            (config.training.steps, run["steps"]),
            (config.lr_scheduler.decay_ratio, o["decay"]),
            (config.debug.seed, run["seed"]),
        ]
        for got, want in pairs:
            assert got == want, (run["name"], got, want)
        with torch.device("meta"):
            model = Qwen3Model(qwen3_args[config.model.flavor])
        counted = sum(parameter.numel() for parameter in model.parameters())
        assert counted == run["parameters"]["total"], (run["name"], counted)
    print(f"torchtitan: {len(runs)} files read, {len(runs)} models built, every parameter count as in the plan")


if __name__ == "__main__":
    out = pathlib.Path(sys.argv[1])
    runs = json.loads((out / "plan.json").read_text())["runs"]
    if (out / "levanter").is_dir():
        levanter(out / "levanter", runs)
    if (out / "torchtitan").is_dir():
        torchtitan(out / "torchtitan", runs)
