"""OLMo's own program (package ai2-olmo 0.6.0, which registers `hf_olmo` with transformers), for checkpoints.py.

Its module of helpers loads clients of networks, and a library of data sets, that no computation needs; they are left out, so
that the package can be installed without its dependencies: `pip install --no-deps ai2-olmo`, and omegaconf, rich.
"""

import sys
from unittest.mock import MagicMock

import transformers.models.auto  # first: it looks which of these are there

for name in ("boto3", "botocore", "botocore.exceptions", "botocore.config", "cached_path", "cached_path.schemes", "datasets",
             "google.api_core", "google.api_core.retry"):
    sys.modules.setdefault(name, MagicMock())

from hf_olmo import OLMoConfig, OLMoForCausalLM  # noqa: E402, F401
