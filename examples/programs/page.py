"""A web server with one page, of forty pictures, whose script says when it was painted first and when it was loaded."""

import random
import struct
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PICTURES = 40

#: Pixels of a picture's side; of three bytes each, that are chance and cannot be compressed.
SIDE = 64

PAGE = (
    "<!doctype html><title>Pictures</title><body>"
    + "".join(f'<img src="{number}.png" width="40">' for number in range(PICTURES))
    + """<script>
onload = () => {
    const times = { load_ms: performance.now() };
    for (const paint of performance.getEntriesByType("paint"))
        times[paint.name.replaceAll("-", "_") + "_ms"] = paint.startTime;
    document.body.replaceChildren(JSON.stringify(times));
};
</script>"""
)


def chunk(kind: bytes, content: bytes) -> bytes:
    """A chunk of a PNG file (PNG specification, section 5.3)."""
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def picture(number: int) -> bytes:
    """A picture in PNG, 8 bits a colour."""
    chance = random.Random(number)
    rows = b"".join(b"\0" + chance.randbytes(3 * SIDE) for _ in range(SIDE))
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


FILES = {"/": ("text/html", PAGE.encode())} | {f"/{number}.png": ("image/png", picture(number)) for number in range(PICTURES)}


class Handler(BaseHTTPRequestHandler):
    """Answers with the page or a picture."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answers one request."""
        if self.path not in FILES:
            self.send_error(404)
            return
        kind, content = FILES[self.path]
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


ThreadingHTTPServer(("", 8080), Handler).serve_forever()
