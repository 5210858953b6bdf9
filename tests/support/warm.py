"""What a service makes once in a process, made on import: processes forked from one that imported it have it."""

from __future__ import annotations

from app.main import create_app
from app.providers.wordllama import WordllamaEmbedder
from app.settings import Settings

create_app(Settings.model_construct())
WordllamaEmbedder()
