"""What can be asked for."""

import dataclasses

import pytest

from relscale_engine import options
from relscale_engine.errors import EngineError
from relscale_engine.options import Options


def test_the_list_and_the_record_have_the_same_names():
    assert list(options.ENTRIES) == [field.name for field in dataclasses.fields(Options)]


def test_the_program_wins_over_the_command_line():
    asked = options.parse(
        ["--backend", "transformers", "--head-dtype", "bf16", "--batch-tokens", "64"]
    )
    assert asked == Options(head_dtype="bf16", batch_tokens=64)
    told = options.with_program(asked, {"head-dtype": "f32", "device": "cpu", "eager": "yes"})
    assert told == Options(head_dtype="f32", batch_tokens=64, device="cpu", eager=True)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"haed_dtype": "f32"}, "'haed_dtype' is unknown; there are device"),
        ({"backend": "vllm"}, "'backend' is unknown"),
        ({"dtype": "f8"}, "one of auto, f32, bf16, f16"),
        ({"batch_tokens": "0"}, "a number from 1"),
        ({"batch_tokens": "many"}, "invalid literal"),
    ],
)
def test_what_the_program_cannot_ask_is_refused_in_words(given, words):
    with pytest.raises(EngineError, match=words):
        options.with_program(Options(), given)


def test_a_wrong_command_line_ends_with_status_2():
    with pytest.raises(SystemExit) as end:
        options.parse(["--dtype", "f8"])
    assert end.value.code == 2
