"""Certificate files that a user, a setting or a variable names: what holds no certificate is refused at the start."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Final

from amlwizard.core.errors import RefusedError
from amlwizard.core.plain_files import read_plain

if TYPE_CHECKING:
    from pathlib import Path

_CERTIFICATE: Final = re.compile(
    rb"-----BEGIN (?P<kind>(?:TRUSTED |X509 )?CERTIFICATE)-----\s(?P<body>[A-Za-z0-9+/=\s]+)-----END (?P=kind)-----"
)
_SEQUENCE: Final = b"\x30"
"""The first byte of a certificate in DER form."""


def refuse_without_certificate(path: Path, place: str) -> None:
    """Make sure that a file holds certificates in PEM form, without the cost of loading them all.

    Args:
        path: the file.
        place: the option, variable or file that named it.

    Raises:
        RefusedError: it cannot be read or holds none (``AML_CA_FILE_INVALID``).
    """
    try:
        content = read_plain(path)
    except OSError as error:
        raise RefusedError("AML_CA_FILE_INVALID", path=str(path), place=place) from error
    if not any(_is_der(block["body"]) for block in _CERTIFICATE.finditer(content)):
        raise RefusedError("AML_CA_FILE_INVALID", path=str(path), place=place)


def _is_der(body: bytes) -> bool:
    try:
        return base64.b64decode(body).startswith(_SEQUENCE)
    except ValueError:
        return False
