"""Chains of certificates as the interop runner makes them: the leaf of a long one has many names, so that it is long itself."""

import datetime
import random
import string
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

#: The runner's certs.sh adds to the leaf of a chain so many names of so many letters.
NAMES, LETTERS = 20, 250


def chain(folder: Path, length: int) -> None:
    """Writes cert.pem, so many certificates from the server's on, and the server's priv.key."""
    now = datetime.datetime.now(datetime.UTC)
    issuer, issuers = _named("root"), ec.generate_private_key(ec.SECP256R1())
    found: list[bytes] = []
    for place in range(1, length + 1):
        is_leaf = place == length
        subject, key = _named("leaf" if is_leaf else f"intermediate {place}"), ec.generate_private_key(ec.SECP256R1())
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer)
            .public_key(key.public_key())
            .serial_number(place)
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=10))
        )
        if is_leaf:
            others = ["".join(random.choices(string.ascii_letters, k=LETTERS)) for _ in range(NAMES if length > 1 else 0)]
            names = x509.SubjectAlternativeName([x509.DNSName(each) for each in ("server", *others)])
            builder = builder.add_extension(names, critical=False)
        else:
            builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        found.insert(0, builder.sign(issuers, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        issuer, issuers = subject, key
    (folder / "cert.pem").write_bytes(b"".join(found))
    encoding = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "priv.key").write_bytes(issuers.private_bytes(*encoding))


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.ORGANIZATION_NAME, f"interop {name}")])
