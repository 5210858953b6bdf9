"""Doubtful candidates: as a model is asked about them again, and what its verdicts make of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from app.memory.candidate import Candidate
from app.memory.extraction import Proposal, Turn
from app.providers.protocols import DoubtfulClaim
from app.providers.schemas import TYPE
from app.write.claims import FRAMED
from app.write.extract import EPISODE
from app.write.values import ExtractedCandidates, RejectedProposal


def confirmed(
    considered: ExtractedCandidates, verdicts: Mapping[int, bool], *, keep_episodes: bool
) -> ExtractedCandidates:
    """Return the candidates of a turn after a model was asked again about the doubtful ones, by their places.

    What it confirms is stored as proposed, unless nothing beside it is the speaker's; what it denies is refused.
    All else stays held. The turn is kept beside what is not stored.
    """
    refused = list(considered.refused)
    candidates: list[Candidate] = []
    for place, one in enumerate(considered.candidates):
        match verdicts.get(place):
            case True if one.doubt != FRAMED:
                candidates.append(replace(one, review=None, doubt=None))
            case False:
                refused.append(
                    RejectedProposal(proposal=_proposal_of(one), reason=f"{one.doubt}, and a second look agrees")
                )
            case _:
                candidates.append(one)
    settled = len(candidates) == len(considered.candidates) and not any(one.doubt for one in candidates)
    if settled and verdicts and not keep_episodes:
        candidates = [one for one in candidates if one.type.name != EPISODE]
    return replace(considered, candidates=tuple(candidates), refused=tuple(refused))


def doubtful_claim(candidate: Candidate, turn: Turn) -> DoubtfulClaim:
    """Return a candidate as a model is asked about it."""
    proposal = _proposal_of(candidate)
    claim = {"sentence": candidate.sentence, TYPE: proposal.type, **proposal.payload}
    claim |= {"speech_act": candidate.speech_act, "ended": proposal.ends}
    times = {"valid_from": candidate.valid_from, "valid_until": candidate.valid_until}
    claim |= {name: at.isoformat() for name, at in times.items() if at is not None}
    return DoubtfulClaim(turn=turn, quote=proposal.quote, claim=claim)


def _proposal_of(candidate: Candidate) -> Proposal:
    payload = candidate.payload.model_dump(mode="json", by_alias=True, exclude_none=True)
    quote = next((one.quote for one in candidate.evidence if one.quote), "")
    return Proposal(
        type=candidate.type.name,
        payload=payload,
        quote=quote,
        speech_act=candidate.speech_act,
        ends=candidate.ending is not None,
    )
