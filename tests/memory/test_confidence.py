from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.memory import confidence
from app.model import ConfidenceParts, SpeechAct

unit = st.floats(0, 1)
parts = st.builds(ConfidenceParts, source=unit, extractor=unit, prior=unit, mentions=st.integers(1, 50))


@pytest.mark.parametrize(("mentions", "expected"), [(1, 0.65), (3, 0.75), (5, 0.85), (9, 0.85)])
def test_the_worked_preference_of_the_seed(mentions: int, expected: float) -> None:
    preference = ConfidenceParts(source=0.9, extractor=0.9, prior=0.20, mentions=mentions)
    assert confidence.score(preference) == pytest.approx(expected)


@pytest.mark.parametrize(("mentions", "r"), [(0, 0.0), (1, 0.0), (2, 0.25), (3, 0.5), (4, 0.75), (5, 1.0), (99, 1.0)])
def test_repetition_counts_up_to_five_mentions(mentions: int, r: float) -> None:
    assert confidence.repetition(mentions) == r


@given(parts)
def test_confidence_stays_between_zero_and_one(given_parts: ConfidenceParts) -> None:
    assert 0.0 <= confidence.score(given_parts) <= 1.0


@given(parts, parts)
def test_merging_averages_by_mentions_and_adds_them(old: ConfidenceParts, new: ConfidenceParts) -> None:
    both = confidence.merged_parts(old, new)
    assert both.mentions == old.mentions + new.mentions
    assert min(old.source, new.source) - 1e-9 <= both.source <= max(old.source, new.source) + 1e-9
    assert both.source * both.mentions == pytest.approx(old.source * old.mentions + new.source * new.mentions)


@given(parts)
def test_saying_the_same_again_never_lowers_confidence(once: ConfidenceParts) -> None:
    assert confidence.score(confidence.merged_parts(once, once)) >= confidence.score(once) - 1e-9


@pytest.mark.parametrize("act", [SpeechAct.HYPOTHETICAL, SpeechAct.ROLEPLAY, SpeechAct.QUOTATION])
def test_what_was_not_meant_is_believed_at_most_thirty_percent(act: SpeechAct) -> None:
    certain = ConfidenceParts(source=1, extractor=1, prior=0.2, mentions=9)
    assert confidence.capped_score(certain, act) == 0.30
    assert confidence.capped_score(certain, SpeechAct.ASSERTION) == pytest.approx(0.92)
