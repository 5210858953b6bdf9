"""Stage: call the extractor, keep its answer with the turn, and make grounded, typed candidates of the proposals.

A kept answer is used again, so a model is not asked twice about a turn. A proposal may be read as a type that adopts
from its own (docs/decisions/rule-extraction.md).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from pydantic import TypeAdapter

from app.db.entities.write_lookup import Referent
from app.english.claims import quoted_clause
from app.english.erasure_requests import ErasureRequest
from app.english.name_identity import ties_in
from app.english.presented import MARKS, Span
from app.english.quotations import is_quoted, quoted_spans
from app.english.role_play import NO_FRAMING, RolePlayFrame
from app.english.screening import Suspicion, SuspicionKind, screen
from app.english.secrets import find_secrets
from app.english.speech_acts import SKIPPED, act_of_turn, more_cautious, own_words, speech_act
from app.errors import TypedMemoryError
from app.lexical.bm25 import text_language
from app.lexical.excision import excise
from app.lexical.tokens import locate_quote, sentence_around
from app.memory.candidate import Candidate
from app.memory.extraction import NOT_PEOPLE, Extraction, Proposal, Role, TokenUsage, Turn
from app.memory.instructions import excluding
from app.memory.normalise import normalise_name
from app.memory.registry import Registry
from app.memory.spec import MemoryType
from app.model import SpeechAct
from app.providers.chat import spent_tokens
from app.write.candidates import ProposalTrust, UnfitProposal, candidate, episode, source_strength
from app.write.claims import (
    DENIED,
    FRAMED,
    ExaminedClaim,
    doubt_of_form,
    examine,
    is_of_speaker,
    is_presupposed,
    meant_as,
    says_no,
)
from app.write.coreference import Unresolved, bind_references
from app.write.ground import Grounding, ground, is_told_by_user, says_more
from app.write.reclassify import Reclassification, reclassifications
from app.write.reference_lines import NOTHING_REFERRED, ReferredLines, gives_way, referring
from app.write.screening import secret_in
from app.write.trace import Trace
from app.write.values import Binding, ExtractedCandidates, RejectedProposal

_Item = TypeVar("_Item")

_PROPOSALS = TypeAdapter(tuple[Proposal, ...])
_ERASURES = TypeAdapter(tuple[ErasureRequest, ...])
_REASONS = TypeAdapter(tuple[str, ...])


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchingWriter(Generic[_Item]):
    """Keeps things as they come; what comes while others are being kept goes together afterwards.

    Transactions of their own would wait for one another anyway: they count towards the same day's cost.
    """

    keep: Callable[[Sequence[_Item]], Awaitable[None]]
    _waiting: list[_Item] = field(default_factory=list)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def __call__(self, item: _Item) -> None:
        """Return once the item was given to `keep`, which has returned."""
        self._waiting.append(item)
        async with self._lock:
            items = self._waiting.copy()
            self._waiting.clear()
            if items:
                await self.keep(items)


def with_spent(answer: Extraction | TypedMemoryError, spent: TokenUsage) -> Extraction | TypedMemoryError:
    """Return an answer, or why there is none, with what was spent on it before."""
    if isinstance(answer, TypedMemoryError):
        answer.__dict__["usage"] = spent_tokens(answer) + spent
        return answer
    return replace(answer, usage=answer.usage + spent)


def extraction_to_json(extraction: Extraction) -> dict[str, object]:
    """Return what to keep of an extraction, as JSON values; its cost is counted apart."""
    proposals = _PROPOSALS.dump_python(extraction.proposals, mode="json")
    erasures = _ERASURES.dump_python(extraction.erasures, mode="json")
    return {"proposals": proposals, "unusable": list(extraction.unusable), "erasures": erasures}


def extraction_from_json(kept: Mapping[str, object]) -> Extraction:
    """Return the extraction that was kept, at no cost."""
    proposals = _PROPOSALS.validate_python(kept["proposals"])
    return Extraction(
        proposals=proposals,
        unusable=_REASONS.validate_python(kept.get("unusable", ())),
        erasures=_ERASURES.validate_python(kept.get("erasures", ())),
    )


EPISODE = "episodic"
"""The type under which a turn itself is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionContext:
    """The inputs of extraction besides the turn: the types, the extractor, whether episodes are kept.

    `names` are those of whom the turn means by another name; `lines` what its proposals refer to; `shown` the texts
    that the extractor was shown as known.
    """

    types: Registry
    extractor: str
    keep_episodes: bool
    names: tuple[str, ...] = ()
    lines: ReferredLines = NOTHING_REFERRED
    shown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _GroundedProposal:
    """A proposal whose words are in the turn and meant as stated, and how it came to its type."""

    proposal: Proposal
    trust: ProposalTrust
    offer: Reclassification
    notes: tuple[str, ...] = ()


def candidates_of(
    turn: Turn,
    extraction: Extraction,
    context: Sequence[Turn],
    referents: Sequence[Referent],
    means: ExtractionContext,
    trace: Trace,
    framing: RolePlayFrame = NO_FRAMING,
    heard: Sequence[Turn] = (),
) -> ExtractedCandidates:
    """Return the candidates of one turn and the refusals; every stage is in the trace.

    `heard` are the turns before in which whom a pronoun means is looked for; without them, the context.
    """
    doubts = (*screen(turn.content, foreign=turn.role is not Role.USER), *_doubts_beside(turn))
    refused: list[RejectedProposal] = []
    said = _TurnText(
        turn=turn,
        context=context,
        doubts=doubts,
        framing=framing,
        foreign=quoted_spans(turn.content, turn.speaker),
        names=means.names,
        quotes=tuple(one.quote for one in extraction.proposals),
    )
    erasures = _erasures(said, extraction)
    meant = [
        one
        for one in _grounded(said, extraction, means, trace, refused)
        if not any(one.proposal.quote in asked.quote for asked in erasures)
    ]
    named, bindings = _named(meant, turn, heard or context, referents, means, trace, refused)
    candidates, never = _classified(named, said, heard or context, means, trace, refused)
    held = any(one.doubt is not None for one in candidates)
    kept = _episode(said, replace(means, keep_episodes=means.keep_episodes or held), erasures, never)
    return ExtractedCandidates(
        candidates=tuple(candidates) + ((kept,) if kept else ()),
        refused=tuple(refused),
        bindings=bindings,
        erasures=erasures,
    )


def _doubts_beside(turn: Turn) -> list[Suspicion]:
    """Return a suspicion of the whole turn for a secret in what was sent beside its words."""
    why = secret_in({"metadata": turn.metadata, "speaker": turn.speaker or "", "session": turn.session_id or ""})
    whole = (0, len(turn.content))
    return [] if why is None else [Suspicion(kind=SuspicionKind.SECRET, why=why, span=whole)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _TurnText:
    """A turn with its earlier turns, its doubtful parts, the game it is said in, and what of it is quoted."""

    turn: Turn
    context: Sequence[Turn]
    doubts: Sequence[Suspicion]
    framing: RolePlayFrame
    foreign: tuple[Span, ...]
    names: Sequence[str]
    quotes: Sequence[str]


def _grounded(
    text: _TurnText, extraction: Extraction, means: ExtractionContext, trace: Trace, refused: list[RejectedProposal]
) -> list[_GroundedProposal]:
    found = []
    offered = _offered(text, extraction, means)
    with trace.stage("ground", len(offered)) as stage:
        for offer in offered:
            judged = _judged(offer, text, means, examined=not extraction.adoptable)
            if isinstance(judged, RejectedProposal):
                refused.append(judged)
                stage.drop(judged.proposal.type, judged.reason)
            else:
                found.append(judged)
                stage.notes += (f"{judged.proposal.type}: {note}" for note in judged.notes)
    return found


def _judged(
    offer: Reclassification, text: _TurnText, means: ExtractionContext, *, examined: bool
) -> _GroundedProposal | RejectedProposal:
    """Return how far a proposal can be trusted, or why it is refused; `examined`: its clause must bear it out."""
    proposal, turn = offer.proposal, text.turn
    grounding = ground(
        proposal, turn, text.context, means.types, names=text.names, lines=means.lines, shown=means.shown
    )
    if not isinstance(grounding, Grounding):
        return RejectedProposal(proposal=proposal, reason=grounding)
    sentence, before = sentence_around(turn.content, grounding.span)
    spec = means.types.find(proposal.type) if examined else None
    claim, act = ExaminedClaim(proposal=proposal), SpeechAct.ASSERTION
    if examined:
        claim, act = _compared(proposal, text, grounding, spec)
    else:
        said = replace(proposal, quote=grounding.quote)
        act = more_cautious(
            _act(said, text, grounding, sentence, before), meant_as(said, sentence, grounding.span, turn)
        )
    proposal = replace(claim.proposal, quote=grounding.quote)
    known = (*text.names, *means.lines.texts(proposal))
    if proposal.sentence is not None and (says_more(proposal, turn, text.context, known) or screen(proposal.sentence)):
        proposal = replace(proposal, sentence=None)
    if act in SKIPPED:
        reason = f"it is {_ACTS[act]}, which states nothing"
        return RejectedProposal(proposal=replace(proposal, speech_act=act), reason=reason)
    review = _review(text.doubts, grounding)
    if spec is not None and act is SpeechAct.NEGATION and not says_no(proposal):
        review = review or DENIED
    trust = ProposalTrust(
        source=source_strength(turn.role, first_person=is_of_speaker(proposal, turn)),
        grounding=grounding.score,
        speech_act=act,
        review=review,
        doubt=claim.doubt,
        told_by_user=turn.role not in (NOT_PEOPLE if examined else {Role.TOOL})
        or is_told_by_user(proposal, turn, text.context, means.lines),
    )
    return _GroundedProposal(proposal=proposal, trust=trust, offer=offer, notes=claim.notes)


def _offered(text: _TurnText, extraction: Extraction, means: ExtractionContext) -> list[Reclassification]:
    """Return the proposals as they go on; what is adopted must stand in the turn as what it became, too."""
    if not extraction.adoptable:
        return [
            Reclassification(proposal=one)
            for proposal in extraction.proposals
            for one in referring(proposal, means.lines, means.types)
        ]
    found: list[Reclassification] = []
    for proposal in extraction.proposals:
        for offer in reclassifications(proposal, means.types):
            stands = offer.was is None or isinstance(
                ground(offer.proposal, text.turn, text.context, means.types, names=text.names), Grounding
            )
            offers = [offer] if stands else [] if proposal.ends else [Reclassification(proposal=proposal)]
            found += (
                replace(one, proposal=meant)
                for one in offers
                for meant in referring(one.proposal, means.lines, means.types)
            )
    return found


def _classified(
    named: Sequence[_GroundedProposal],
    text: _TurnText,
    heard: Sequence[Turn],
    means: ExtractionContext,
    trace: Trace,
    refused: list[RejectedProposal],
) -> tuple[list[Candidate], list[str]]:
    """Return the candidates, each once, and the quotes of what the turn's instructions exclude.

    An ending of what they exclude goes on: it stores nothing.
    """
    turn = text.turn
    never: list[str] = []
    found: dict[tuple[str, str, bool], Candidate] = {}
    with trace.stage("classify", len(named)) as stage:
        for one in named:
            try:
                made = replace(_candidate(one, turn, means), ties=_ties(one, turn, heard))
                _leave_out(made, one.proposal.quote, turn, never)
                found[made.type.name, str(made.payload), made.ending is None] = made
                stage.notes.extend([one.offer.told] if one.offer.was else [])
            except UnfitProposal as error:
                refused.append(RejectedProposal(proposal=one.proposal, reason=str(error)))
                stage.drop(one.proposal.type, str(error))
    return list(found.values()), never


def _leave_out(made: Candidate, quote: str, turn: Turn, never: list[str]) -> None:
    """Add the quote of a candidate that the turn's instructions exclude to `never`.

    Raises UnfitProposal, unless the candidate is an ending.
    """
    if not turn.instructions:
        return
    entry = excluding(turn.instructions, made.type, made.payload.model_dump(by_alias=True), made.topic)
    if entry is not None:
        never.append(quote)
        if made.ending is None:
            raise UnfitProposal(f"the instructions exclude {entry!r}")


def _candidate(one: _GroundedProposal, turn: Turn, means: ExtractionContext) -> Candidate:
    """Return the candidate of a proposal, which tells what type it was adopted from. Raises UnfitProposal."""
    found = candidate(one.proposal, turn, one.trust, means.types, means.extractor)
    way = {each: gives_way(means.lines.beliefs[each], means.types, turn.content) for each in one.proposal.replaces}
    found = replace(
        found,
        replaces=tuple(each for each, gives in way.items() if gives),
        disputes=tuple(each for each, gives in way.items() if not gives),
        said=_sentence(one.proposal.quote, turn),
    )
    if one.offer.was is None:
        return found
    adopted = {"from": one.offer.was.type, "because": one.offer.because}
    return replace(found, provenance={**found.provenance, "reclassified": adopted})


def _sentence(quote: str, turn: Turn) -> str | None:
    span = locate_quote(quote, turn.content)
    return None if span is None else sentence_around(turn.content, span)[0]


def _ties(one: _GroundedProposal, turn: Turn, heard: Sequence[Turn]) -> dict[str, str]:
    """Return what names were said to be to the user, the last by the end of the proposal's words first."""
    said = turn.content
    end = said.find(one.proposal.quote) + len(one.proposal.quote)
    texts = [*((each.content, each) for each in heard), (said[:end] if end >= len(one.proposal.quote) else said, turn)]
    told = (pair for text, each in texts if each.role is Role.USER for pair in ties_in(text, each.first_person))
    return {normalise_name(name): tie for name, tie in told}


_ACTS = {SpeechAct.QUESTION: "a question", SpeechAct.SARCASM: "sarcasm"}


def _compared(
    proposal: Proposal, text: _TurnText, grounding: Grounding, spec: MemoryType | None
) -> tuple[ExaminedClaim, SpeechAct]:
    """Return a model's proposal with where the wording of its clause disagrees with it, in English, and its act.

    A game, a supposition or a foreign text that it is said in counts whatever the model says, and so does what a mail
    says of its reader; other wording only raises a doubt.
    """
    turn, claim = text.turn, ExaminedClaim(proposal=proposal)
    sentence, before = sentence_around(turn.content, grounding.span)
    act = more_cautious(
        _framed(proposal.speech_act, text, grounding, sentence), meant_as(proposal, sentence, grounding.span, turn)
    )
    if text_language(turn.content) == "english":
        clause = quoted_clause(sentence, grounding.quote)
        said = replace(proposal, quote=grounding.quote)
        if spec is not None:
            claim = examine(said, clause, turn, text.context, spec)
        spoken = _spoken(said, clause, before, max(0, clause.find(grounding.quote)))
        if (
            claim.doubt is None
            and more_cautious(act, spoken) is not act
            and not (proposal.ends and spoken is SpeechAct.NEGATION)
        ):
            claim = replace(claim, doubt=f"its words read as {_ACTS.get(spoken, f'a {spoken}')}")
    form = doubt_of_form(act, turn, grounding.span, text.quotes)
    claim = replace(claim, doubt=form if form == FRAMED else claim.doubt or form)
    return claim, SpeechAct.ASSERTION if proposal.ends and act is SpeechAct.NEGATION else act


def _act(proposal: Proposal, text: _TurnText, grounding: Grounding, sentence: str, before: str) -> SpeechAct:
    """Return the more cautious of what the extractor and the rules say was done with the words.

    An ending is a denial that asserts: `I no longer work there`. What a sentence takes for granted, such as who
    Carmen is in `my sister Carmen told me`, is asserted, whatever the sentence does, unless it plays a part.
    """
    spoken = _spoken(proposal, sentence, before, grounding.span[0] - len(before))
    act = _framed(more_cautious(proposal.speech_act, spoken), text, grounding, sentence)
    return SpeechAct.ASSERTION if proposal.ends and act is SpeechAct.NEGATION else act


def _spoken(proposal: Proposal, sentence: str, before: str, start: int) -> SpeechAct:
    """Return what a sentence, or a clause, does with its words by their form; what it says begins at `start`."""
    spoken = speech_act(sentence, before)
    if spoken is SpeechAct.QUOTATION:
        spoken = speech_act(own_words(sentence, start), before)
    presupposed = spoken is not SpeechAct.ROLEPLAY and is_presupposed(proposal, sentence)
    return SpeechAct.ASSERTION if presupposed else spoken


def _framed(act: SpeechAct, text: _TurnText, grounding: Grounding, sentence: str) -> SpeechAct:
    """Return the more cautious of an act and that of the game or the foreign text that the words stand in."""
    framed = text.framing.at(grounding.span[0], sentence)
    act = act if framed is None else more_cautious(act, framed)
    if is_quoted(_begins(grounding, text), text.foreign):
        act = more_cautious(act, SpeechAct.QUOTATION)
    return act


def _begins(grounding: Grounding, text: _TurnText) -> int:
    """Return where what it says begins: past the words that lead to it, where its quote has them too."""
    start, end = grounding.span
    inside = [
        first
        for first, last in text.foreign
        if start < first < end <= last + 1 and text.turn.content[first] not in MARKS
    ]
    return inside[0] if inside else start


def _review(doubts: Sequence[Suspicion], grounding: Grounding) -> str | None:
    """Return why a person should look at it: anything said beside an injection, or a secret in its own words."""
    start, end = grounding.span
    for doubt in doubts:
        if doubt.kind is SuspicionKind.INJECTION or (doubt.span[0] < end and start < doubt.span[1]):
            return doubt.why
    return None


def _named(
    meant: Sequence[_GroundedProposal],
    turn: Turn,
    context: Sequence[Turn],
    referents: Sequence[Referent],
    means: ExtractionContext,
    trace: Trace,
    refused: list[RejectedProposal],
) -> tuple[list[_GroundedProposal], tuple[Binding, ...]]:
    """Replace `she`, `the company`, `my manager` by whom they mean."""
    with trace.stage("references", len(meant)) as stage:
        told = bind_references([one.proposal for one in meant], turn, referents, context, means.types)
        found = []
        for one, answer in zip(meant, told.answers, strict=True):
            if isinstance(answer, Unresolved):
                refused.append(RejectedProposal(proposal=one.proposal, reason=answer.reason))
                stage.drop(one.proposal.type, answer.reason)
            else:
                found.append(replace(one, proposal=answer))
    return found, told.bindings


def _erasures(text: _TurnText, extraction: Extraction) -> tuple[ErasureRequest, ...]:
    """Return the requests to forget something that a user means: none in a quotation, a play or a supposition."""
    turn = text.turn
    found = []
    for one in extraction.erasures if turn.role is Role.USER else ():
        span = locate_quote(one.quote, turn.content)
        if span is None or is_quoted(span[0], text.foreign) or text.framing.at(span[0], one.quote) is not None:
            continue
        sentence, before = sentence_around(turn.content, span)
        if speech_act(sentence, before) in {SpeechAct.ASSERTION, SpeechAct.QUESTION, SpeechAct.NEGATION}:
            found.append(one)
    return tuple(found)


def _episode(
    text: _TurnText, means: ExtractionContext, erasures: Sequence[ErasureRequest], never: Sequence[str]
) -> Candidate | None:
    """Return the turn itself as a candidate, without the sentences that ask to forget something.

    Nor has it those with a quote of what is `never` to be remembered.
    """
    if not means.keep_episodes:
        return None
    turn, doubts = text.turn, text.doubts
    if erasures or never:
        left = excise(turn.content, quotes=[*(one.quote for one in erasures), *never])
        if left.leaves_nothing:
            return None
        turn = replace(turn, content=left.text())
    trust = ProposalTrust(
        source=source_strength(turn.role, first_person=True),
        grounding=1.0,
        speech_act=act_of_turn(turn.content, text.framing, text.foreign),
        review=doubts[0].why if doubts else None,
    )
    before = text.context[-1] if text.context and not find_secrets(text.context[-1].content) else None
    return episode(turn, before, means.types.get(EPISODE), trust)
