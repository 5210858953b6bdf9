"""What one chooses among, so that two choices of one kind fill one key: Go and TypeScript, pytest and unittest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from app.english.words import word_set


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolKind:
    """A kind of choice: its words, the preference key it fills, and its name in a decision."""

    words: frozenset[str]
    domain: str
    attribute: str
    noun: str
    topic: str = "tech"


def _kind(words: str, key: str, noun: str, topic: str = "tech") -> ToolKind:
    domain, _, attribute = key.partition(".")
    chosen = frozenset(one.strip() for one in words.replace("\n", ",").split(",") if one.strip())
    return ToolKind(words=chosen, domain=domain, attribute=attribute, noun=noun, topic=topic)


KINDS: Final = (
    _kind("dark mode, light mode, dark theme, light theme, dark themes, light themes, night mode, solarized, dracula",
          "editor.theme", "theme"),
    _kind("python, typescript, javascript, go, golang, rust, java, kotlin, swift, ruby, php, c, c++, c#, scala,"
          "haskell, elixir, erlang, clojure, perl, lua, julia, dart, ocaml, zig, fortran, cobol, f#, objective-c, "
          "visual basic,"
          "matlab, r, groovy, coffeescript, elm, nim, crystal",
          "language.primary", "programming language"),
    _kind("pytest, unittest, nose, jest, vitest, mocha, jasmine, junit, testng, rspec, minitest, phpunit, cypress,"
          "playwright, selenium", "testing.framework", "test framework"),
    _kind("postgresql, postgres, mysql, mariadb, sqlite, mongodb, mongo, redis, cassandra, dynamodb, cockroachdb,"
          "couchdb, neo4j, oracle db, sql server, mssql, firestore, supabase, clickhouse, duckdb, snowflake, bigquery,"
          "elasticsearch, opensearch", "database.primary", "database"),
    _kind("fastapi, django, flask, rails, ruby on rails, laravel, spring, spring boot, express, express.js, nestjs,"
          "gin, fiber, phoenix, actix, axum, starlette, tornado, sinatra, asp.net, symfony, litestar",
          "framework.web", "web framework"),
    _kind("react, vue, vue.js, angular, svelte, sveltekit, solid, solidjs, next.js, nextjs, nuxt, ember, preact, htmx,"
          "remix, astro", "framework.frontend", "frontend framework"),
    _kind("vim, neovim, emacs, vscode, vs code, visual studio code, visual studio, intellij, pycharm, webstorm, goland,"
          "sublime, sublime text, atom, nano, cursor, zed, helix, eclipse, xcode, android studio, jetbrains, notepad++",
          "editor.choice", "editor"),
    _kind("linux, ubuntu, debian, fedora, arch, arch linux, nixos, macos, windows, windows 11, mint, linux mint",
          "os.primary", "operating system"),
    _kind("npm, yarn, pnpm, bun, pip, poetry, uv, pipenv, conda, cargo, maven, gradle, homebrew, pdm",
          "packages.manager", "package manager"),
    _kind("aws, azure, gcp, google cloud, digitalocean, heroku, hetzner, fly.io, vercel, netlify, linode",
          "cloud.provider", "cloud provider"),
    _kind("bash, zsh, fish, powershell, nushell", "shell.choice", "shell"),
    _kind("firefox, chrome, safari, edge, brave, opera, vivaldi, arc", "browser.choice", "browser"),
    _kind("tabs, spaces, tab, space, two spaces, four spaces, 2 spaces, 4 spaces, 2-space, 4-space",
          "indentation.style", "indentation"),
    _kind("black, ruff, prettier, yapf, autopep8, gofmt, eslint, biome, flake8, pylint",
          "formatting.tool", "formatter"),
    _kind("docker, podman, kubernetes, k8s, nomad, docker compose, docker swarm", "containers.tool", "container tool"),
    _kind("grpc, rest, graphql, soap, json-rpc, otlp http", "api.protocol", "protocol"),
    _kind("metric, imperial, metric units, imperial units, celsius, fahrenheit, kilometers, kilometres, miles",
          "units.system", "units", "personal"),
    _kind("coffee, tea, green tea, black tea, espresso, cappuccino, latte, matcha, herbal tea, decaf, oat milk latte",
          "drinks.choice", "drink", "food"),
    _kind("beer, wine, red wine, white wine, whisky, whiskey, gin, cider, cocktails",
          "alcohol.choice", "drink", "food"),
    _kind("mornings, evenings, afternoons, nights, early mornings", "schedule.time-of-day", "time of day", "personal"),
    _kind("email, phone, phone calls, slack, text messages, texts, sms, whatsapp, video calls, calls, in person, zoom,"
          "teams, signal, telegram, e-mail", "contact.channel", "channel", "work"),
    _kind("cosine similarity, jaccard, jaccard similarity, cosine", "similarity.measure", "similarity measure"),
    _kind("tesseract, paddleocr, easyocr", "ocr.engine", "OCR engine"),
)  # fmt: skip

BY_WORD: Final[Mapping[str, ToolKind]] = {word: kind for kind in KINDS for word in kind.words}

AMBIGUOUS: Final = word_set(
    """
    c r go rust swift ruby java julia dart elm crystal rest express spring gin phoenix fish arch edge arc brave
    signal teams black solid cursor sublime atom windows chrome opera mint nose jasmine fiber uv tab space spaces
    tabs solid remix astro cargo conda
    """
)
"""Words that mean a tool only where one is chosen, or written with a capital."""

GENERAL: Final = frozenset(
    {
        "new projects", "new project", "new work", "everything", "most things", "my projects", "coding", "programming",
        "development", "work", "my work", "all projects", "all my projects", "personal projects", "this project",
        "the project", "our project", "my project", "new code", "all new projects", "our projects", "side projects",
    }
)  # fmt: skip
"""What a choice is for, when it is for everything."""

SIZES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("short", "concise", "brief", "terse", "shorter", "succinct", "compact", "to the point"), "length"),
    **dict.fromkeys(("long", "detailed", "verbose", "in-depth", "thorough", "longer", "comprehensive"), "length"),
    **dict.fromkeys(
        ("formal", "casual", "informal", "friendly", "professional", "technical", "simple", "plain"), "style"
    ),
}
"""Adjectives that name what is chosen by themselves."""

REPLIES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("answer", "answers", "response", "responses", "reply", "replies", "messages"), "responses"),
    **dict.fromkeys(("explanation", "explanations"), "explanations"),
    **dict.fromkeys(("summary", "summaries"), "summaries"),
}
