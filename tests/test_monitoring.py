"""The dashboard, the alert rules and the runbook name metrics and labels that exist."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
import yaml  # type: ignore[import-untyped]
from prometheus_client.parser import text_string_to_metric_families

from app.metrics import Metrics
from tests.test_packaging import ROOT

OF_PROMETHEUS = {"up"}
LABELS_OF_PROMETHEUS = {"job", "instance", "le"}
NAME = re.compile(r"\b(?:tm|process|python)_[a-z_]+\b|\bup\b")


def rules() -> list[dict[str, Any]]:
    loaded = yaml.safe_load((ROOT / "deploy" / "prometheus" / "alerts.yml").read_text())
    return [rule for group in loaded["groups"] for rule in group["rules"]]


def panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((ROOT / "deploy" / "grafana" / "typed-memory.json").read_text())["panels"]
    return found


def expressions() -> Iterator[str]:
    yield from (rule["expr"] for rule in rules())
    yield from (target["expr"] for panel in panels() for target in panel["targets"])


@pytest.fixture(scope="module")
def samples() -> dict[str, set[str]]:
    """Every sample that a service exposes after a little of everything, with its labels."""
    metrics = Metrics()
    metrics.watch_pool(lambda: 0, 10)
    metrics.watch_admission(lambda: 0)
    metrics.watch_clock(lambda: 0)
    metrics.turned_away("full")
    metrics.pool_waited(0.1)
    metrics.database_error("57014")
    metrics.write_stage("persist", 0.1)
    metrics.request("POST", "/query", 200, 0.1)
    metrics.arm("semantic", 0.1)
    metrics.embed("ok", 0.1, 1)
    metrics.llm("extract", "ok", 0.1)
    metrics.llm_tokens("extract", 1, 1, 0.1)
    metrics.decision("fact", "added")
    metrics.turn("done", "")
    metrics.feedback("useful", "kept")
    metrics.retry("moved")
    metrics.job_started("hype")
    metrics.job_ended("hype", "succeeded", 0.1)
    metrics.worker("gc", "done", {"deleted": 1}, 0.1)
    metrics.queue(0, 0)
    metrics.reviews({"secret": 0})
    families = text_string_to_metric_families(metrics.exposition().decode())
    return {sample.name: set(sample.labels) for family in families for sample in family.samples}


@pytest.mark.parametrize("expression", sorted(set(expressions())))
def test_an_expression_names_metrics_and_labels_that_exist(expression: str, samples: dict[str, set[str]]) -> None:
    bare = re.sub(r'"[^"]*"', '""', expression)
    names = set(NAME.findall(bare))
    assert names
    assert names - OF_PROMETHEUS <= set(samples)
    known = LABELS_OF_PROMETHEUS.union(*(samples.get(name, set()) for name in names))
    matched = {
        label for inner in re.findall(r"\{([^}]*)\}", bare) for label in re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", inner)
    }
    grouped = {label for inner in re.findall(r"\bby \(([^)]*)\)", bare) for label in inner.split(", ")}
    assert matched | grouped <= known


def test_every_alert_has_a_section_in_the_runbook() -> None:
    runbook = (ROOT / "docs" / "runbook.md").read_text()
    sections = re.findall(r"^## (\w+)$", runbook, re.MULTILINE)
    assert sections == [rule["alert"] for rule in rules()]
    for rule in rules():
        assert rule["annotations"]["runbook"] == f"docs/runbook.md#{rule['alert'].lower()}"
        assert rule["labels"]["severity"] in {"critical", "warning", "info"}


def test_panels_do_not_overlap_and_have_their_own_numbers() -> None:
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels()}
    assert len(places) == len(panels()) == len({panel["id"] for panel in panels()})


def test_a_process_tells_its_memory_and_its_version(samples: dict[str, set[str]]) -> None:
    assert "process_resident_memory_bytes" in samples
    assert samples["tm_build_info"] == {"version", "python"}


def test_busy_tenants_are_counted_under_their_ids_up_to_a_bound_and_the_others_together() -> None:
    metrics = Metrics(tenants=2)
    busy, rare, late = uuid4(), uuid4(), uuid4()
    for tenant, requests in ((rare, 5), (busy, 150), (late, 120), (uuid4(), 200)):
        for _ in range(requests):
            metrics.tenant_request(tenant)
    counted = {
        sample.labels["tenant"]: sample.value
        for family in text_string_to_metric_families(metrics.exposition().decode())
        for sample in family.samples
        if sample.name == "tm_tenant_requests_total"
    }
    assert counted == {str(busy): 51, str(late): 21, "other": 5 + 99 + 99 + 200}


def test_tenants_are_not_counted_unless_it_is_asked_for() -> None:
    metrics = Metrics()
    metrics.tenant_request(uuid4())
    assert b"tm_tenant_requests_total{" not in metrics.exposition()
