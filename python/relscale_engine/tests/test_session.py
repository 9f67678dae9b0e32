"""A whole session with an engine process, by a program that speaks the protocol."""

from pathlib import Path

import pytest
from support import Program, window

from relscale_engine import frames
from relscale_engine.frames import decode_scores

FAKE = str(Path(__file__).with_name("fake_engine.py"))


def scores(program):
    kind, payload = program.receive()
    assert kind == frames.SCORES, payload
    return decode_scores(payload, ("ties",))


def test_a_session_from_hello_to_goodbye():
    with Program(FAKE) as program:
        program.hello()
        assert program.receive_json(b"HELO") == {
            "protocol": 1,
            "engine": "fake",
            "rows": 10,
            "gives": ["ties"],
        }
        program.send(frames.VOCABULARY, b"\1" * 7 + b"\0" * 3)
        program.ask([window([5, 6, 3]), window([1, 2, 4, 0], [3])], number=41)
        number, got = scores(program)
        assert number == 41
        assert list(got.rank) == [7, 4, 1]
        assert list(got.nll) == [3.0, 1.5, 0.0]
        assert list(got.ties) == [3, 3, 3]
        program.send(frames.VOCABULARY)
        program.ask([], number=42)
        program.ask([window([1, 2])], number=43)
        assert scores(program)[0] == 42
        number, got = scores(program)
        assert (number, list(got.ties)) == (43, [0])
        program.send(frames.GOODBYE)
        assert program.wait() == 0
        assert program.receive(beats=True) is None


def test_the_end_of_the_input_means_goodbye():
    for hello in (True, False):
        with Program(FAKE) as program:
            if hello:
                program.hello()
                program.receive_json(b"HELO")
            program.close()
            assert program.wait() == 0


def test_nothing_but_frames_reaches_standard_output():
    with Program(FAKE, "prints") as program:
        program.hello()
        program.receive_json(b"HELO")
        program.ask([window([1, 2])])
        assert list(scores(program)[1].rank) == [3]
        program.send(frames.GOODBYE)
        assert program.wait() == 0
        assert program.receive(beats=True) is None
        for source in (b"before the first frame", b"by Python", b"by the system", b"by a child"):
            assert b"rubbish " + source in program.errors


def test_it_beats_while_it_loads_and_while_it_works():
    with Program(FAKE, "slow") as program:
        program.hello()
        assert program.receive(beats=True) == (b"BEAT", b"")
        program.receive_json(b"HELO")
        program.ask([window([1, 2])])
        assert program.receive(beats=True) == (b"BEAT", b"")
        scores(program)


def test_out_of_memory_is_told_and_the_session_goes_on():
    with Program(FAKE, "memory") as program:
        program.hello()
        program.receive_json(b"HELO")
        program.ask([window([1, 2]), window([1, 3])])
        failure = program.receive_json(b"FAIL")
        assert failure == {"message": "two windows are too many", "kind": "memory"}
        program.ask([window([1, 2])], number=2)
        assert scores(program)[0] == 2


def test_what_nobody_foresaw_is_told_in_words():
    with Program(FAKE, "raises") as program:
        program.hello()
        program.receive_json(b"HELO")
        program.ask([window([1, 2])])
        failure = program.receive_json(b"FAIL")
        assert failure["kind"] == "error"
        assert "KeyError: 'what nobody foresaw'" in failure["message"]
        assert program.wait() == 1
        assert b"Traceback" in program.errors


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ([b"GET / HTTP/1.1\r\n\r\n"], "announces"),
        ([b"\0\0\0\0\0\0\0\0"], "does not speak the process protocol"),
        ([frames.frame(frames.WINDOWS)], "'WIND', not 'HELO'"),
        ([frames.frame(frames.HELLO, b'{"protocol": 2}')], "protocol 2"),
        ([frames.frame(frames.HELLO, b"{")], "not JSON"),
    ],
)
def test_a_wrong_beginning_is_refused_in_words(sent, words):
    with Program(FAKE) as program:
        program.engine.stdin.write(b"".join(sent))
        program.engine.stdin.flush()
        failure = program.receive_json(b"FAIL")
        assert failure["kind"] == "error"
        assert words in failure["message"]
        assert program.wait() == 1


@pytest.mark.parametrize(
    ("kind", "payload", "words"),
    [
        (b"WHAT", b"", "'WHAT' is none that this engine knows"),
        (b"VOCB", b"\1\1", "2 bytes for a head of 10 rows"),
        (b"VOCB", b"\1" * 9 + b"\2", "neither 0 nor 1"),
        (b"VOCB", b"\0" * 10, "leaves out every row"),
        (b"WIND", b"\1", "two counts"),
    ],
)
def test_a_wrong_frame_is_refused_in_words(kind, payload, words):
    with Program(FAKE) as program:
        program.hello()
        program.receive_json(b"HELO")
        program.send(kind, payload)
        assert words in program.receive_json(b"FAIL")["message"]
        assert program.wait() == 1


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (window([1] * 7), "7 tokens, more than the model's context of 6"),
        (window([1, 10]), "token 10 is beyond the 10 rows"),
    ],
)
def test_a_window_that_the_model_cannot_take_is_refused_in_words(asked, words):
    with Program(FAKE) as program:
        program.hello()
        program.receive_json(b"HELO")
        program.ask([window([1, 2]), asked])
        assert f"window 1{' has' if 'context' in words else ':'} {words}" in str(
            program.receive_json(b"FAIL")["message"]
        )


def test_a_program_that_dies_is_not_mourned():
    with Program(FAKE, "slow") as program:
        program.hello()
        program.receive_json(b"HELO")
        program.ask([window([1, 2])])
        program.engine.stdout.close()
        program.engine.stdin.close()
        assert program.wait() == 0
        assert b"Traceback" not in program.errors
