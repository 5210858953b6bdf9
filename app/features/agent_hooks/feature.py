"""The command that hosts of agents run at their events; it adds nothing to the service."""

from __future__ import annotations

from app.feature import FeatureSpec

FEATURE = FeatureSpec()
