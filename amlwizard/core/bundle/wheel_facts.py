"""What a wheel says of itself: its licence, out of the METADATA in it."""

from __future__ import annotations

import zipfile
import zlib
from typing import IO, TYPE_CHECKING, Final, cast

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.metadata import parse_email

from amlwizard.core.bundle.container import LimitedReader, TooMuchError

if TYPE_CHECKING:
    import io

    from packaging.metadata import RawMetadata

_LIMIT: Final = 4 * 1024 * 1024
_ONE_LINE: Final = 120
_CLASSIFIER: Final = "License :: "
_BROKEN: Final = (zipfile.BadZipFile, zlib.error, ValueError, EOFError, NotImplementedError, RuntimeError, TooMuchError)


def licence_of(wheel: io.RawIOBase) -> str:
    """Return a wheel's licence: an SPDX expression where it gives one, else its own words, else nothing."""
    try:
        with zipfile.ZipFile(cast("IO[bytes]", LimitedReader(wheel))) as archive:
            names = [name for name in archive.namelist() if name.count("/") == 1 and name.endswith(".dist-info/METADATA")]
            if len(names) != 1:
                return ""
            with archive.open(names[0]) as stream:
                return licence_in(stream.read(_LIMIT))
    except _BROKEN:
        return ""


def licence_in(content: bytes) -> str:
    """Return the licence that METADATA gives, as ``licence_of`` does."""
    metadata, _ = parse_email(content)
    return _clean(_licence(metadata))


def spdx(licence: str) -> str | None:
    """Return a licence as an SPDX expression, None where it is none."""
    try:
        return canonicalize_license_expression(licence) if licence else None
    except InvalidLicenseExpression:
        return None


def _licence(metadata: RawMetadata) -> str:
    expression = metadata.get("license_expression")
    if expression:
        return spdx(expression) or expression
    words = (metadata.get("license") or "").strip()
    if words and len(words) <= _ONE_LINE and "\n" not in words and words.upper() != "UNKNOWN":
        return words
    named = [line.rpartition(" :: ")[2] for line in metadata.get("classifiers", []) if line.startswith(_CLASSIFIER)]
    return ", ".join(sorted(set(named) - {"OSI Approved"}))


def _clean(words: str) -> str:
    return "".join(sign for sign in words if sign.isprintable())
