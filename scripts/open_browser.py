"""Open an address in the default browser once a server listens there; give up after a minute."""

import socket
import sys
import time
import webbrowser
from urllib.parse import urlsplit

address = sys.argv[1]
parts = urlsplit(address)
for _ in range(120):
    time.sleep(0.5)
    try:
        socket.create_connection((parts.hostname, parts.port)).close()
    except OSError:
        continue
    webbrowser.open(address)
    break
