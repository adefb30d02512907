"""A certificate authority of the tests' own."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

if TYPE_CHECKING:
    from pathlib import Path

_DAYS = 30
_SIGNS_ALONE = x509.KeyUsage(
    key_cert_sign=True,
    crl_sign=True,
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    encipher_only=None,
    decipher_only=None,
)


class Authority:
    """Signs certificates for loopback and for names that only exist behind a test's proxy."""

    def __init__(self, folder: Path, name: str = "Example Inspection CA") -> None:
        self._folder = folder
        self.certificate = folder / "ca.pem"
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name((NameOID.ORGANIZATION_NAME, "Example"), (NameOID.COMMON_NAME, name))
        made = (
            self._builder(self._name, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_SIGNS_ALONE, critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.certificate.write_bytes(made.public_bytes(Encoding.PEM))

    def server_context(self, *names: str) -> ssl.SSLContext:
        """Return the context of a server for 127.0.0.1 and further host names."""
        key = ec.generate_private_key(ec.SECP256R1())
        alternatives = [x509.IPAddress(IPv4Address("127.0.0.1")), *map(x509.DNSName, names)]
        made = (
            self._builder(_name((NameOID.COMMON_NAME, "server")), key.public_key())
            .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        both = self._folder / "server.pem"
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        # The authority's own goes along, as inspecting proxies send it: Wine knows of no other sign that it is a stranger.
        both.write_bytes(private + made.public_bytes(Encoding.PEM) + self.certificate.read_bytes())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(both)
        return context

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        begin = datetime.now(UTC) - timedelta(hours=1)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(begin)
            .not_valid_after(begin + timedelta(days=_DAYS))
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
        )


def _name(*parts: tuple[x509.ObjectIdentifier, str]) -> x509.Name:
    return x509.Name([x509.NameAttribute(kind, value) for kind, value in parts])
