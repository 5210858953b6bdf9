"""The chart, rendered by Helm's library in `make deployment`, else by as much of its language as the chart uses."""

from __future__ import annotations

import json
import re
import textwrap
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from app.settings import Settings
from tests.test_packaging import ROOT

CHART = ROOT / "deploy" / "helm" / "typed-memory"
RELEASE = "memory"
NOTE = 1
LIBRARY = find_spec("helm_python")
VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text())
ABOUT: dict[str, Any] = yaml.safe_load((CHART / "Chart.yaml").read_text())
HELPERS = (CHART / "templates" / "_helpers.tpl").read_text()
DEFINED = dict(re.findall(r'\{\{- define "([\w-]+\.\w+)" -\}\}\n(.*?)\{\{- end \}\}', HELPERS, re.DOTALL))
INCLUDE = re.compile(r'\s*\{\{- include "([\w.-]+)" \. \| nindent (\d+) \}\}')
RANGE = re.compile(r"\n\{\{- range \$name, \$value := (\S+) \}\}(.*?)\n\{\{- end \}\}", re.DOTALL)
SETTING = '{{ include "typed-memory.setting" $value }}'
ACTION = re.compile(r"\{\{ (.*?) \}\}")
CHECKSUM = re.compile(r'include \(print \$\.Template\.BasePath "/([\w.]+)"\) \. \| sha256sum')

Objects = dict[str, dict[str, Any]]
"""The chart's objects, by kind and name."""


def value(path: str, values: dict[str, Any]) -> Any:
    """The value of a path such as `.Values.image`; a KeyError for one that there is not."""
    found: Any = {"Values": values, "Release": {"Name": RELEASE}, "Chart": {"AppVersion": ABOUT["appVersion"]}}
    for name in path.strip(".").split("."):
        found = found[name]
    return found


def action(given: str, values: dict[str, Any]) -> str:
    """The text of an action: a path, through `quote` or `toJson`, a sum, or the checksum of a template."""
    if template := CHECKSUM.fullmatch(given):
        return sha256(rendered((CHART / "templates" / template[1]).read_text(), values).encode()).hexdigest()
    if given.startswith("add "):
        return str(sum(value(one, values) if one.startswith(".") else int(one) for one in given.split()[1:]))
    path, _, through = given.partition(" | ")
    written = path.removeprefix("toJson ")
    found = value(written, values)
    return json.dumps(found) if written != path else json.dumps(str(found)) if through == "quote" else str(found)


def rendered(text: str, values: dict[str, Any]) -> str:
    text = INCLUDE.sub(
        lambda found: "\n" + textwrap.indent(rendered(DEFINED[found[1]], values).strip("\n"), " " * int(found[2])), text
    )
    text = RANGE.sub(
        lambda found: "".join(
            found[2]
            .replace("{{ $name }}", name)
            .replace(SETTING, json.dumps(one if isinstance(one, str) else json.dumps(one)))
            for name, one in value(found[1], values).items()
        ),
        text,
    )
    return ACTION.sub(lambda found: action(found[1], values), text)


def render(**settings: object) -> Objects:
    """The chart's objects with these settings of the service beside its own."""
    values = {**VALUES, "settings": {**VALUES["settings"], **settings}}
    if LIBRARY is not None:
        with import_module("helm_python").Chart.load(str(CHART)) as chart:
            texts = [text for name, text in chart.render(values, name=RELEASE).items() if name.endswith(".yaml")]
    else:
        texts = [rendered(one.read_text(), values) for one in (CHART / "templates").glob("*.yaml")]
    loaded = [yaml.safe_load(text) for text in texts]
    return {f"{one['kind']}/{one['metadata']['name']}": one for one in loaded}


@pytest.fixture(scope="module")
def objects() -> Objects:
    return render()


def test_the_chart_has_the_service_its_workers_and_a_migration_before_them(objects: Objects) -> None:
    assert set(objects) == {
        "ConfigMap/memory",
        "Deployment/memory",
        "Deployment/memory-worker",
        "Job/memory-migrate",
        "Service/memory",
    }
    assert objects["Job/memory-migrate"]["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"


def test_only_the_migration_has_the_owners_login(objects: Objects) -> None:
    has = {
        name
        for name, one in objects.items()
        for container in one.get("spec", {}).get("template", {}).get("spec", {}).get("containers", ())
        if {"secretRef": {"name": VALUES["migrationSecret"]}} in container["envFrom"]
    }
    assert has == {"Job/memory-migrate"}
    assert VALUES["migrationSecret"] != VALUES["secret"]


def test_every_container_runs_the_image_that_is_named_by_its_digest() -> None:
    image = f"registry.example.com/typed-memory@sha256:{'0f' * 32}"
    texts = [rendered(one.read_text(), {**VALUES, "image": image}) for one in (CHART / "templates").glob("*.yaml")]
    named = [found for text in texts for found in re.findall(r"image: (\S+)", text)]
    assert named == [json.dumps(image)] * 3


@pytest.mark.skipif(LIBRARY is None, reason="Helm is not installed here: make deployment")
def test_helm_lint_finds_nothing() -> None:
    told = import_module("helm_python").lint(str(CHART), strict=True, namespace="default")
    assert told["errors"] == []
    assert [one for one in told["messages"] if one["severity"] > NOTE] == []


def test_every_pod_runs_without_rights_and_with_limits(objects: Objects) -> None:
    for one in objects.values():
        if "template" not in one["spec"] if "spec" in one else True:
            continue
        pod = one["spec"]["template"]["spec"]
        [container] = pod["containers"]
        assert pod["securityContext"]["runAsNonRoot"]
        assert container["securityContext"]["readOnlyRootFilesystem"]
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert container["resources"]["limits"]["memory"]
        assert {"secretRef": {"name": VALUES["secret"]}} in container["envFrom"]


def test_the_migration_has_the_settings_before_their_config_map_exists() -> None:
    objects = render(TM_EMBEDDING_PROVIDER="openai", TM_EMBEDDING_DIMENSIONS="768")
    [migrate] = objects["Job/memory-migrate"]["spec"]["template"]["spec"]["containers"]
    assert {one["name"]: one["value"] for one in migrate["env"]} == {
        "TM_LOG_FORMAT": "json",
        "TM_EMBEDDING_PROVIDER": "openai",
        "TM_EMBEDDING_DIMENSIONS": "768",
    }
    assert [next(iter(source)) for source in migrate["envFrom"]] == ["secretRef", "secretRef"]


@pytest.mark.parametrize("name", ["memory", "memory-worker"])
def test_pods_have_the_settings(objects: Objects, name: str) -> None:
    [container] = objects[f"Deployment/{name}"]["spec"]["template"]["spec"]["containers"]
    assert {"configMapRef": {"name": "memory"}} in container["envFrom"]


@pytest.mark.parametrize("name", ["memory", "memory-worker"])
def test_pods_are_replaced_when_a_setting_changes(objects: Objects, name: str) -> None:
    def template(of: Objects) -> Any:
        return of[f"Deployment/{name}"]["spec"]["template"]

    assert template(render()) == template(objects)
    assert template(render(TM_LOG_LEVEL="DEBUG")) != template(objects)


@pytest.mark.parametrize(
    ("given", "text"), [(12_345_678, "12345678"), (0.25, "0.25"), (False, "false"), ('["a"]', '["a"]'), ("1e3", "1e3")]
)
def test_a_setting_reaches_the_pods_as_it_was_given(given: object, text: str) -> None:
    objects = render(TM_MAX_BODY_BYTES=given)
    [migrate] = objects["Job/memory-migrate"]["spec"]["template"]["spec"]["containers"]
    assert {one["name"]: one["value"] for one in migrate["env"]}["TM_MAX_BODY_BYTES"] == text
    assert objects["ConfigMap/memory"]["data"]["TM_MAX_BODY_BYTES"] == text


def test_settings_are_known_and_text(objects: Objects) -> None:
    data = objects["ConfigMap/memory"]["data"]
    assert {name.removeprefix("TM_").lower() for name in data} <= set(Settings.model_fields)
    assert all(isinstance(one, str) for one in data.values())
    Settings(**{name.removeprefix("TM_").lower(): one for name, one in data.items()})


def test_a_pod_leaves_the_service_before_it_stops(objects: Objects) -> None:
    pod = objects["Deployment/memory"]["spec"]["template"]["spec"]
    [container] = pod["containers"]
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
    delay = VALUES["preStopDelay"]
    assert delay > container["readinessProbe"]["periodSeconds"]
    assert pod["terminationGracePeriodSeconds"] > delay + Settings.model_fields["shutdown_grace"].default


def test_metrics_have_a_port_that_the_service_does_not_publish(objects: Objects) -> None:
    data = objects["ConfigMap/memory"]["data"]
    for name, setting in (("memory", "TM_OPERATIONS_PORT"), ("memory-worker", "TM_WORKER_METRICS_PORT")):
        [container] = objects[f"Deployment/{name}"]["spec"]["template"]["spec"]["containers"]
        assert {"name": "metrics", "containerPort": int(data[setting])} in container["ports"]
    assert [port["name"] for port in objects["Service/memory"]["spec"]["ports"]] == ["http"]


def test_selectors_find_their_pods(objects: Objects) -> None:
    labels = objects["Deployment/memory"]["spec"]["template"]["metadata"]["labels"]
    assert objects["Deployment/memory"]["spec"]["selector"]["matchLabels"].items() <= labels.items()
    assert objects["Service/memory"]["spec"]["selector"].items() <= labels.items()
    worker = objects["Deployment/memory-worker"]["spec"]
    assert worker["selector"]["matchLabels"].items() <= worker["template"]["metadata"]["labels"].items()
