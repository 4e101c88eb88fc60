"""Count the bytes that pass between a hospital and the server, in both directions, encrypted as they are."""

import socket
import threading
from contextlib import suppress


class ByteCounter:
    """Pass all from `self.port`, a free one of 127.0.0.1, to `port` and back. `up` and `down` count bytes."""

    def __init__(self, port: int) -> None:
        self.up = self.down = 0
        self._target_port, self._lock = port, threading.Lock()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Stop accepting connections; open ones end with their two sides."""
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):  # the counter was closed
            while True:
                near, _ = self._listening.accept()
                try:
                    far = socket.create_connection(("127.0.0.1", self._target_port))
                except OSError:
                    near.close()
                    continue
                for pair in ((near, far, "up"), (far, near, "down")):
                    threading.Thread(target=self._pass, args=pair, daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, way: str) -> None:
        with source, suppress(OSError):  # one side went away
            while data := source.recv(65536):
                with self._lock:
                    setattr(self, way, getattr(self, way) + len(data))
                sink.sendall(data)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)
