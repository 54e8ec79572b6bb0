"""A server of downloads: a client sends a number, and gets so many bytes."""

import socketserver


class Download(socketserver.StreamRequestHandler):
    """Answers one request."""

    def handle(self) -> None:
        """Reads the number, and sends the bytes."""
        self.wfile.write(bytes(int(self.rfile.readline())))


class Server(socketserver.ThreadingTCPServer):
    """Answers many at once, at port 8000."""

    allow_reuse_address = daemon_threads = True


with Server(("", 8000), Download) as server:
    server.serve_forever()
