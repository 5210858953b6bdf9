"""OAuth for the MCP endpoint, which the application mounts with it."""

from __future__ import annotations

from app.feature import FeatureSpec

FEATURE = FeatureSpec()
