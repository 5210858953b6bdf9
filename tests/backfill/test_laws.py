"""Whatever is in the store: a commit does what its preview says, an undoing puts back what was, nothing else moves."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from app.features.backfill.service import Backfills
from app.memory.candidate import Candidate
from app.model import Scope, ScopeKind, SpeechAct
from tests.backfill.clinic import DAY, Clinic
from tests.support.stores import Store

pytestmark = pytest.mark.long

SCOPES = (Scope(kind=ScopeKind.USER, user_id="u1"), Scope(kind=ScopeKind.USER, user_id="u2"))

medicine = st.tuples(
    st.sampled_from(["takes", "prescribed", "medication"]),
    st.builds(
        "{} {}".format,
        st.sampled_from(["metformin", "lisinopril", "insulin"]),
        st.sampled_from(["500 mg", "850 mg daily", "10 mg twice a day"]),
    ),
)
rule = st.tuples(
    st.sampled_from(["cannot-use", "must-not-use", "must-not-share"]),
    st.sampled_from(["external APIs due to compliance", "laptops by policy", "customer data"]),
)
plain = st.tuples(
    st.sampled_from(["uses", "takes", "shares", "works-at"]), st.sampled_from(["the bus", "Volkswagen", "a laptop"])
)


@st.composite
def said(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(["fact"] * 5 + ["medication", "constraint"]))
    predicate, told = draw(st.one_of(medicine, rule, plain))
    payload: dict[str, Any] = {"predicate": predicate, "object": told, "stateful": draw(st.booleans())}
    if kind == "medication":
        payload = {"medication_name": draw(st.sampled_from(["metformin", "insulin"])), "dosage": told.split(" ", 1)[-1]}
    if kind == "constraint":
        payload = {"predicate": "may-use", "rule": told}
    return {
        "kind": kind,
        "scope": draw(st.sampled_from(SCOPES)),
        "payload": payload,
        "about": {
            "stated_at": DAY + timedelta(days=draw(st.integers(0, 4))),
            "source_strength": draw(st.sampled_from([0.4, 0.9, 1.0])),
            "speech_act": draw(st.sampled_from([SpeechAct.ASSERTION] * 5 + [SpeechAct.HYPOTHETICAL])),
        },
    }


def candidate(store: Store, one: dict[str, Any]) -> Candidate:
    return store.candidate(one["kind"], one["scope"], one["about"], **one["payload"])


@settings(
    max_examples=15,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)
@given(told=st.lists(said(), min_size=1, max_size=12), kind=st.sampled_from(["medication", "constraint"]))
async def test_a_commit_is_its_preview_and_an_undoing_is_before(
    make_store: Callable[[], Any], told: list[dict[str, Any]], kind: str
) -> None:
    store: Store = await make_store()
    clock = store.pipeline.clock
    clinic = Clinic(store=store, backfills=Backfills(database=store.database, types=store.types, clock=clock))
    for each in told:
        await store.write_all([candidate(store, each)])
    before, sums = await clinic.snapshot(whole=False), await clinic.checksums()
    one = await clinic.preview(kind)
    assert await clinic.checksums() == sums
    items = {memory: item for memory, item in (await clinic.items(one)).items() if item.state == "planned"}
    done = await clinic.commit(one)
    assert done.counts.get("skipped", 0) == 0
    assert await clinic.strays({memory: item for memory, item in items.items() if item.after}) == {}
    now = await clinic.checksums()
    assert {memory for memory in sums if now[memory] != sums[memory]} == {
        memory for memory, item in items.items() if item.after
    }
    for slots in await store.sql(
        "SELECT count(*) FROM memories WHERE tenant_id = $1 AND status = 'active' AND slot IS NOT NULL "
        "AND NOT contested GROUP BY scope_id, type, slot",
        store.tenant,
    ):
        assert slots["count"] == 1
    again = await clinic.preview(kind)
    assert again.counts["flagged"] == 0
    undone = await clinic.undo(one)
    assert undone.counts.get("kept", 0) == 0
    assert await clinic.snapshot(whole=False) == before
