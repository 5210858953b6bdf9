"""Webhooks, against a real receiver on this machine that answers, refuses and is slow."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import UUID

import httpx
import pytest
from cryptography.fernet import Fernet
from fastapi import FastAPI
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from app import feature, ids
from app.errors import ConfigurationError
from app.features.webhooks import routes as api
from app.features.webhooks import service
from app.features.webhooks import sql as webhooks
from app.features.webhooks.secret_box import SecretBox
from app.features.webhooks.sender import WebhookMessage, WebhookSender
from app.features.webhooks.service import DELAYS, WebhookDraft, Webhooks
from app.jobs.worker import run_worker
from app.model import Actor, WebhookEvent
from app.providers.addresses import fault_of, is_public
from app.runtime import Runtime
from tests.api.conftest import OPERATOR_KEY, Tenant, connected, fact, new_tenant, running, settings_for
from tests.support.waiting import PATIENCE, ended_job


@dataclass
class Receiver:
    """A receiver that keeps what it gets; `answers` are its next statuses, then 204."""

    url: str = ""
    answers: list[int] = field(default_factory=list)
    delay: float = 0.0
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.got]


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            receiver.got.append((dict(self.headers.items()), body))
            time.sleep(receiver.delay)
            status = receiver.answers.pop(0) if receiver.answers else 204
            self.send_response(status)
            if status in range(300, 400):
                self.send_header("Location", receiver.url + "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class Clock:
    now: datetime

    def __call__(self) -> datetime:
        return self.now

    def go(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@dataclass
class Post:
    """A tenant with a webhook to a receiver, and the service that sends, by a clock of the test's own."""

    tenant: Tenant
    receiver: Receiver
    service: Webhooks
    clock: Clock
    webhook: dict[str, Any]

    @property
    def client(self) -> httpx.AsyncClient:
        return self.tenant.client

    async def actor(self) -> Actor:
        token = self.client.headers["authorization"].removeprefix("Bearer ")
        found: Actor = await self.tenant.app.state.runtime.keys.authenticate(token)
        return found

    async def tenant_id(self) -> UUID:
        return (await self.actor()).tenant_id

    async def stored_secrets(self) -> list[str]:
        async with self.service.database.read(tenant := await self.tenant_id()) as session:
            [stored] = await webhooks.list_webhooks(session, tenant)
        return [stored.secret, stored.previous_secret or ""]

    async def is_due(self) -> bool:
        async with self.service.database.read(None) as session:
            return await self.tenant_id() in await webhooks.due_tenants(session, now=self.clock(), most=1_000)

    async def send(self) -> None:
        async for _ in self.service.send_due(await self.tenant_id()):
            pass

    async def deliveries(self) -> list[dict[str, Any]]:
        answer = await self.client.get(f"/admin/webhooks/{self.webhook['id']}/deliveries")
        assert answer.status_code == 200, answer.text
        api.DeliveryPageOut.model_validate(answer.json())
        found: list[dict[str, Any]] = answer.json()["deliveries"]
        return found

    async def write(self, **fields: Any) -> dict[str, Any]:
        answer = await self.client.post("/memories/typed/fact", json=fact(**fields))
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()
        return found


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


@pytest.fixture(scope="module")
async def sending(module_database_url: str) -> AsyncIterator[FastAPI]:
    """A service without a worker, so that the tests alone send."""
    settings = settings_for(module_database_url, worker="off", webhook_private_addresses=True)
    async with running(settings) as started:
        yield started


@pytest.fixture
async def post(sending: FastAPI, receiver: Receiver, request: pytest.FixtureRequest) -> AsyncIterator[Post]:
    async with connected(sending, OPERATOR_KEY) as operator, new_tenant(sending, operator, request.node.name) as tenant:
        yield await _posted(tenant, receiver)


async def _posted(tenant: Tenant, receiver: Receiver) -> Post:
    runtime: Runtime = tenant.app.state.runtime
    clock = Clock(runtime.clock() + timedelta(seconds=30))
    sender = WebhookSender(timeout=PATIENCE, private=True)
    service = Webhooks(database=runtime.database, sender=sender, box=runtime.service(Webhooks).box, clock=clock)
    made = await tenant.client.post("/admin/webhooks", json={"url": receiver.url, "events": list(WebhookEvent)})
    assert made.status_code == 201, made.text
    return Post(tenant, receiver, service, clock, made.json())


async def test_what_happens_to_memories_is_told_in_order_and_signed(post: Post) -> None:
    first = (await post.write(object="Volkswagen"))["memory"]["id"]
    second = (await post.write(object="Rivian"))["memory"]["id"]
    await post.client.post("/memories/typed/fact", json=fact(object="Rivian", ends=True))
    await post.send()
    told = [(one["type"], one["data"]["memory_id"]) for one in post.receiver.events]
    assert sorted(told) == sorted(
        [
            ("memory.created", first),
            ("memory.superseded", first),
            ("memory.created", second),
            ("memory.expired", second),
        ]
    )
    assert told[0] == ("memory.created", first)
    assert "Volkswagen" not in str(post.receiver.got), "messages hold ids, no content"
    for headers, body in post.receiver.got:
        assert Webhook(post.webhook["secret"]).verify(body, headers, json_parse=True)["type"]
        with pytest.raises(WebhookVerificationError):
            Webhook(post.webhook["secret"]).verify(body + b" ", headers)
    assert {one["status"] for one in await post.deliveries()} == {"delivered"}
    await post.send()
    assert len(post.receiver.got) == 4, "nothing is sent twice"


async def test_what_waits_for_review_and_a_job_that_is_done_are_told(post: Post) -> None:
    await post.write(object="Volkswagen")
    weak = await post.write(object="Rivian", source_confidence=0.2, extractor_confidence=0.9)
    assert weak["decision"] == "contradicted"
    answer = await post.client.post("/turns", json={"content": "I live in Porto.", "user_id": "u2"})
    stop = asyncio.Event()
    worker = asyncio.create_task(
        run_worker(post.tenant.app.state.runtime, handlers=feature.handlers(), stop=stop, schedules=[])
    )
    job = await ended_job(post.client, answer.json()["job_id"])
    stop.set()
    await worker
    post.clock.go(60)
    await post.send()
    data = {one["type"]: one["data"] for one in post.receiver.events}
    assert data["review.waiting"]["review_id"] == weak["memory"]["id"].replace("mem_", "rev_")
    assert data["memory.contested"]["memory_id"].startswith("mem_")
    assert data["job.done"] == {"job_id": job["id"], "kind": "ingest", "status": "succeeded"}


async def test_a_receiver_that_fails_is_asked_again_later_with_the_same_id(post: Post) -> None:
    await post.write()
    post.receiver.answers = [500, 302]
    await post.send()
    [one] = await post.deliveries()
    assert (one["status"], one["attempts"], one["answered"]) == ("waiting", 1, 500)
    await post.send()
    assert len(post.receiver.got) == 1, "it is not due yet"
    post.clock.go(DELAYS[0])
    await post.send()
    assert (await post.deliveries())[0]["answered"] == 302, "a redirect is not followed"
    post.clock.go(DELAYS[1])
    await post.send()
    [one] = await post.deliveries()
    assert (one["status"], one["attempts"], one["answered"], one["error"]) == ("delivered", 3, 204, None)
    assert len({headers["webhook-id"] for headers, _ in post.receiver.got}) == 1


async def test_what_happens_after_a_failure_waits_behind_what_failed(post: Post) -> None:
    first = (await post.write(object="Volkswagen"))["memory"]["id"]
    post.receiver.answers = [503]
    await post.send()
    later = (await post.write(user_id="u2", object="Rivian"))["memory"]["id"]
    await post.send()
    assert [one["data"]["memory_id"] for one in post.receiver.events] == [first], "a broken receiver is left in peace"
    assert not await post.is_due(), "no job is queued for what cannot be sent"
    post.clock.go(DELAYS[0])
    assert await post.is_due()
    await post.send()
    assert [one["data"]["memory_id"] for one in post.receiver.events] == [first, first, later]


async def test_a_test_is_sent_at_once_and_a_retry_of_what_failed_frees_the_rest(post: Post) -> None:
    await post.write()
    post.receiver.answers = [500, 500, 500]
    for delay in DELAYS[:2]:
        await post.send()
        post.clock.go(delay)
    await post.send()
    await post.write(object="Rivian")
    [failed] = [one for one in await post.deliveries() if one["attempts"]]
    behind = len(await post.deliveries()) - 1
    assert (await post.client.post(f"/admin/webhooks/{post.webhook['id']}/test")).status_code == 201
    await post.send()
    assert [one["type"] for one in post.receiver.events[3:]] == ["webhook.test"]
    assert (await post.client.post(f"/admin/deliveries/{failed['id']}/retry")).status_code == 201
    await post.send()
    assert len(post.receiver.events[4:]) == 1 + behind


async def test_a_slow_receiver_is_cut_off_and_holds_nobody_else_up(post: Post) -> None:
    post.receiver.delay = 60.0
    post.service = replace(post.service, sender=WebhookSender(timeout=2.0, private=True))
    await post.write(object="Volkswagen")
    await post.write(object="Rivian")
    began = time.monotonic()
    await post.send()
    assert time.monotonic() - began < post.receiver.delay
    waiting = await post.deliveries()
    assert {one["status"] for one in waiting} == {"waiting"}
    assert sum(one["attempts"] for one in waiting) == 1, "one time-out is enough to wait"
    assert "2 s" in next(one["error"] for one in waiting if one["error"])


async def test_a_slow_receiver_with_a_long_queue_lets_others_have_theirs(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "LINE_SECONDS", 0.5)
    actor, slow = await post.actor(), ids.parse(ids.WEBHOOK, post.webhook["id"])
    for _ in range(2 * service.BATCH):
        await post.service.test(actor, slow)
    post.receiver.delay = 0.2
    with receiving() as quick:
        made = await post.service.create(actor, WebhookDraft(url=quick.url, events=[]))
        await post.service.test(actor, made.id)
        async with aclosing(post.service.send_due(actor.tenant_id)) as batches:
            assert await anext(batches) == len(quick.got) + len(post.receiver.got)
    assert len(quick.got) == 1
    assert 0 < len(post.receiver.got) < 10


async def test_a_delivery_that_never_succeeds_fails_and_can_be_sent_again(post: Post) -> None:
    await post.write()
    post.receiver.answers = [503] * (len(DELAYS) + 1)
    for delay in (*DELAYS, 0.0):
        await post.send()
        post.clock.go(delay)
    [one] = await post.deliveries()
    assert (one["status"], one["attempts"]) == ("failed", len(DELAYS) + 1)
    post.clock.go(3600)
    assert (await post.client.post(f"/admin/deliveries/{one['id']}/retry")).status_code == 201
    await post.send()
    assert (await post.deliveries())[0]["status"] == "delivered"


async def test_a_receiver_that_is_gone_is_left_alone(post: Post) -> None:
    await post.write()
    post.receiver.answers = [410]
    await post.send()
    [webhook] = (await post.client.get("/admin/webhooks")).json()["webhooks"]
    assert (webhook["active"], "410" in webhook["paused_because"]) == (False, True)
    await post.write(object="Rivian")
    post.clock.go(3600)
    await post.send()
    assert len(post.receiver.got) == 1


async def test_after_a_rotation_both_secrets_sign_for_a_while(post: Post) -> None:
    path = f"/admin/webhooks/{post.webhook['id']}"
    rotated = await post.client.post(f"{path}/rotate", json={"grace_seconds": 600})
    assert (rotated.status_code, rotated.headers["cache-control"]) == (201, "no-store")
    assert (await post.client.post(f"{path}/test")).status_code == 201
    post.clock.go(5)
    await post.send()
    post.clock.go(3600)
    assert (await post.client.post(f"{path}/test")).status_code == 201
    await post.send()
    during, after = post.receiver.got
    assert [len(headers["webhook-signature"].split()) for headers, _ in (during, after)] == [2, 1]
    for secret in (post.webhook["secret"], rotated.json()["secret"]):
        Webhook(secret).verify(during[1], during[0])


async def test_secrets_are_encrypted_by_the_newest_key_once_there_is_one(post: Post) -> None:
    old, new = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    path = f"/admin/webhooks/{post.webhook['id']}"
    rotated = (await post.client.post(f"{path}/rotate", json={"grace_seconds": 86_400})).json()["secret"]
    secrets = [rotated, post.webhook["secret"]]
    assert await post.stored_secrets() == secrets, "in clear without a key"
    for keys in (old, f"{new},{old}", new):
        service = replace(post.service, box=SecretBox.of(keys))
        assert await service.reseal(await post.tenant_id()) == (keys != new)
        stored = await post.stored_secrets()
        assert [service.box.open(one) for one in stored] == secrets
        assert all(one.startswith("fernet:") for one in stored)
    assert (await post.client.post(f"{path}/test")).status_code == 201
    await replace(post, service=service).send()
    [(headers, body)] = post.receiver.got
    for secret in secrets:
        Webhook(secret).verify(body, headers)
    made = await service.create(await post.actor(), WebhookDraft(url="https://example.com", events=[]))
    assert made.secret.startswith("whsec_")


async def test_a_secret_whose_key_is_missing_fails_the_delivery_and_says_why(post: Post) -> None:
    sealing = replace(post.service, box=SecretBox.of(Fernet.generate_key().decode()))
    assert await sealing.reseal(await post.tenant_id()) == 1
    await post.client.post(f"/admin/webhooks/{post.webhook['id']}/test")
    await post.send()
    [delivery] = await post.deliveries()
    assert (delivery["status"], delivery["attempts"], post.receiver.got) == ("waiting", 1, [])
    assert "TM_SECRETS_KEYS" in delivery["error"]


def test_what_is_no_key_is_refused_at_the_start() -> None:
    with pytest.raises(ConfigurationError, match="TM_SECRETS_KEYS: each key is 32 bytes"):
        SecretBox.of("hunter2")


async def test_secrets_are_shown_once_and_other_tenants_see_nothing(
    client: httpx.AsyncClient, other_client: httpx.AsyncClient
) -> None:
    body = {"url": "https://example.com/hook", "events": ["review.waiting"], "description": "desk"}
    made = await client.post("/admin/webhooks", json=body)
    assert (made.status_code, made.json()["secret"][:6]) == (201, "whsec_")
    listed = (await client.get("/admin/webhooks")).text
    assert made.json()["id"] in listed
    assert "whsec_" not in listed
    path = f"/admin/webhooks/{made.json()['id']}"
    assert (await other_client.get("/admin/webhooks")).json() == {"webhooks": []}
    for method, sub in (("PATCH", ""), ("DELETE", ""), ("POST", "/rotate"), ("POST", "/test")):
        answer = await other_client.request(method, path + sub, json={} if method == "PATCH" else None)
        assert answer.status_code == 404, (method, sub)
    changed = await client.patch(path, json={"active": False, "events": ["job.done"]})
    assert (changed.json()["active"], changed.json()["events"]) == (False, ["job.done"])
    assert (await client.delete(path)).status_code == 204
    assert (await client.get("/admin/webhooks")).json() == {"webhooks": []}


@pytest.mark.parametrize(
    ("host", "told"),
    [
        ("0", "not as 0"),
        ("2130706433", "127.0.0.1"),
        ("0x7f000001", "127.0.0.1"),
        ("0X7F.1", "127.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("0177.0.0.1", "valid host"),
        ("134744072", "8.8.8.8"),
        ("999.1.1.1", "valid host"),
        ("1.2.3.4.5", "four numbers"),
        ("hooks.example.com.", "without a dot at the end"),
        ("localhost.", "without a dot at the end"),
        ("LOCALHOST", "public internet"),
        ("intranet", "public internet"),
        ("printer.local", "public internet"),
        ("db.svc.cluster.local", "public internet"),
        ("metadata.google.internal", "public internet"),
        ("[::ffff:7f00:1]", "public internet"),
        ("[::ffff:10.0.0.8]", "public internet"),
        ("[::]", "public internet"),
        ("[fd00::1]", "public internet"),
        ("someone@example.com", "no user"),
        ("example.com:80@127.0.0.1", "no user"),
    ],
)
def test_a_host_that_can_only_fail_or_is_spelled_in_an_odd_way_is_refused_at_once(host: str, told: str) -> None:
    assert told in (fault_of(f"https://{host}/hook", private=False) or "")


@pytest.mark.parametrize("host", ["hooks.example.com", "8.8.8.8", "3com.example", "0x.example.com", "a.b-1.io"])
def test_names_and_public_addresses_in_the_usual_spelling_are_taken(host: str) -> None:
    assert fault_of(f"https://{host}:8443/hook?a=1", private=False) is None


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "receiver", "receiver.default.svc.cluster.local"])
def test_where_inner_addresses_are_allowed_inner_names_are_too(host: str) -> None:
    assert fault_of(f"http://{host}:9000/hook", private=True) is None
    assert fault_of("http://127.1/hook", private=True) is not None


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/",
        "ftp://example.com/",
        "https://user:secret@example.com/",
        "https://localhost/",
        "https://127.0.0.1/",
        "https://169.254.169.254/latest/meta-data",
        "https://10.0.0.8/",
        "https://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[64:ff9b::a9fe:a9fe]/",
        "https://exam ple.com/",
        "no url",
        f"https://{'a' * 64}.example/",
        "https://hooks..example/",
        "https://[v7.hooks]/",
    ],
)
async def test_a_url_that_leads_inside_is_refused(client: httpx.AsyncClient, url: str) -> None:
    answer = await client.post("/admin/webhooks", json={"url": url, "events": ["job.done"]})
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["field"] == "url"


@pytest.mark.parametrize(
    "address",
    [
        "10.1.2.3",
        "192.168.0.1",
        "172.16.0.1",
        "127.0.0.1",
        "169.254.169.254",
        "0.0.0.0",  # noqa: S104 - an address to refuse
        "100.64.0.1",
        "::1",
        "fe80::1%eth0",
        "fd00:ec2::254",
        "::ffff:10.0.0.1",
        "2002:7f00:1::",
        "224.0.0.1",
        "::127.0.0.1",
        "::ffff:0:127.0.0.1",
        "64:ff9b:1::7f00:1",
        "fec0::1",
        "192.0.0.192",
        "168.63.129.16",
    ],
)
def test_inner_addresses_are_not_public(address: str) -> None:
    assert not is_public(address)
    assert is_public("93.184.216.34")
    assert is_public("2606:2800:220:1:248:1893:25c8:1946")


async def test_a_name_that_leads_inside_is_not_connected_to(receiver: Receiver) -> None:
    async def inside(_host: str, _port: int) -> Sequence[str]:
        return ["93.184.216.34", "127.0.0.1"]

    sender = WebhookSender(timeout=1.0, resolve=inside)
    message = WebhookMessage(id="msg_1", at=datetime.now(UTC), body="{}", secrets=["whsec_c2VjcmV0"])
    answer = await sender.deliver("https://rebinding.example/", message)
    assert (answer.status, "public internet" in str(answer.error)) == (None, True)
    assert receiver.got == []


async def test_a_host_in_punycode_is_resolved_as_it_is_written() -> None:
    asked: list[str] = []

    async def nowhere(host: str, _port: int) -> Sequence[str]:
        asked.append(host)
        return []

    sender = WebhookSender(timeout=1.0, resolve=nowhere)
    message = WebhookMessage(id="msg_1", at=datetime.now(UTC), body="{}", secrets=["whsec_c2VjcmV0"])
    await sender.deliver("https://xn--gro-7ka.example/", message)
    assert asked == ["xn--gro-7ka.example"]


async def test_the_connection_goes_to_the_checked_address_under_the_hosts_name(receiver: Receiver) -> None:
    asked: list[str] = []

    async def once(host: str, _port: int) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"]

    port = receiver.url.rpartition(":")[2]
    sender = WebhookSender(timeout=PATIENCE, private=True, resolve=once)
    message = WebhookMessage(id="msg_1", at=datetime.now(UTC), body="{}", secrets=["whsec_c2VjcmV0"])
    answer = await sender.deliver(f"http://hooks.example:{port}/", message)
    assert (answer.delivered, asked) == (True, ["hooks.example"])
    assert receiver.got[0][0]["Host"] == f"hooks.example:{port}"
    assert fault_of("https://hooks.example/", private=False) is None
