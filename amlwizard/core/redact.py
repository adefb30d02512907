"""Takes secrets out of text before it is shown or stored (promise P6)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

MASK = "****"


def _masked(match: re.Match[str]) -> str:
    """Return what stands before a secret, and the mask; a template would have ``re`` import something meanwhile."""
    return f"{match[1]}{MASK}"


_FORMS: tuple[tuple[tuple[str, ...], re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (("://",), re.compile(r"(://)[^\s/?#\"'<>]*(?=@)"), _masked),
    (
        ("authorization",),
        re.compile(
            r"((?:proxy-)?authorization[\"']?\s*[:=]\s*[\"']?)(?:(?:basic|bearer|token|digest|negotiate)\s+)?[^\s\"',;]+",
            re.IGNORECASE,
        ),
        _masked,
    ),
    (("bearer",), re.compile(r"\b(bearer\s+)(?=[\w.~+/=-]*[\d._~+/=-])[\w.~+/=-]{8,}", re.IGNORECASE), _masked),
    (
        ("pypi-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "akia"),
        re.compile(
            r"\bpypi-[A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{16,}|\bgithub_pat_\w{16,}|\bglpat-[\w-]{16,}"
            r"|\bxox[abprs]-[\w-]{10,}|\bAKIA[0-9A-Z]{16}\b"
        ),
        MASK,
    ),
    (
        ("token", "passw", "secret", "apikey", "api_key", "api-key", "signature", "credential", "pwd", "sig"),
        re.compile(
            r"((?:token|password|passwd|secret|api[_-]?key|signature|credential|\b(?:pwd|sig))[\"']?\s*=\s*[\"']?)"
            r"(?!=)[^\s&#\"',;]+",
            re.IGNORECASE,
        ),
        _masked,
    ),
    (
        ("token", "passw", "secret"),
        re.compile(r"((?:\b|_)(?:password|passwd|token|secret)[\"']?:\s*[\"'])[^\"']+", re.IGNORECASE),
        _masked,
    ),
)
"""Each with words, in lower case, without any of which it cannot be found: that is seen much faster in a long line."""


def redact(text: str, secrets: Collection[str] = ()) -> str:
    """Return the text without what looks like a secret, and without the given ones (percent-encoded ones included)."""
    if secrets and (pattern := _pattern(frozenset(secrets))) is not None:
        text = pattern.sub(MASK, text)
    folded = text.casefold()
    for words, form, replacement in _FORMS:
        for word in words:  # every line of every tool comes here, and ``any`` of a generator takes three times as long
            if word in folded:
                text = form.sub(replacement, text)
                break
    return text


@lru_cache(maxsize=8)
def _pattern(secrets: frozenset[str]) -> re.Pattern[str] | None:
    """Short secrets count as whole words only, or they would eat ordinary text."""
    forms = {
        form for secret in secrets if secret for form in (secret, quote(secret, safe=""), quote(secret), quote_plus(secret))
    }
    parts = []
    for form in sorted(forms, key=len, reverse=True):
        word = re.escape(form)
        parts.append(word if len(form) >= 4 else rf"(?<![0-9A-Za-z]){word}(?![0-9A-Za-z])")
    return re.compile("|".join(parts)) if parts else None
