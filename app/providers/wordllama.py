"""The embedded default: wordllama's static 256-dimension model, read from the installed wheel.

A text's vector is the mean of its tokens' vectors, at unit length. The package is not imported: its loader
looks for the tokenizer in the wrong folder and then on the network, and importing it reconfigures logging.
Its two files are read here; the vectors are identical.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import numpy as np
from tokenizers import Tokenizer

from app import threads
from app.errors import ConfigurationError
from app.providers.embeddings import EmbedObserver, Purpose, Vectors, has_no_words, observe

DIRECT_CHARACTERS: Final = 600
"""Up to here a call costs less than the 60 microseconds of a hop to a thread and back, so it makes none."""

_BYTE: Final = re.compile("<0x[0-9A-F]{2}>")

_TOKENIZER: Final = Path("tokenizers", "l2_supercat_tokenizer_config.json")
_WEIGHTS: Final = Path("weights", "l2_supercat_256.safetensors")
_TENSOR: Final = "embedding.weight"


class WordllamaEmbedder:
    """In-process embeddings: no network, no key, deterministic; the first one of a process reads 16 MB."""

    def __init__(self, *, folder: Path | None = None, observer: EmbedObserver | None = None) -> None:
        """Load the model; ConfigurationError when its files are not where the wheel puts them."""
        folder = folder or _installed()
        try:
            self._tokenizer, self._table = _read(folder)
        except Exception as error:  # tokenizers raises bare Exception
            raise ConfigurationError(
                "the embedded model can't be read: reinstall wordllama, or set TM_EMBEDDING_PROVIDER"
            ) from error
        self._observer = observer
        self.dimensions: int = self._table.shape[1]
        self.name = f"wordllama-{self.dimensions}"
        self.local = True

    async def embed(self, texts: Sequence[str], *, purpose: Purpose = "document") -> Vectors:  # noqa: ARG002
        """Embed off the event loop, unless it is sooner done than said; see `Embedder.embed`."""
        with observe(self._observer, len(texts)):
            return await threads.work(lambda: self._embed_all(texts), brief=sum(map(len, texts)) <= DIRECT_CHARACTERS)

    def words(self, words: Sequence[str]) -> Vectors:
        """Return the unit vectors of single words, in their order."""
        return self._embed_all(words)

    def coverage(self, text: str) -> float:
        """Return the share of a text's letters in tokens of two letters or more; 1 where it has no letters.

        A script that the vocabulary does not have falls apart into single letters and bytes, which mean nothing alone.
        """
        read = self._tokenizer.encode(text.encode("utf-8", "replace").decode(), add_special_tokens=False)
        told = [sum(map(str.isalpha, one)) for one in read.tokens if not _BYTE.fullmatch(one)]
        letters = sum(map(str.isalpha, text))
        return min(1.0, sum(one for one in told if one > 1) / letters) if letters else 1.0

    async def aclose(self) -> None:
        """Do nothing: there is nothing open."""

    def _embed_all(self, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for number, text in enumerate(texts):
            vectors[number] = self._embed_one(text)
        return vectors

    def _embed_one(self, text: str) -> Vectors:
        valid = text.encode("utf-8", "replace").decode()
        # One text at a time, as a batch: that lets go of the GIL, and leaves the other cores alone.
        ids = self._tokenizer.encode_batch_fast([valid], add_special_tokens=False)[0].ids
        total: Vectors = np.add.reduce(self._table[ids], axis=0, dtype=np.float32)
        length = float(np.linalg.norm(total))
        return total / np.float32(length) if length > 0 else has_no_words(self.dimensions)


def _installed() -> Path:
    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise ConfigurationError("the wordllama package is not installed: install it, or set TM_EMBEDDING_PROVIDER")
    return Path(spec.origin).parent


@cache
def _read(folder: Path) -> tuple[Tokenizer, Vectors]:
    """Return the model of a folder, which nothing changes."""
    tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    table = _read_table(folder / _WEIGHTS)
    table.flags.writeable = False
    return tokenizer, table


def _read_table(path: Path) -> Vectors:
    """Read one float16 tensor of a safetensors file: 8 bytes of header size, a JSON header, the data."""
    content = path.read_bytes()
    data = 8 + int.from_bytes(content[:8], "little")
    tensor = json.loads(content[8:data])[_TENSOR]
    start, end = tensor["data_offsets"]
    rows, columns = tensor["shape"]
    table = np.frombuffer(content[data + start : data + end], dtype=np.dtype("<f2"))
    return table.reshape(rows, columns).astype(np.float32)
