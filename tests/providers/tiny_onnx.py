"""Tiny models in ONNX with their tokenizers, as folders of fastembed's: a sentence model and a cross-encoder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

SHAPE: Final = ["batch", "length"]


def write_model(folder: Path, words: Sequence[str], dimensions: int) -> None:
    """Write model.onnx, which looks up each token's vector, and the files of its tokenizer."""
    table = np.random.default_rng(7).standard_normal((len(words) + 2, dimensions)).astype(np.float32)
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*SHAPE, dimensions])
    node = helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])
    _write(folder, words, [node], output, {"table": table})


def write_cross_encoder(folder: Path, words: Sequence[str]) -> None:
    """Write model.onnx, which scores a pair by how many of its tokens are the first of these words."""
    table = np.zeros((len(words) + 2, 1), dtype=np.float32)
    table[2] = 1.0
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["each"]),
        helper.make_node("ReduceSum", ["each", "axis"], ["logits"], keepdims=0),
    ]
    _write(folder, words, nodes, output, {"table": table, "axis": np.array([1], dtype=np.int64)})


def _write(
    folder: Path,
    words: Sequence[str],
    nodes: Sequence[Any],
    output: Any,
    given: Mapping[str, Any],
) -> None:
    folder.mkdir()
    vocabulary = {word: place for place, word in enumerate(("[PAD]", "[UNK]", *words))}
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, SHAPE) for name in ("input_ids", "attention_mask")]
    weights = [numpy_helper.from_array(one, name) for name, one in given.items()]
    graph = helper.make_graph(nodes, "tiny", inputs, [output], weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(made, str(folder / "model.onnx"))
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    given = {"pad_token": "[PAD]", "model_max_length": 64}
    (folder / "tokenizer_config.json").write_text(json.dumps(given))
    (folder / "special_tokens_map.json").write_text(json.dumps({"pad_token": "[PAD]", "unk_token": "[UNK]"}))
