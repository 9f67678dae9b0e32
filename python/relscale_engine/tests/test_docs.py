"""What the documentation shows is run."""

import math
import re
import textwrap

import pytest
from support import REPOSITORY, Program, window

from relscale_engine import frames, options
from relscale_engine.frames import decode_scores

PAGE = REPOSITORY / "docs/engines.md"

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="not in the repository")


def test_the_smallest_engine_of_the_page_works(tmp_path):
    section = PAGE.read_text().split("### The smallest engine")[1].split("\n## ")[0]
    code = "\n".join(line for line in section.splitlines() if line.startswith("    ") or not line)
    script = tmp_path / "smallest.py"
    script.write_text(textwrap.dedent(code))
    with Program(str(script)) as program:
        program.hello()
        hello = program.receive_json(b"HELO")
        assert (hello["protocol"], hello["rows"], hello["gives"]) == (1, 1000, ["ties"])
        program.send(frames.VOCABULARY)
        program.ask([window([4, 5, 6]), window([7]), window([8, 9, 10], [2])], number=3)
        kind, payload = program.receive()
        assert kind == frames.SCORES
        number, got = decode_scores(payload, hello["gives"])
        assert (number, got.rank.tolist(), got.ties.tolist()) == (3, [1000] * 3, [999] * 3)
        assert got.nll[0] == pytest.approx(math.log(1000))
        program.send(frames.GOODBYE)
        assert program.wait() == 0


def test_the_page_names_every_option():
    table = PAGE.read_text().split("| option | |")[1]
    named = set(re.findall(r"`([a-z_]+)`", table))
    assert set(options.ENTRIES) - {"backend"} <= named
