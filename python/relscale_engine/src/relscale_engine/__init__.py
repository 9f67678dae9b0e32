"""An engine for relscale: ranks of the right token, from a model that Python can run.

`python -m relscale_engine --backend transformers` speaks the process protocol of relscale
(`docs/engines.md` of its repository) over standard input and output.

* `frames`: the protocol's bytes, both ways; knows nothing of models;
* `session`: standard streams kept clean, heartbeats, the loop that answers requests;
* `options`: what can be asked for, on the command line or by the program;
* `facts`: what a model folder is: files, hashes, parameter counts;
* `logits`: how a model comes from its last hidden state to its logits, found out and checked;
* `head`: from hidden states and targets to ranks, in tiles of the vocabulary;
* `packing`: windows into batches;
* `backends`: one file each.

Importing this module imports neither torch nor transformers.
"""

__version__ = "0.1.0"

PROTOCOL = 1
"""Version of the process protocol that this package speaks."""

REVISION = 1
"""Raised when numbers change by more than rounding: measurements of another are not mixed in."""
