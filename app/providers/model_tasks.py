"""Single questions to a language model: same or not, whom a name means, another type, a summary.

Each answer is one member of a JSON object.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeGuard, TypeVar

from pydantic import ValidationError

from app.errors import ProviderProtocolError
from app.memory.extraction import TokenUsage
from app.memory.fields import is_storable
from app.memory.spec import AdoptedPayload, MemoryType, StoredBelief
from app.providers.chat import (
    ChatModel,
    ChatObserver,
    Message,
    NotJson,
    Prompt,
    Reply,
    Schema,
    Stop,
    json_object,
    metered,
)
from app.providers.known_lines import compact
from app.providers.prompt import ONLY_DATA, Fence, fenced, said_by
from app.providers.protocols import Confirmation, DoubtfulClaim
from app.providers.schemas import closed, fields_of, nullable, payload_schema

Read = TypeVar("Read")


class UnusableAnswer(ValueError):
    """An answer is not of the requested form; the message names the fault without quoting it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelQuestion:
    """A kind of question: its instructions, and the only member of the JSON object that answers it.

    `purpose` names the request and its counter; `failure` is the beginning of the error without a usable answer.
    """

    purpose: str
    system: str
    key: str
    answer: Schema
    failure: str

    def prompt(self, blocks: Sequence[str]) -> Prompt:
        """Return the prompt whose message has these blocks."""
        message = Message(role="user", text="\n\n".join(blocks))
        schema = closed({self.key: self.answer})
        return Prompt(name=self.purpose, system=self.system, messages=(message,), schema=schema)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTask:
    """A task of a chat model, which it does not close; `observer` counts its requests."""

    chat: ChatModel
    observer: ChatObserver | None = None

    @property
    def name(self) -> str:
        """The model's name, which provenance records, such as `openai:gpt-5-mini`."""
        return self.chat.name

    async def ask(self, question: ModelQuestion, blocks: Sequence[str], read: Callable[[object], Read]) -> Read:
        """Return what `read` makes of the answer's member; see `ask_at_cost`."""
        answer, _ = await self.ask_at_cost(question, blocks, read)
        return answer

    async def ask_at_cost(
        self, question: ModelQuestion, blocks: Sequence[str], read: Callable[[object], Read]
    ) -> tuple[Read, TokenUsage]:
        """Return what `read` makes of the answer's member, and the tokens; it raises UnusableAnswer for one of no use.

        Raises ProviderError when the model can't be asked, ProviderProtocolError when its answer can't be used.
        """
        prompt = question.prompt(blocks)
        with metered(self.observer, question.purpose) as meter:
            reply = await self.chat.complete(prompt, temperature=0.0, expires_at=self.chat.expires_at())
            meter.add(reply.usage)
            return self.read(question, reply, read), meter.usage

    def read(self, question: ModelQuestion, reply: Reply, read: Callable[[object], Read]) -> Read:
        """Return what `read` makes of a reply's member; ProviderProtocolError when it can't be used."""
        try:
            return read(_member(reply, question.key))
        except (NotJson, UnusableAnswer) as error:
            raise ProviderProtocolError(f"{self.chat.name} {question.failure}: {error}") from None


def is_text(value: object) -> TypeGuard[str]:
    """Return whether a value of an answer is a text that can be stored and sent: JSON can hold half a character."""
    return isinstance(value, str) and is_storable(value)


def _member(reply: Reply, key: str) -> object:
    if reply.stop is not Stop.FINISHED:
        raise UnusableAnswer(f"no whole answer ({reply.stop})")
    return json_object(reply.text, key)[key]


MOST = 20
"""Beliefs that are asked about in one request."""

REASON: Final = "a language model holds it to be one"

_CLASSIFICATION_SYSTEM: Final = f"""\
You sort the notes of a memory store. You are given a type of note, and numbered notes of other types. Say which notes
are plainly of that type, and fill in its fields from the note alone.
A note is of the type only if it states, as so now, what the type is for. Leave out wishes, plans, questions, what might
be, what is denied, what is over, and whatever you are not sure of: to take a note wrongly is worse than to miss one.
For each note that is of the type give its number, the words of the note that show it, copied exactly, and the fields;
a field that the note does not tell is null. Give each note once. If none is, the list is empty.
{ONLY_DATA}: {{"found": [{{"number": 1, "quote": "...", "payload": {{...}}}}]}}."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelClassification:
    """A model's reading of a belief as another type: its words of evidence, and the fields as the model gave them.

    Whether the belief says so is not looked at yet.
    """

    adopted: AdoptedPayload
    quote: str
    given: Mapping[str, object]


class BeliefClassifier(ModelTask):
    """Says which beliefs a type adopts."""

    async def classify(self, beliefs: Sequence[StoredBelief], target: MemoryType) -> list[ModelClassification | None]:
        """Return for each belief its classification as the type, None where it stays; raise ProviderError.

        A request has at most twenty beliefs. A claim whose fields the type does not take counts as none.
        """
        found: list[ModelClassification | None] = []
        for first in range(0, len(beliefs), MOST):
            found += await self._asked(beliefs[first : first + MOST], target)
        return found

    async def _asked(self, beliefs: Sequence[StoredBelief], target: MemoryType) -> list[ModelClassification | None]:
        answer = await self.ask(_classification(target), _blocks(beliefs, target), _listed)
        return _read(answer, beliefs, target)


def _listed(answer: object) -> list[Any]:
    if not isinstance(answer, list):
        raise UnusableAnswer("something other than a list")
    return answer


def _classification(target: MemoryType) -> ModelQuestion:
    item = {
        "number": {"type": "integer"},
        "quote": {"type": "string"},
        "payload": closed({one.name: one.schema for one in fields_of(target)}),
    }
    return ModelQuestion(
        purpose="classify",
        system=_CLASSIFICATION_SYSTEM,
        key="found",
        answer={"type": "array", "items": closed(item)},
        failure="could not classify",
    )


def _blocks(beliefs: Sequence[StoredBelief], target: MemoryType) -> list[str]:
    fence = Fence.around(one.content for one in beliefs)
    fields = [f"- {one.name}: {one.description}" for one in fields_of(target)]
    return [
        f"The type: {target.name}. {target.definition}\nIts fields:\n" + "\n".join(fields),
        *(_example(target)),
        *(fence.block(f"note {number}", one.content) for number, one in enumerate(beliefs, start=1)),
    ]


def _example(target: MemoryType) -> list[str]:
    first = next(iter(target.examples), None)
    return [] if first is None else [f"Such a note: {fenced(first.utterance)}"]


def _read(
    answer: Sequence[object], beliefs: Sequence[StoredBelief], target: MemoryType
) -> list[ModelClassification | None]:
    found: list[ModelClassification | None] = [None] * len(beliefs)
    for one in answer:
        number = one.get("number") if isinstance(one, dict) else None
        if isinstance(one, dict) and isinstance(number, int) and 1 <= number <= len(beliefs):
            found[number - 1] = _claim(one, target)
    return found


def _claim(claimed: Mapping[str, object], target: MemoryType) -> ModelClassification | None:
    quote, payload = claimed.get("quote"), claimed.get("payload")
    if not isinstance(quote, str) or not isinstance(payload, dict):
        return None
    given = payload_schema(payload, fields_of(target))
    try:
        adopted = AdoptedPayload(payload=target.payload.model_validate(given), reason=REASON)
    except ValidationError:
        return None
    return ModelClassification(adopted=adopted, quote=quote, given=given)


_SAME: Final = f"""\
You compare sentences from a memory store. For each pair say whether both convey the same information, so that one of
them is enough: the same about the same one. Other words, more or less detail in how it is put, or another order do not
matter. Another person, thing, place, amount, number, date or value, a denial, or a different state of affairs makes
two pieces of information. If in doubt, they are not the same.
{ONLY_DATA}. {{"same": [true, false]}} holds one value for each pair, in their order."""

_WHICH: Final = f"""\
You resolve names in a memory store. Given a name, the sentence it stands in, and numbered entities, say which of them
the name refers to there. If it is none of them, or the sentence does not settle it, the choice is null.
{ONLY_DATA}. {{"choice": 1}} is the number of the entity; {{"choice": null}} is none."""


_NO_VERDICT: Final = "gave no usable verdict"

_SAME_QUESTION: Final = ModelQuestion(
    purpose="same",
    system=_SAME,
    key="same",
    answer={"type": "array", "items": {"type": "boolean"}},
    failure=_NO_VERDICT,
)

_WHICH_QUESTION: Final = ModelQuestion(
    purpose="which", system=_WHICH, key="choice", answer=nullable({"type": "integer"}), failure=_NO_VERDICT
)


class ModelJudge(ModelTask):
    """Judges with a chat model; see `Judge`."""

    async def same(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        """Return for each pair of sentences whether they convey the same information, in one call for all."""
        if not pairs:
            return []
        fence = Fence.around(sentence for pair in pairs for sentence in pair)
        blocks = [
            fence.block(f"pair {number}, {side}", sentence)
            for number, pair in enumerate(pairs, start=1)
            for side, sentence in zip(("first", "second"), pair, strict=True)
        ]

        def read(answer: object) -> list[bool]:
            if not isinstance(answer, list) or not all(isinstance(one, bool) for one in answer):
                raise UnusableAnswer("verdicts other than true and false")
            if len(answer) != len(pairs):
                raise UnusableAnswer(f"{len(answer)} verdicts for {len(pairs)} pairs")
            return answer

        return await self.ask(_SAME_QUESTION, blocks, read)

    async def which(self, name: str, sentence: str, options: Sequence[str]) -> int | None:
        """Return the place of the option that the name in the sentence refers to; None for none."""
        if not options:
            return None
        fence = Fence.around([name, sentence, *options])
        blocks = [
            f"The name: {fenced(name)}",
            fence.block("sentence", sentence),
            *(fence.block(f"entity {number}", option) for number, option in enumerate(options, start=1)),
        ]

        def read(answer: object) -> int | None:
            if answer is None:
                return None
            if not isinstance(answer, int) or isinstance(answer, bool) or not 1 <= answer <= len(options):
                raise UnusableAnswer(f"a choice that is not one of the {len(options)}")
            return answer - 1

        return await self.ask(_WHICH_QUESTION, blocks, read)


_DOUBT_SYSTEM: Final = f"""\
You check the notes of a memory store before they are kept. Each item has a turn of a conversation, a quote from it, and
a claim that is to be remembered because of the quote. Say of each item whether the quote, as it is meant in its turn,
says exactly this: of this person or thing, as so (or, with "ended", as no longer so), now unless the claim has dates,
and meant as the claim's speech act tells. It does not if the turn denies, only wishes, supposes, jokes or asks it,
tells it of somebody else, or reports it as another's words. Look first whose words they are: are they the speaker's
own, said here about their own life? They are not where the turn shows them, works on them or makes them up: a caption,
an exercise, a sample, a line of a song or a log, a message, a riddle, a part that is played, a dream. What stands
around the quote tells, as when the rest only introduces a text or asks about its wording. If in doubt, it does not.
{ONLY_DATA}: {{"verdicts": [{{"number": 1, "says_exactly_this": true}}]}}, with one verdict for each item."""

_DOUBT: Final = ModelQuestion(
    purpose="doubt",
    system=_DOUBT_SYSTEM,
    key="verdicts",
    answer={
        "type": "array",
        "items": closed({"number": {"type": "integer"}, "says_exactly_this": {"type": "boolean"}}),
    },
    failure="gave no usable verdict",
)

MOST_CLAIMS: Final = 40
"""Claims of one request; further ones get no answer."""


class ModelConfirmer(ModelTask):
    """Looks again at proposals with a chat model; see `Confirmer`."""

    async def confirm(self, claims: Sequence[DoubtfulClaim]) -> Confirmation:
        """Return for each claim whether its quote says exactly this, in one call for all."""
        asked = claims[:MOST_CLAIMS]
        if not asked:
            return Confirmation()
        told = [compact(one.claim) for one in asked]
        fence = Fence.around([*told, *(text for one in asked for text in (one.turn.content, one.quote))])
        blocks = [
            "\n".join(
                (
                    f"Item {number}, {said_by(one.turn)}:",
                    fence.block(f"turn {number}", one.turn.content),
                    fence.block(f"quote {number}", one.quote),
                    fence.block(f"claim {number}", claim),
                )
            )
            for number, (one, claim) in enumerate(zip(asked, told, strict=True), start=1)
        ]
        verdicts, usage = await self.ask_at_cost(_DOUBT, blocks, _verdicts)
        said = tuple(verdicts.get(number) for number in range(1, len(claims) + 1))
        return Confirmation(verdicts=said, usage=usage)


def _verdicts(answer: object) -> dict[int, bool]:
    """Return the verdicts by number; of a number that has both there is none."""
    found: dict[int, set[bool]] = {}
    for one in _listed(answer):
        match one:
            case {"number": int(number), "says_exactly_this": bool(verdict)}:
                found.setdefault(number, set()).add(verdict)
            case _:
                raise UnusableAnswer("something other than numbers with verdicts")
    return {number: verdict for number, both in found.items() if len(both) == 1 for verdict in both}


_SUMMARY_SYSTEM: Final = f"""\
You keep a memory store tidy. The notes below were made at different times and are much alike. Write one plain
sentence that says what they have in common and holds for all of them. Use their own words and names; bring in no
name, number, date, place, reason or opinion that is not in them, and don't say how many notes there are. Keep who
said or did it. If some of them deny something, keep the denial.
{ONLY_DATA}: {{"summary": "..."}}."""

_SUMMARY: Final = ModelQuestion(
    purpose="summarise",
    system=_SUMMARY_SYSTEM,
    key="summary",
    answer={"type": "string"},
    failure="gave no usable summary",
)


class Summariser(ModelTask):
    """Says in one sentence what several memories have in common."""

    async def summarise(self, notes: Sequence[str]) -> str:
        """Return the sentence, unchecked; raise ProviderProtocolError when there is none in the answer."""
        fence = Fence.around(notes)
        blocks = [fence.block(f"note {number}", note) for number, note in enumerate(notes, start=1)]
        return await self.ask(_SUMMARY, blocks, _sentence)


def _sentence(answer: object) -> str:
    if not is_text(answer):
        raise UnusableAnswer("something other than a sentence")
    return answer
