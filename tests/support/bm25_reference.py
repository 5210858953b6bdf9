"""The reference that our BM25 must rank like: bm25s with `method="lucene"`, fed our own terms.

The library leaves out Lucene's constant factor (k1 + 1), so scores are compared by their order alone.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
from numpy.typing import NDArray

from app.lexical.bm25 import K1, B, document_weights, query_weights

Terms = Sequence[str]


class Reference:
    """bm25s over a corpus of term lists."""

    def __init__(self, corpus: Sequence[Terms]) -> None:
        self._index = bm25s.BM25(method="lucene", k1=K1, b=B)
        self._index.index([list(document) for document in corpus], show_progress=False)
        self._known = {term for document in corpus for term in document}
        self._documents = len(corpus)

    def scores(self, query: Terms) -> NDArray[np.float32]:
        """Return each document's score, in the corpus' order."""
        known = [term for term in query if term in self._known]
        if not known:
            return np.zeros(self._documents, dtype=np.float32)
        return np.asarray(self._index.get_scores(known), dtype=np.float32)


def same_top(ranked: Sequence[int], reference: NDArray[np.float32], *, k: int = 10, tolerance: float = 1e-5) -> bool:
    """Tell whether `ranked`, document numbers best first, is a right top k by the reference's scores.

    Ties aside: a document may stand at a rank when its reference score equals, to a relative `tolerance`, the
    score that belongs there. Documents that score nothing belong nowhere.
    """
    right = np.sort(reference[reference > 0])[::-1][:k]
    ranked = ranked[:k]
    if len(ranked) != len(right) or len(set(ranked)) != len(ranked):
        return False
    return bool(np.allclose(reference[list(ranked)], right, rtol=tolerance, atol=0))


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a query needs to know of a corpus."""

    documents: int
    average_length: float
    frequencies: Mapping[str, int]

    @classmethod
    def of(cls, corpus: Sequence[Terms]) -> Statistics:
        """Count a corpus."""
        frequencies = Counter(term for document in corpus for term in set(document))
        average = sum(map(len, corpus)) / len(corpus)
        return cls(len(corpus), average, frequencies)


class Ours:
    """Our two sparse vectors and their inner product, as `<#>` computes it, without the database."""

    def __init__(self, corpus: Sequence[Terms]) -> None:
        self.statistics = Statistics.of(corpus)
        self._postings: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for number, document in enumerate(corpus):
            weights = document_weights(document, average_length=self.statistics.average_length)
            for index, weight in weights.items():
                self._postings[index].append((number, weight))

    def top(self, query: Terms, k: int = 10) -> list[int]:
        """Return the best k documents' numbers, best first; none that shares no term with the query."""
        scores: dict[int, float] = defaultdict(float)
        weights = query_weights(query, self.statistics.frequencies, self.statistics.documents)
        for index, query_weight in weights.items():
            for number, weight in self._postings.get(index, ()):
                scores[number] += query_weight * weight
        return [number for number, _ in sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:k]]


def agreement(corpus: Sequence[Terms], queries: Sequence[Terms], *, k: int = 10) -> float:
    """Return the share of queries for which ours and the reference have the same top k, ties aside."""
    ours, reference = Ours(corpus), Reference(corpus)
    same = sum(same_top(ours.top(query, k), reference.scores(query), k=k) for query in queries)
    return same / len(queries)


def evaluation_data() -> Path | None:
    """Return the folder of evaluation data: TM_EVAL_DATA, or `shared/data` beside the checkout, if there."""
    configured = os.environ.get("TM_EVAL_DATA")
    folder = Path(configured) if configured else Path(__file__).parents[3] / "shared" / "data"
    return folder if folder.is_dir() else None


@dataclass(frozen=True, slots=True)
class Conversation:
    """One LoCoMo conversation: `speaker: text [photo caption]` a turn, and its questions."""

    turns: Mapping[str, str]
    questions: tuple[tuple[str, frozenset[str]], ...]


def locomo(folder: Path) -> list[Conversation]:
    """Read the LoCoMo conversations; a question comes with the ids of its evidence turns."""
    samples = json.loads((folder / "locomo" / "locomo_dev.json").read_text())
    return [_conversation(sample) for sample in samples]


def _conversation(sample: Mapping[str, Any]) -> Conversation:
    sessions = [value for value in sample["conversation"].values() if isinstance(value, list)]
    turns = {turn["dia_id"]: _turn_text(turn) for session in sessions for turn in session}
    questions = tuple((question["question"], frozenset(question.get("evidence", ()))) for question in sample["qa"])
    return Conversation(turns, questions)


def _turn_text(turn: Mapping[str, str]) -> str:
    caption = f" [{turn['blip_caption']}]" if "blip_caption" in turn else ""
    return f"{turn['speaker']}: {turn['text']}{caption}"
