"""Licences out of wheels, which nobody vouches for."""

from __future__ import annotations

import io
import zipfile

import pytest

from amlwizard.core.bundle.wheel_facts import licence_of, spdx

HEAD = "Metadata-Version: 2.4\nName: a\nVersion: 1\n"


def wheel(metadata: str | bytes | None, *, compress: int = zipfile.ZIP_DEFLATED) -> io.RawIOBase:
    """Return a wheel as a raw file."""
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", compress) as archive:
        archive.writestr("a/__init__.py", "")
        archive.writestr("a/vendored-1.dist-info/METADATA", "License-Expression: GPL-3.0-only\n")
        if metadata is not None:
            archive.writestr("a-1.dist-info/METADATA", metadata)
    return _Raw(body.getvalue())


class _Raw(io.RawIOBase):
    def __init__(self, body: bytes) -> None:
        self._body = io.BytesIO(body)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        return self._body.readinto(buffer)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._body.seek(offset, whence)

    def tell(self) -> int:
        return self._body.tell()


@pytest.mark.parametrize(
    ("metadata", "licence"),
    [
        (f"{HEAD}License-Expression: mit OR apache-2.0\n", "MIT OR Apache-2.0"),
        (f"{HEAD}License: BSD\n", "BSD"),
        (f"{HEAD}License: UNKNOWN\nClassifier: License :: OSI Approved :: MIT License\n", "MIT License"),
        (f"{HEAD}License: {'word ' * 100}\nClassifier: License :: OSI Approved :: MIT License\n", "MIT License"),
        (f"{HEAD}Classifier: License :: OSI Approved\n", ""),
        (f"{HEAD}License: B\x1b[31mSD\n", "B[31mSD"),
        (HEAD, ""),
        (b"\xff\xfe\x00", ""),
        (None, ""),
    ],
)
def test_the_licence_of_a_wheel(metadata: str | bytes | None, licence: str) -> None:
    assert licence_of(wheel(metadata)) == licence


def test_what_is_no_wheel_has_no_licence() -> None:
    assert licence_of(_Raw(b"nothing of the kind")) == ""
    assert licence_of(_Raw(b"")) == ""


def test_what_is_left_of_a_wheel_that_lost_its_beginning_has_no_licence() -> None:
    whole = bytearray(wheel(f"{HEAD}License-Expression: MIT\n").read())
    for lost in range(1, len(whole), 7):  # its table of contents then points before its beginning
        assert licence_of(_Raw(bytes(whole[lost:]))) in {"", "MIT"}


def test_metadata_beyond_all_measure_is_not_unpacked_as_a_whole() -> None:
    metadata = f"{HEAD}License-Expression: MIT\n\n{'x' * (64 << 20)}"
    assert licence_of(wheel(metadata)) == "MIT"


def test_only_spdx_expressions_are_told_as_such() -> None:
    assert spdx("mit") == "MIT"
    assert spdx("BSD License") is None
    assert spdx("") is None
