"""An engine without a model, for the tests of the session: `python fake_engine.py [BEHAVIOUR]`."""

import os
import sys
import time
from array import array

from relscale_engine import session
from relscale_engine.errors import EngineError
from relscale_engine.frames import Scores
from relscale_engine.session import Streams, serve


class Fake:
    """Says that the rank of a token is its id plus one."""

    gives = ("ties",)
    rows = 10
    context = 6

    def __init__(self, behaviour):
        self.behaviour = behaviour
        self.takes_part = None

    def facts(self):
        return {"engine": "fake", "rows": self.rows}

    def set_vocabulary(self, takes_part):
        self.takes_part = takes_part

    def score(self, windows):
        if self.behaviour == "prints":
            print("rubbish by Python")
            os.write(1, b"rubbish by the system")
            os.system("echo rubbish by a child")
        if self.behaviour == "slow":
            time.sleep(0.6)
        if self.behaviour == "memory" and len(windows) > 1:
            raise EngineError("two windows are too many", "memory")
        if self.behaviour == "raises":
            raise KeyError("what nobody foresaw")
        ids = [w.ids[i] for w in windows for i in w.scored]
        left_out = 0 if self.takes_part is None else self.takes_part.count(0)
        return Scores(
            rank=array("I", (i + 1 for i in ids)),
            nll=array("f", (0.5 * i for i in ids)),
            ties=array("I", (left_out for _ in ids)),
        )


if __name__ == "__main__":
    behaviour = sys.argv[1] if len(sys.argv) > 1 else ""
    session.BEAT_EVERY = 0.1
    streams = Streams.claim()
    print("rubbish before the first frame")

    def load(hello):
        if behaviour == "slow":
            time.sleep(0.6)
        return Fake(behaviour)

    sys.exit(serve(streams, load))
