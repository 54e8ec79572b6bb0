"""A client of server.py: `client.py ADDRESS BYTES [SECONDS]` waits, downloads, and prints how long that took, in s."""

import socket
import sys
import time

address, size, *wait = sys.argv[1:]
time.sleep(float(wait[0]) if wait else 0)
began = time.monotonic()
received = 0
with socket.create_connection((address, 8000)) as connection:
    connection.sendall(f"{size}\n".encode())
    while content := connection.recv(65536):
        received += len(content)
print(f"{time.monotonic() - began:.6f}")
if received != int(size):
    sys.exit(f"{received} bytes instead of {size}")
