"""What can run a model: `transformers` (any causal language model of it) and `vllm` (in this
process, no server). Each is imported when it is asked for."""
