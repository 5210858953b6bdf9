"""From what was proposed of a turn to what goes on to be decided: grounded, meant, named, typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.db.references import Referent
from app.memory.candidate import Candidate
from app.memory.extraction import Extraction, Proposal, Role, Turn
from app.memory.registry import Registry
from app.model import SpeechAct
from app.text.foreign import Span, foreign, is_foreign
from app.text.framing import NO_FRAMING, Framing
from app.text.spans import sentence_of
from app.text.speech_acts import SKIPPED, more_cautious, speech_act
from app.text.suspicion import Kind, Suspicion, suspicions
from app.write.adjust import Standing, Unfit, candidate, episode
from app.write.ground import Grounded, ground
from app.write.offering import Offer, offers
from app.write.references import Binding, Unresolved, referred
from app.write.trace import Trace
from app.write.trust import source_strength

EPISODE = "episodic"
"""The type under which a turn itself is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A proposal that went no further, and why."""

    proposal: Proposal
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Considered:
    """What came of a turn's proposals: candidates, the episode last, what was refused, whom pronouns meant."""

    candidates: tuple[Candidate, ...] = ()
    refused: tuple[Refused, ...] = ()
    bindings: tuple[Binding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What a turn is considered with: the types, whose extraction it is, whether episodes are kept."""

    types: Registry
    extractor: str
    keep_episodes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Meant:
    """A proposal whose words are in the turn and meant as stated, and how it came to its type."""

    proposal: Proposal
    standing: Standing
    offer: Offer


def consider(
    turn: Turn,
    extraction: Extraction,
    context: Sequence[Turn],
    referents: Sequence[Referent],
    means: Means,
    trace: Trace,
    framing: Framing = NO_FRAMING,
    heard: Sequence[Turn] = (),
) -> Considered:
    """Return the candidates of one turn and what was refused; every stage is told in the trace.

    `heard` are the turns before in which whom a pronoun means is looked for; without them, the context.
    """
    doubts = suspicions(turn.content, foreign=turn.role is not Role.USER)
    refused: list[Refused] = []
    said = _Heard(
        turn=turn, context=context, doubts=doubts, framing=framing, foreign=foreign(turn.content, turn.speaker)
    )
    meant = _grounded(said, extraction, means, trace, refused)
    named, bindings = _named(meant, turn, heard or context, referents, means, trace, refused)
    candidates = []
    with trace.stage("classify", len(named)) as stage:
        for one in named:
            try:
                candidates.append(_candidate(one, turn, means))
                stage.notes.extend([one.offer.told] if one.offer.was else [])
            except Unfit as error:
                refused.append(Refused(proposal=one.proposal, reason=str(error)))
                stage.drop(one.proposal.type, str(error))
    candidates = list({(one.type.name, str(one.payload), one.ending is None): one for one in candidates}.values())
    kept = _episode(turn, context, doubts, means)
    return Considered(
        candidates=tuple(candidates) + ((kept,) if kept else ()), refused=tuple(refused), bindings=bindings
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heard:
    """A turn with what came before it, what is doubtful in it, and the game it is said in."""

    turn: Turn
    context: Sequence[Turn]
    doubts: Sequence[Suspicion]
    framing: Framing
    foreign: tuple[Span, ...]


def _grounded(
    heard: _Heard, extraction: Extraction, means: Means, trace: Trace, refused: list[Refused]
) -> list[_Meant]:
    turn, found = heard.turn, []
    offered = _offered(heard, extraction, means)
    with trace.stage("ground", len(offered)) as stage:
        for offer in offered:
            proposal = offer.proposal
            grounding = ground(proposal, turn, heard.context, means.types)
            if not isinstance(grounding, Grounded):
                refused.append(Refused(proposal=proposal, reason=grounding))
                stage.drop(proposal.type, grounding)
                continue
            act = _act(proposal, heard, grounding)
            if act in SKIPPED:
                reason = f"it is {_ACTS[act]}, which states nothing"
                refused.append(Refused(proposal=replace(proposal, speech_act=act), reason=reason))
                stage.drop(proposal.type, reason)
                continue
            standing = Standing(
                source=source_strength(turn.role, first_person=_first_person(proposal, turn)),
                grounding=grounding.score,
                speech_act=act,
                review=_review(heard.doubts, grounding),
            )
            found.append(_Meant(proposal=replace(proposal, quote=grounding.quote), standing=standing, offer=offer))
    return found


def _offered(heard: _Heard, extraction: Extraction, means: Means) -> list[Offer]:
    """Return the proposals as they go on; what is adopted must stand in the turn as what it became, too."""
    if not extraction.adoptable:
        return [Offer(proposal=one) for one in extraction.proposals]
    found = []
    for proposal in extraction.proposals:
        for offer in offers(proposal, means.types):
            stands = offer.was is None or isinstance(
                ground(offer.proposal, heard.turn, heard.context, means.types), Grounded
            )
            found.extend([offer] if stands else [] if proposal.ends else [Offer(proposal=proposal)])
    return found


def _candidate(one: _Meant, turn: Turn, means: Means) -> Candidate:
    """Return the candidate of a proposal, which tells what type it was adopted from. Raises Unfit."""
    found = candidate(one.proposal, turn, one.standing, means.types, means.extractor)
    if one.offer.was is None:
        return found
    adopted = {"from": one.offer.was.type, "because": one.offer.because}
    return replace(found, provenance={**found.provenance, "reclassified": adopted})


_ACTS = {SpeechAct.QUESTION: "a question", SpeechAct.SARCASM: "sarcasm"}


def _act(proposal: Proposal, heard: _Heard, grounding: Grounded) -> SpeechAct:
    """Return the more cautious of what the extractor and the rules say was done with the words.

    An ending is a denial that asserts: `I no longer work there`.
    """
    sentence, before = sentence_of(heard.turn.content, grounding.span)
    act = more_cautious(proposal.speech_act, speech_act(sentence, before))
    framed = heard.framing.at(grounding.span[0], sentence)
    act = act if framed is None else more_cautious(act, framed)
    if is_foreign(_begins(grounding, heard), heard.foreign):
        act = more_cautious(act, SpeechAct.QUOTATION)
    return SpeechAct.ASSERTION if proposal.ends and act is SpeechAct.NEGATION else act


def _begins(grounding: Grounded, heard: _Heard) -> int:
    """Return where what it says begins: past the words that lead to it, where its quote has them too."""
    start, end = grounding.span
    inside = [first for first, last in heard.foreign if start < first < end <= last + 1]
    return inside[0] if inside else start


def _first_person(proposal: Proposal, turn: Turn) -> bool:
    about = proposal.payload.get("subject", turn.first_person)
    return about == turn.first_person


def _review(doubts: Sequence[Suspicion], grounding: Grounded) -> str | None:
    """Return why a person should look at it: anything said beside an injection, or a secret in its own words."""
    start, end = grounding.span
    for doubt in doubts:
        if doubt.kind is Kind.INJECTION or (doubt.span[0] < end and start < doubt.span[1]):
            return doubt.why
    return None


def _named(
    meant: Sequence[_Meant],
    turn: Turn,
    context: Sequence[Turn],
    referents: Sequence[Referent],
    means: Means,
    trace: Trace,
    refused: list[Refused],
) -> tuple[list[_Meant], tuple[Binding, ...]]:
    """Replace `she`, `the company`, `my manager` by whom they mean."""
    with trace.stage("references", len(meant)) as stage:
        told = referred([one.proposal for one in meant], turn, referents, context, means.types)
        found = []
        for one, answer in zip(meant, told.answers, strict=True):
            if isinstance(answer, Unresolved):
                refused.append(Refused(proposal=one.proposal, reason=answer.reason))
                stage.drop(one.proposal.type, answer.reason)
            else:
                found.append(replace(one, proposal=answer))
    return found, told.bindings


def _episode(turn: Turn, context: Sequence[Turn], doubts: Sequence[Suspicion], means: Means) -> Candidate | None:
    if not means.keep_episodes:
        return None
    standing = Standing(
        source=source_strength(turn.role, first_person=True),
        grounding=1.0,
        speech_act=SpeechAct.ASSERTION,
        review=doubts[0].why if doubts else None,
    )
    before = context[-1] if context else None
    return episode(turn, before, means.types.get(EPISODE), standing)
