"""Takes out of a report what nobody needs to see: secrets, what an address says beyond its host, the user's name."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, quote_plus, urlsplit

from amlwizard.core.diagnose.known_secrets import is_opaque
from amlwizard.core.redact import MASK, redact

if TYPE_CHECKING:
    from collections.abc import Collection

_ADDRESS: Final = re.compile(r"\b([A-Za-z][A-Za-z0-9+.-]{0,30}://)([^\s\"'<>]*)")
_QUERY: Final = re.compile(r"\?[^#]*")
_SECRET_KEY: Final = re.compile(r"password|passwd|token|secret|api_?key|credential|authorization", re.IGNORECASE)
_PRIVATE_KEY: Final = re.compile(r"(-----BEGIN [A-Z ]*PRIVATE KEY-----).*?(-----END|\Z)", re.DOTALL)
_SHORTEST_NAME: Final = 3
_LONG: Final = 8
"""From this length on a secret is taken out within other words as well."""


class Redactor:
    """Knows the secrets and the home folder of one report."""

    def __init__(self, secrets: Collection[str], home: Path) -> None:
        """Args: the secrets as they are, and the user's home folder, which is shown as ``~``."""
        escaped = {json.dumps(secret)[1:-1] for secret in secrets} | {repr(secret)[1:-1] for secret in secrets}
        known = frozenset(secrets) | escaped
        self._secrets = frozenset(secret for secret in known if len(secret) >= _LONG)
        self._words = _whole_words(known - self._secrets)
        self._homes, self._others = _home_patterns(home)

    def text(self, text: str) -> str:
        """Return a text of any kind without what nobody needs to see."""
        text = redact(text, self._secrets)
        if self._words is not None:
            text = self._words.sub(MASK, text)
        text = _PRIVATE_KEY.sub(rf"\1{MASK}\2", text)
        text = _ADDRESS.sub(lambda found: found[1] + _address(found[2]), text)
        if self._homes is not None:
            text = self._homes.sub("~", text)
        return self._others.sub(rf"\1{MASK}", text) if self._others is not None else text

    def value(self, value: Any) -> Any:
        """Return JSON values without what nobody needs to see, in keys as well."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(str(key)): self._of_key(str(key), entry) for key, entry in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(entry) for entry in value]
        return value if isinstance(value, bool | int | float) or value is None else self.text(str(value))

    def _of_key(self, key: str, value: Any) -> Any:
        return MASK if isinstance(value, str) and value and _SECRET_KEY.search(key) else self.value(value)


def host_of(address: str) -> str:
    """Return host and port of an address, and nothing else of it; a folder is shown as a folder."""
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        port = f":{parts.port}" if parts.port is not None else ""
    except ValueError:
        return "?"
    return f"{parts.hostname or parts.scheme or '?'}{port}"


def _whole_words(secrets: Collection[str]) -> re.Pattern[str] | None:
    """Return what finds short secrets, which may be ordinary words: on their own only."""
    forms = {form for secret in secrets if secret for form in (secret, quote(secret, safe=""), quote_plus(secret))}
    alternatives = "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))
    return re.compile(rf"(?<![0-9A-Za-z])(?:{alternatives})(?![0-9A-Za-z])") if forms else None


def _address(rest: str) -> str:
    """Return what follows ``://``: no query, and no part of the path that looks like a key."""
    rest = _QUERY.sub(f"?{MASK}", rest)
    return "/".join(MASK if is_opaque(part) else part for part in rest.split("/"))


def _home_patterns(home: Path) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
    """Return what finds the home folder, and the user's name as a folder of another place."""
    if home == Path(home.anchor):
        return None, None
    forms = set()
    for path in {str(home), _resolved(home)}:
        forms |= {path, path.replace("\\", "\\\\"), path.replace("\\", "/"), quote(path), quote(path.replace("\\", "/"))}
    alternatives = "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))
    homes = re.compile(rf"(?:{alternatives})(?![\w.-])")
    name = home.name
    if len(name) < _SHORTEST_NAME or name.lower() == "root":
        return homes, None
    return homes, re.compile(rf"((?:/home|/Users|/media|/mnt|[\\/]Users)[\\/]+){re.escape(name)}(?![\w.-])", re.IGNORECASE)


def _resolved(home: Path) -> str:
    try:
        return str(home.resolve())
    except OSError:
        return str(home)
