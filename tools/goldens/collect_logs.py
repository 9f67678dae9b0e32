"""Writes testdata/collect/{huggingface,tensorboard}: logs of training runs by the programs that write them.

    python tools/goldens/collect_logs.py

* huggingface  a run of `transformers.Trainer`: a tiny Llama on repeated ids, 6 steps, evaluated every 3; only trainer_state.json and config.json stay.
* tensorboard  event files by torch.utils.tensorboard: scalars as PyTorch writes them (`simple_value`) and as tensors, among text and a histogram; a run that was killed at step 7
               and started again from step 5 in a second file; its numbers are those of the formulas below.

Run by hand; the versions are pinned in tools/goldens/requirements.txt. Times are in event files, so another run of this script gives other bytes and the
same numbers.
"""

import shutil
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch.utils.tensorboard import SummaryWriter
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

OUT = Path(__file__).resolve().parents[2] / "testdata" / "collect"


def huggingface(out):
    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=40, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2,
        max_position_embeddings=32, tie_word_embeddings=False,
    )
    model = LlamaForCausalLM(config)
    rows = [{"input_ids": ids, "labels": ids} for ids in (torch.arange(i, i + 16) % 40 for i in range(48))]
    with tempfile.TemporaryDirectory() as folder:
        settings = TrainingArguments(
            output_dir=folder, max_steps=6, per_device_train_batch_size=4, gradient_accumulation_steps=2, learning_rate=3e-3,
            warmup_steps=2, lr_scheduler_type="linear", logging_steps=1, eval_strategy="steps", eval_steps=3, save_strategy="no",
            report_to=[], use_cpu=True, include_num_input_tokens_seen=True, disable_tqdm=True, seed=1, remove_unused_columns=False,
        )
        trainer = Trainer(model=model, args=settings, train_dataset=rows, eval_dataset=rows[:8])
        trainer.train()
        trainer.save_state()
        model.config.save_pretrained(folder)
        out.mkdir(parents=True)
        for name in ["trainer_state.json", "config.json"]:
            shutil.copy(Path(folder) / name, out / name)


def life(out, name, steps, new_style):
    with tempfile.TemporaryDirectory() as folder:
        writer = SummaryWriter(folder)
        writer.add_text("notes", "no scalar")
        for step in steps:
            writer.add_scalar("train/loss", 4 - 0.25 * step + (0.125 if new_style else 0), step, new_style=new_style)
            writer.add_scalar("learning_rate", 0.5 / (1 + step), step)
            if step % 2 == 0:
                writer.add_scalar("eval/loss", 4.5 - 0.25 * step, step, new_style=new_style, double_precision=new_style)
        writer.add_histogram("weights", np.arange(5.0), steps[-1])
        writer.close()
        (file,) = Path(folder).iterdir()
        out.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, out / name)


def main():
    for folder in ["huggingface", "tensorboard"]:
        shutil.rmtree(OUT / folder, ignore_errors=True)
    huggingface(OUT / "huggingface" / "tiny")
    life(OUT / "tensorboard" / "restarted", "events.out.tfevents.1.host.1.0", range(0, 8), new_style=False)
    life(OUT / "tensorboard" / "restarted", "events.out.tfevents.2.host.2.0", range(5, 11), new_style=True)


if __name__ == "__main__":
    main()
