"""All settings, from `TM_*` environment variables, which only the runtime reads."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, get_args
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    SecretStr,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from app import connection_strings

SHORTEST_KEY = 8
LONGEST_KEY = 512
"""Most characters of a key."""

LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR"]

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
"""Hosts that are this machine, to which plain http is safe."""

_ORIGIN = re.compile(r"https?://[^/\s?#*@]+")


StrictCount = Annotated[int, Field(strict=True, gt=0, lt=2**63)]


class Limits(BaseModel):
    """Limits of a tenant or of a key; None is no limit, or the service's default where there is one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    requests_per_minute: StrictCount | None = Field(default=None, description="Requests, counted by each process.")
    memories_per_day: StrictCount | None = Field(
        default=None, description="Memories sent to be stored, one by one, in batches and by import."
    )
    turns_per_day: StrictCount | None = Field(default=None, description="Turns sent to be processed.")
    tokens_per_day: StrictCount | None = Field(
        default=None,
        description="Tokens that extraction and answers take of the language model: once used up, neither works.",
    )


class Settings(BaseSettings):
    """The service's configuration; the defaults use the embedded database and the embedded embedder."""

    model_config = SettingsConfigDict(env_prefix="TM_", extra="ignore", frozen=True, hide_input_in_errors=True)

    database_url: SecretStr | None = Field(
        default=None,
        description="Postgres 16+ with pgvector 0.8+; if unset, an embedded server is started.",
    )
    migration_database_url: SecretStr | None = Field(
        default=None, description="Owner login for migrations, when TM_DATABASE_URL is a lesser role."
    )
    direct_database_url: SecretStr | None = Field(
        default=None,
        description="Postgres itself, when a pooler stands before, for the connections that jobs and the owner need.",
    )
    replica_database_url: SecretStr | None = Field(
        default=None, description="A streaming replica, which answers questions as long as it is reachable."
    )
    replica_wait: PositiveFloat = Field(
        default=1.0,
        description="Seconds that a question with a `Memory-Position` waits for the replica; then the primary answers.",
    )
    database_pooler: Literal["none", "session", "transaction"] = Field(
        default="none", description="What stands between TM_DATABASE_URL and Postgres: a pooler in which mode."
    )
    auto_migrate: bool = Field(default=True, description="Upgrade the schema at start.")
    data_dir: Path | None = Field(default=None, description="The data directory of the embedded database.")
    resident_mb: Annotated[int, Field(ge=0)] = Field(
        default=256,
        description="Megabytes in which each process keeps the scopes last asked about; 0: none, all is read by SQL.",
    )
    database_pool_size: PositiveInt = 10
    database_pool_timeout: PositiveFloat = Field(default=10.0, description="Seconds to wait for a connection.")
    database_start_timeout: PositiveFloat = Field(
        default=30.0, description="Seconds to wait at start for a database that is starting or has no free connection."
    )
    statement_timeout: PositiveFloat = Field(default=30.0, description="Seconds a statement may run.")
    clock_skew_seconds: PositiveFloat = Field(
        default=2.0,
        description="Seconds between this machine's clock and the database's from which /readyz reports it; writes are "
        "ordered by the database's.",
    )

    host: str = "127.0.0.1"
    port: int = Field(default=8700, ge=0, le=65535)
    web_workers: PositiveInt = Field(
        default=1, description="Processes that serve HTTP on one port; TM_DATABASE_POOL_SIZE is shared out among them."
    )
    bootstrap_key: SecretStr | None = Field(
        default=None, description="A known API key for the first tenant, for scripts."
    )
    operator_key: SecretStr | None = Field(default=None, description="The key that manages tenants.")
    cors_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Origins of web pages that may call the API from a browser, as JSON; `*` is any."
    )
    tenant_limits: Annotated[Limits | None, NoDecode] = Field(
        default=None, description="Limits of each tenant that has none of its own, as JSON."
    )
    key_limits: Annotated[Limits | None, NoDecode] = Field(
        default=None, description="Limits of each key that has none of its own, as JSON."
    )
    max_body_bytes: PositiveInt = 8 * 1024 * 1024
    request_concurrency: PositiveInt = Field(
        default=8, description="Requests in work at once, in one process; eight times as many that wait for a model."
    )
    tenant_request_concurrency: PositiveInt = Field(
        default=1,
        description="Those of one tenant while others ask too; more where requests wait for an embedding server.",
    )
    request_queue: PositiveInt = Field(default=256, description="Requests that may wait for their turn.")
    tenant_request_queue: PositiveInt = Field(
        default=64, description="Those of one tenant; a quarter where its queue does not empty."
    )
    request_deadline: PositiveFloat = Field(
        default=60.0, description="Seconds a request may take, if it waits for no model and no upload."
    )
    connections: PositiveInt = Field(default=2_000, description="Connections that may be open.")
    connection_timeout: PositiveFloat = Field(
        default=15.0,
        description="Seconds until a connection is closed on which a request does not come, or its answer is not read; "
        "four times as long for an upload that stops.",
    )
    pre_stop_delay: float = Field(
        default=0.0,
        ge=0,
        allow_inf_nan=False,
        description="Seconds to go on serving after SIGTERM while /readyz says 503: longer than balancers look.",
    )
    shutdown_grace: PositiveFloat = Field(default=15.0, description="Seconds to finish open requests.")

    mcp_default_user: str | None = Field(
        default=None,
        max_length=200,
        description="The user of MCP calls that name nobody; if unset, these are refused.",
    )

    public_url: str | None = Field(
        default=None,
        description="Address by which clients reach the service, such as https://memory.example.com.",
    )
    oauth: bool = Field(default=False, description="Let MCP clients connect to /mcp by OAuth, as docs/mcp.md says.")
    oidc_issuer: str | None = Field(
        default=None, description="Issuer of JWTs that /mcp accepts, such as https://login.example.com."
    )
    oidc_audience: str | None = Field(
        default=None, description="The audience that these must name; by default the address of /mcp."
    )
    oidc_tenant: str | None = Field(default=None, description="The tenant of these JWTs, if no claim says it: ten_...")
    oidc_tenant_claim: str = Field(default="tenant", description="The claim with the tenant: ten_...")
    oidc_user_claim: str = Field(default="sub", description="The claim with the id of the user.")

    embedding_provider: Literal["wordllama", "openai", "fastembed"] = Field(
        default="wordllama",
        description="`fastembed` runs TM_EMBEDDING_MODEL in this process: pip install 'typed-memory[local]'.",
    )
    embedding_base_url: str = "http://127.0.0.1:11434/v1"
    embedding_model: str | None = None
    embedding_dimensions: PositiveInt | None = None
    embedding_request_dimensions: bool = Field(
        default=False, description="Send TM_EMBEDDING_DIMENSIONS to the provider."
    )
    embedding_document_prefix: str | None = Field(
        default=None, description="What the model wants before each stored text, such as `passage: `."
    )
    embedding_query_prefix: str | None = Field(default=None, description="What it wants before each question.")
    embedding_api_key: SecretStr | None = None
    embedding_batch_size: PositiveInt = 64
    embedding_timeout: PositiveFloat = Field(default=10.0, description="Seconds for one request.")
    embedding_deadline: PositiveFloat = Field(default=30.0, description="Seconds for all attempts together.")
    embedding_attempts: PositiveInt = 4

    rerank_provider: Literal["none", "cohere", "tei", "fastembed"] = Field(
        default="none",
        description="The format of a reranker's `/rerank`: Cohere's, also of Jina and vLLM, or TEI's; or `fastembed`, "
        "which runs TM_RERANK_MODEL in this process.",
    )
    rerank_candidates: PositiveInt = Field(
        default=30, description="Most matches that `fastembed` reads for a question; the others come after them."
    )
    models_dir: Path | None = Field(
        default=None, description="The folder of the models of `fastembed`, by default its own cache."
    )
    rerank_base_url: str | None = None
    rerank_model: str | None = None
    rerank_api_key: SecretStr | None = None
    rerank_deadline: PositiveFloat = Field(default=1.0, description="Seconds that a question waits for it.")
    rerank_batch_size: PositiveInt = Field(default=32, description="Texts in one request.")

    llm_provider: Literal["rules", "openai", "anthropic"] = "rules"
    llm_base_url: str | None = None
    llm_model: str | None = None
    llm_api_key: SecretStr | None = None
    llm_timeout: PositiveFloat = Field(default=60.0, description="Seconds for one request.")
    llm_deadline: PositiveFloat = Field(
        default=180.0, description="Seconds for a turn: all requests, attempts and the repair together."
    )
    judge_deadline: PositiveFloat = Field(
        default=1.0,
        description="Seconds that a typed write waits for the model to say whether two memories or names are the same.",
    )
    llm_attempts: PositiveInt = 4
    llm_concurrency: PositiveInt = Field(default=8, description="Concurrent requests.")
    llm_max_tokens: PositiveInt = Field(default=8192, description="Most tokens of one answer, reasoning included.")
    llm_fallback_provider: Literal["none", "openai", "anthropic"] = Field(
        default="none", description="A second language model, asked where the first gives no answer or refuses."
    )
    llm_fallback_base_url: str | None = None
    llm_fallback_model: str | None = None
    llm_fallback_api_key: SecretStr | None = None
    llm_sweep: int = Field(default=1, ge=1, le=9, description="Number of answers a turn, at rising temperatures.")
    llm_window: int = Field(
        default=4, ge=1, le=16, description="Most turns of a session, sent together, that one request extracts from."
    )
    llm_batch: bool = Field(
        default=False,
        description="Allow `mode=batch` for turns: extraction by the provider's batch endpoint, within a day and at "
        "half the price; with TM_LLM_PROVIDER=openai.",
    )
    llm_batch_poll: PositiveFloat = Field(default=60.0, description="Seconds between looks at a batch.")
    llm_input_price: float = Field(default=0.0, ge=0, allow_inf_nan=False, description="Price of 1M input tokens.")
    llm_output_price: float = Field(
        default=0.0, ge=0, allow_inf_nan=False, description="Price of a million output tokens."
    )

    rewrite_deadline: float = Field(
        default=0.8,
        ge=0,
        allow_inf_nan=False,
        description="Seconds that an unspecific question waits for the model to put it in other words; 0: never.",
    )

    keep_episodes: bool = Field(
        default=True,
        description="Keep each turn that passes the prefilter as an episodic memory too; if false, only those whose "
        "extraction failed.",
    )

    hype: bool = Field(
        default=True, description="Also index facts, preferences, relations and events by hypothetical questions."
    )

    worker: Literal["embedded", "off"] = Field(
        default="embedded", description="Process background jobs in `serve`; if off, run `typed-memory worker`."
    )
    worker_concurrency: int = Field(default=8, ge=2, description="Concurrent jobs of one worker.")
    worker_tenant_concurrency: PositiveInt = Field(
        default=4, description="Concurrent jobs of one tenant in all workers; must be equal for all."
    )
    worker_patience: PositiveFloat = Field(
        default=15.0, description="Seconds without a heartbeat after which a worker's jobs go to another."
    )
    worker_grace: PositiveFloat = Field(
        default=8.0, description="Seconds that jobs have to finish when the worker is stopped."
    )
    worker_metrics_port: int | None = Field(
        default=None, ge=0, le=65535, description="Port of `typed-memory worker` for metrics; if unset, none."
    )
    worker_schedules: Annotated[Mapping[str, str], NoDecode] = Field(
        default={},
        description="Schedules of workers as JSON: names to cron expressions in UTC, or to off; others have defaults.",
    )
    forgotten_days: NonNegativeFloat = Field(default=30.0, description="Days before a forgotten memory is deleted.")
    job_attempts: PositiveInt = Field(default=5, description="Attempts of a job after transient failures.")
    job_retry_seconds: PositiveFloat = Field(
        default=5.0, description="Seconds before the second attempt; each further one waits four times as long."
    )
    job_keep_days: PositiveFloat = Field(default=30.0, description="Days before finished jobs are removed.")
    queue_slow_seconds: PositiveFloat = Field(
        default=300.0, description="Age of the oldest waiting job from which /readyz reports the queue."
    )

    webhook_timeout: PositiveFloat = Field(default=10.0, description="Seconds for a receiver of webhooks to answer.")
    webhook_private_addresses: bool = Field(
        default=False, description="Let webhooks reach private and local addresses, also over http."
    )

    secrets_keys: SecretStr | None = Field(
        default=None, description="Keys that encrypt secrets of webhooks, newest first, separated by commas."
    )

    language: str = Field(
        default="english", description="Stems and stop words of texts in none of the languages that are recognised."
    )
    access_flush_seconds: PositiveFloat = 1.0
    query_log_sample: float = Field(
        default=0.0, ge=0, le=1, allow_inf_nan=False, description="Share of the questions in the query log; 0: none."
    )
    query_log_content: bool = Field(default=False, description="Keep the words of the questions in the query log.")
    query_log_days: PositiveFloat = Field(default=7.0, description="Days before entries of the query log are removed.")
    otlp_endpoint: str | None = Field(
        default=None,
        description="OpenTelemetry collector (OTLP over HTTP, such as http://127.0.0.1:4318) for traces and metrics.",
    )
    operations_access: Literal["open", "operator", "closed"] = Field(
        default="open",
        description="Who reads /metrics, /docs, /openapi.json and the reasons of /readyz: all, the operator, nobody.",
    )
    operations_port: int | None = Field(
        default=None, ge=0, le=65535, description="Port for these instead, which answers nothing else; 0: a free one."
    )
    metrics_tenants: int = Field(
        default=0, ge=0, le=1000, description="Tenants whose requests are counted under their id in /metrics; 0: none."
    )
    log_format: Literal["json", "console"] = "json"
    log_level: LogLevel = "INFO"

    @property
    def pooler(self) -> Literal["none", "session", "transaction"]:
        """The kind of pooler before Postgres: as it is set, or as the connection string says with `pgbouncer`."""
        url = self.database_url
        says = url is not None and connection_strings.read(url.get_secret_value()).through_pgbouncer
        return "transaction" if says and self.database_pooler == "none" else self.database_pooler

    @model_validator(mode="before")
    @classmethod
    def _empty_is_unset(cls, values: dict[str, object]) -> dict[str, object]:
        return {name: value for name, value in values.items() if value != ""}

    @field_validator("cors_origins", "tenant_limits", "key_limits", "worker_schedules", mode="before")
    @classmethod
    def _from_json(cls, value: object) -> object:
        try:
            return json.loads(value) if isinstance(value, str) else value
        except ValueError:
            raise ValueError("it should be JSON") from None

    @field_validator("log_level", mode="before")
    @classmethod
    def _in_any_case(cls, value: object) -> object:
        levels = {level.lower(): level for level in get_args(LogLevel)}
        return levels.get(value.lower(), value) if isinstance(value, str) else value

    @field_validator("cors_origins")
    @classmethod
    def _origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for one in value:
            if one != "*" and not _ORIGIN.fullmatch(one):
                raise ValueError(f"{one!r} is no origin: write it as in https://app.example.com, without a path")
        return value

    @field_validator("database_url", "migration_database_url", "direct_database_url", "replica_database_url")
    @classmethod
    def _of_postgres(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None:
            connection_strings.read(value.get_secret_value())
        return value

    @field_validator("otlp_endpoint")
    @classmethod
    def _of_http(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith(("http://", "https://")):
            raise ValueError("must begin with http:// or https://, as in http://127.0.0.1:4318")
        return value

    @field_validator("public_url", "oidc_issuer")
    @classmethod
    def _address(cls, value: str | None) -> str | None:
        if value is None:
            return None
        parts = urlsplit(value)
        local = parts.scheme == "http" and parts.hostname in LOOPBACK
        plain = not (parts.query or parts.fragment or parts.username or parts.password) and value.isascii()
        if not parts.hostname or not plain or not (parts.scheme == "https" or local):
            raise ValueError("must be an https address without a query, as in https://memory.example.com")
        return value.rstrip("/")

    @field_validator("operator_key")
    @classmethod
    def _long_enough(cls, value: SecretStr | None) -> SecretStr | None:
        if value is None:
            return None
        secret = value.get_secret_value()
        printable = secret.isascii() and secret.isprintable() and " " not in secret
        if not printable or not SHORTEST_KEY <= len(secret) <= LONGEST_KEY:
            raise ValueError(f"must be {SHORTEST_KEY} to {LONGEST_KEY} printable ASCII characters, no spaces")
        return value
