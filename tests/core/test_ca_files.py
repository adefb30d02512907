"""What counts as a certificate file."""

from __future__ import annotations

import ssl
import subprocess
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.ca_files import refuse_without_certificate
from amlwizard.core.catalogue import LANGUAGES, error_texts
from amlwizard.core.errors import RefusedError
from tests.support.certificates import Authority

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return Authority(tmp_path_factory.mktemp("authority")).certificate.read_bytes()


@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
def test_certificates_in_pem_form_are_accepted(tmp_path: Path, pem: bytes, ends: bytes) -> None:
    file = tmp_path / "company.pem"
    lines = [b"# Example CA", b"subject=CN = x", *pem.splitlines(), b"", *pem.splitlines(), b""]
    file.write_bytes(ends.join(lines))
    refuse_without_certificate(file, "--ca-file")


@pytest.mark.posix
def test_what_openssl_makes_of_it_is_accepted_too(tmp_path: Path, pem: bytes) -> None:
    plain, trusted = tmp_path / "plain.pem", tmp_path / "trusted.pem"
    plain.write_bytes(pem)
    subprocess.run(["openssl", "x509", "-in", plain, "-trustout", "-out", trusted], check=True, capture_output=True)
    assert b"TRUSTED" in trusted.read_bytes()
    refuse_without_certificate(trusted, "--ca-file")


def test_anything_else_is_refused_with_its_place(tmp_path: Path, pem: bytes) -> None:
    file = tmp_path / "company.pem"
    key = b"-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----\n"
    nonsense = pem.splitlines()[0] + b"\nAAAA\n" + pem.splitlines()[-1]
    for content in (b"", b"<html>Sign in</html>", ssl.PEM_cert_to_DER_cert(pem.decode()), key, nonsense, pem[:-40]):
        file.write_bytes(content)
        with pytest.raises(RefusedError) as caught:
            refuse_without_certificate(file, "SSL_CERT_FILE")
        for language in LANGUAGES:
            message, hint = error_texts(caught.value, language)
            assert str(file) in message
            assert "SSL_CERT_FILE" in message
            assert hint
