"""The service as an MCP server, whose endpoint the application mounts."""

from __future__ import annotations

from app.feature import FeatureSpec

FEATURE = FeatureSpec()
