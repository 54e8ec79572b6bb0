"""A web server: /N is N bytes."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    """Answers with as many bytes as the path says."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answers one request."""
        size = int(self.path[1:])
        self.send_response(200)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        self.wfile.write(bytes(size))

    def log_message(self, *_: object) -> None:
        """Says nothing."""


ThreadingHTTPServer(("", 8080), Handler).serve_forever()
