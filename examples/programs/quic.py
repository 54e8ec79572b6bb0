"""A download by QUIC with aioquic: quic.py serve, quic.py fetch HOST BYTES. The client prints as JSON how long it took."""

import asyncio
import datetime
import json
import ssl
import sys
import tempfile
import time
from pathlib import Path

from aioquic.asyncio import connect, serve
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.logger import QuicFileLogger
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

PORT = 4433


def certified(configuration: QuicConfiguration) -> None:
    """Gives a server a certificate that it has signed itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "server")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now)
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder, "certificate.pem"), Path(folder, "key.pem")
        files[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        files[1].write_bytes(secret)
        configuration.load_cert_chain(*files)


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Sends as many bytes as the request says."""
    writer.write(bytes(int(await reader.readline())))
    writer.write_eof()


async def server() -> None:
    """Serves for ever."""
    configuration = QuicConfiguration(is_client=False, congestion_control_algorithm="cubic")
    certified(configuration)
    tasks: set[asyncio.Task[None]] = set()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.ensure_future(answer(reader, writer)))

    await serve("0.0.0.0", PORT, configuration=configuration, stream_handler=begin)
    await asyncio.Event().wait()


async def client(host: str, size: int) -> None:
    """Fetches so many bytes."""
    logger = QuicFileLogger(".")
    configuration = QuicConfiguration(is_client=True, verify_mode=ssl.CERT_NONE, quic_logger=logger)
    begun = time.monotonic()
    async with connect(host, PORT, configuration=configuration) as connection:
        connected = time.monotonic()
        reader, writer = await connection.create_stream()
        writer.write(b"%d\n" % size)
        received = len(await reader.read())
        ended = time.monotonic()
    print(json.dumps({"bytes": received, "handshake_ms": (connected - begun) * 1000, "transfer_ms": (ended - connected) * 1000}))


if sys.argv[1] == "serve":
    asyncio.run(server())
else:
    asyncio.run(client(sys.argv[2], int(sys.argv[3])))
