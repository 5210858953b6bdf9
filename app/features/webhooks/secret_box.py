"""Encryption of secrets that the database holds and that must be read again, such as those that sign webhooks.

The keys are those of `TM_SECRETS_KEYS`, newest first: the first one seals, all of them open. Without keys secrets are
stored in clear.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from cryptography.fernet import Fernet, InvalidToken

from app.errors import ConfigurationError

_SEALED = "fernet:"


class UnreadableSecret(Exception):
    """A sealed secret that none of the keys opens."""


@dataclass(frozen=True, slots=True)
class SecretBox:
    """Seals and opens secrets."""

    keys: Sequence[Fernet] = ()

    @classmethod
    def of(cls, keys: str | None) -> SecretBox:
        """Return the box of keys that are separated by commas; raise ConfigurationError for what is no key."""
        try:
            return cls([Fernet(one.strip()) for one in (keys or "").split(",") if one.strip()])
        except ValueError:
            raise ConfigurationError(
                "TM_SECRETS_KEYS: each key is 32 bytes in URL-safe base64; make one with "
                "openssl rand -base64 32 | tr '+/' '-_'"
            ) from None

    def seal(self, secret: str) -> str:
        """Return what is stored of a secret."""
        return _SEALED + self.keys[0].encrypt(secret.encode()).decode() if self.keys else secret

    def open(self, stored: str) -> str:
        """Return the secret; raise UnreadableSecret."""
        if not stored.startswith(_SEALED):
            return stored
        for key in self.keys:
            with suppress(InvalidToken):
                return key.decrypt(stored.removeprefix(_SEALED)).decode()
        raise UnreadableSecret(
            "its secret cannot be read: no key of TM_SECRETS_KEYS opens it; add the key or rotate the secret"
        )

    def is_current(self, stored: str) -> bool:
        """Tell whether a secret is stored as it would be now; without keys, everything is."""
        if not self.keys:
            return True
        if not stored.startswith(_SEALED):
            return False
        with suppress(InvalidToken):
            self.keys[0].decrypt(stored.removeprefix(_SEALED))
            return True
        return False
