"""Keys for a federation on one machine: made anew for each, valid for a day, nothing fetched.

An authority signs the SuperLink's certificate for 127.0.0.1. Each hospital has a key of its own, whose public
half the SuperLink registers, and a secret between its SuperNode and its worker. In earnest each party makes
its own with openssl and ssh-keygen, as docs/federated.md shows.
"""

import secrets
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

_VALID = timedelta(days=1)
_PEM = serialization.Encoding.PEM
_PLAIN = serialization.NoEncryption()


def make(folder: Path, hospitals: int) -> None:
    """Write ca.crt, server.crt, server.key; for each hospital i node-i, node-i.pub and worker-i.secret."""
    folder.mkdir(parents=True, mode=0o700)
    authority, server = (ec.generate_private_key(ec.SECP384R1()) for _ in range(2))
    loopback = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    signed = _certificate("authority", authority, authority, x509.BasicConstraints(ca=True, path_length=0))
    (folder / "ca.crt").write_bytes(signed)
    signed = _certificate("SuperLink", server, authority, x509.BasicConstraints(False, None), loopback)
    (folder / "server.crt").write_bytes(signed)
    private = server.private_bytes(_PEM, serialization.PrivateFormat.PKCS8, _PLAIN)
    _private(folder / "server.key", private)
    for i in range(hospitals):
        key = ec.generate_private_key(ec.SECP384R1())
        _private(folder / f"node-{i}", key.private_bytes(_PEM, serialization.PrivateFormat.OpenSSH, _PLAIN))
        public = key.public_key().public_bytes(
            serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
        )
        (folder / f"node-{i}.pub").write_bytes(public)
        _private(folder / f"worker-{i}.secret", secrets.token_hex(32).encode())


def _private(path: Path, content: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(content)


def _certificate(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    signer: ec.EllipticCurvePrivateKey,
    *extensions: x509.ExtensionType,
) -> bytes:
    def named(whom: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, whom)])

    today = datetime.now(UTC)
    built = (
        x509.CertificateBuilder(
            named("authority"), named(name), key.public_key(), x509.random_serial_number()
        )
        .not_valid_before(today - timedelta(minutes=5))
        .not_valid_after(today + _VALID)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), False)
    )
    for extension in extensions:
        built = built.add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
    return built.sign(signer, hashes.SHA256()).public_bytes(_PEM)
