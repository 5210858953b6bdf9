"""The service as an MCP server."""

from __future__ import annotations

from app.feature import FeatureSpec

FEATURE = FeatureSpec()
