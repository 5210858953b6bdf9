"""Answers in words, by a language model, and a user's profile."""

from __future__ import annotations

from app.feature import FeatureSpec
from app.features.answers import routes
from app.features.answers.profiles import Profiles
from app.features.answers.service import Answers
from app.providers.factory import Prices
from app.runtime import Runtime


def _answers(runtime: Runtime) -> Answers:
    return Answers(
        database=runtime.database,
        queries=runtime.queries,
        quotas=runtime.quotas,
        writer=runtime.models.answer_writer,
        prices=Prices.of(runtime.settings),
        clock=runtime.clock,
    )


def _profiles(runtime: Runtime) -> Profiles:
    return Profiles(database=runtime.database, types=runtime.type_book, clock=runtime.clock)


FEATURE = FeatureSpec(
    routers=lambda: (routes.router(),),
    services={Answers: _answers, Profiles: _profiles},
)
