"""A certificate authority of the tests' own, made by the ``openssl`` program."""

from __future__ import annotations

import ssl
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class Authority:
    """Signs certificates for loopback and for names that only exist behind a test's proxy."""

    def __init__(self, folder: Path, name: str = "Example Inspection CA") -> None:
        self._folder = folder
        self.certificate = folder / "ca.pem"
        self._key = folder / "ca.key"
        _openssl(
            *("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30"),
            *("-subj", f"/O=Example/CN={name}", "-keyout", str(self._key), "-out", str(self.certificate)),
            *("-addext", "keyUsage=critical,keyCertSign,cRLSign"),
        )

    def server_context(self, *names: str) -> ssl.SSLContext:
        """Return the context of a server for 127.0.0.1 and further host names."""
        request, key, certificate, extra = (self._folder / f"server.{kind}" for kind in ("csr", "key", "pem", "ext"))
        alternatives = ",".join(["IP:127.0.0.1", *(f"DNS:{name}" for name in names)])
        extra.write_text(f"subjectAltName={alternatives}\nauthorityKeyIdentifier=keyid\nsubjectKeyIdentifier=hash\n")
        _openssl(
            *("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=server"),
            *("-keyout", str(key), "-out", str(request)),
        )
        _openssl(
            *("x509", "-req", "-in", str(request), "-CA", str(self.certificate), "-CAkey", str(self._key), "-days", "30"),
            *("-CAcreateserial", "-extfile", str(extra), "-out", str(certificate)),
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        return context


def _openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)
