#!/usr/bin/env python3
"""Writes crates/corpus/tests/data/rows.parquet: a file of another writer, with a dictionary column and nulls.

Run by hand:  pip install pyarrow==26.0.1 && python tools/goldens/corpus_rows.py
"""

import pathlib

import pyarrow as pa
import pyarrow.parquet as pq

table = pa.table({
    "id": ["r1", "r2", "r3"],
    "text": pa.array(["first żółw", "second", None]).cast(pa.large_string()),
    "topic": pa.array(["a", "b", "a"]).dictionary_encode(),
    "number": [1, 2, 3],
})
out = pathlib.Path(__file__).resolve().parents[2] / "crates/corpus/tests/data/rows.parquet"
pq.write_table(table, out, compression="snappy")
