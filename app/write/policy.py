"""What a tenant decides about its own write pipeline."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from app.write.prefilter import PrefilterPolicy


class TenantPolicy(BaseModel):
    """A tenant's own settings; what is left out is as the service has it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    prefilter: PrefilterPolicy = Field(default_factory=PrefilterPolicy)
    keep_episodes: bool | None = Field(
        default=None,
        strict=True,
        description="Keep each turn that passes the prefilter as an episodic memory too; "
        "by default, as TM_KEEP_EPISODES says.",
    )
