"""A federation on this machine's loopback: a SuperLink and, for each hospital, a SuperNode and its worker.

TLS, authenticated nodes, telemetry and update checks off, nothing installed at run time, nothing written
outside `folder`. What was started is stopped at the end of the `with` block, however that is left.
"""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Self

from examples.flower import keys
from examples.flower.byte_counter import ByteCounter

START_SECONDS = 60.0
STOP_SECONDS = 5.0
POLL_SECONDS = 0.1
SHIPPED = Path(__file__).parent / "shipped"
_BIN = Path(sys.executable).parent
_ROOT = Path(__file__).parents[2]


class Federation:
    """Start and stop the processes of the server and of `hospitals`, which maps names to hospital.json files.

    worker: the module that answers for a hospital. Raises RuntimeError, with the end of a log, where a
    process does not start.
    """

    def __init__(
        self,
        folder: Path,
        hospitals: Mapping[str, Path],
        worker: str = "examples.flower.worker",
    ) -> None:
        self.folder, self.hospitals, self.worker = folder, dict(hospitals), worker
        self._counters: dict[str, ByteCounter] = {}
        self._running: dict[str, list[subprocess.Popen[bytes]]] = {}
        self._keys = folder / "keys"
        self._port = _free_port()

    def __enter__(self) -> Self:
        try:
            keys.make(self._keys, len(self.hospitals))
            self._configure()
            self._start_server()
            self._register()
            for name in self.hospitals:
                self.start(name)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self.stop(*self.hospitals)
        self.stop("server")
        for counter in self._counters.values():
            counter.close()

    def start(self, name: str) -> None:
        """Start a hospital's two processes, for the first time or after `stop`."""
        if name not in self._counters:
            self._counters[name] = ByteCounter(self._port)
        number, port = list(self.hospitals).index(name), _free_port()
        secret = str(self._keys / f"worker-{number}.secret")
        options = {
            "--superlink": f"127.0.0.1:{self._counters[name].port}",
            "--root-certificates": str(self._keys / "ca.crt"),
            "--auth-supernode-private-key": str(self._keys / f"node-{number}"),
            "--isolation": "process",
            "--superexec-auth-secret-file": secret,
            "--host": "127.0.0.1",
            "--port": str(port),
            "--node-config": f"hospital={json.dumps(str(self.hospitals[name]))}",
        }
        node = ["flower-supernode", *chain.from_iterable(options.items())]
        worker = [sys.executable, "-m", self.worker, f"127.0.0.1:{port}", secret]
        self._running[name] = [
            self._launch(node, f"{name} SuperNode"),
            self._launch(worker, f"{name} worker"),
        ]

    def stop(self, *names: str) -> None:
        """Stop hospitals, or the "server"; what is not gone in time is killed."""
        running = [process for name in names for process in self._running.pop(name, [])]
        for process in running:
            process.terminate()
        for process in running:
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def submit(self, agenda: Path, shipped: Path = SHIPPED) -> None:
        """Have the ServerApp work through an agenda; returns as soon as it has begun."""
        command = ["flwr", "run", str(shipped), "link", "--run-config", f"agenda={json.dumps(str(agenda))}"]
        self._finish(self._launch(command, "submit"), "submit")

    def bytes_passed(self) -> tuple[float, float]:
        """Return bytes that a hospital has sent and received so far, on average over hospitals."""
        up = sum(counter.up for counter in self._counters.values())
        down = sum(counter.down for counter in self._counters.values())
        return up / len(self._counters), down / len(self._counters)

    def log(self, name: str, lines: int = 20) -> str:
        """Return the end of a log: of "server", "submit", "NAME SuperNode" or "NAME worker"."""
        text = (self.folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")
        return "\n".join(text.splitlines()[-lines:])

    def _configure(self) -> None:
        address, certificate = f"127.0.0.1:{self._port}", str(self._keys / "ca.crt")
        link = f"address = {json.dumps(address)}\nroot-certificates = {json.dumps(certificate)}\n"
        (self.folder / "flower").mkdir()
        (self.folder / "flower" / "config.toml").write_text(f"[superlink.link]\n{link}", encoding="utf-8")

    def _start_server(self) -> None:
        files = {"ca-certfile": "ca.crt", "certfile": "server.crt", "keyfile": "server.key"}
        command = ["flower-superlink", "--host", "127.0.0.1", "--port", str(self._port)]
        for option, name in files.items():
            command += [f"--ssl-{option}", str(self._keys / name)]
        command += ["--enable-supernode-auth", "--disable-runtime-dependency-installation"]
        process = self._launch(command, "server")
        self._running["server"] = [process]
        until = time.monotonic() + START_SECONDS
        while not _listening(self._port):
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"the SuperLink did not start:\n{self.log('server')}")
            time.sleep(POLL_SECONDS)

    def _register(self) -> None:
        started = {}
        for i, name in enumerate(self.hospitals):
            key = str(self._keys / f"node-{i}.pub")
            command = ["flwr", "supernode", "register", key, "link", "--name", name]
            started[f"register {i}"] = self._launch(command, f"register {i}")
        for log, process in started.items():
            self._finish(process, log)

    def _finish(self, process: subprocess.Popen[bytes], log: str) -> None:
        try:
            failed = process.wait(START_SECONDS) != 0
        except subprocess.TimeoutExpired:
            failed = True
        finally:
            process.kill()
            process.wait()
        if failed:
            raise RuntimeError(f"{log} failed:\n{self.log(log)}")

    def _launch(self, command: Sequence[str], log: str) -> subprocess.Popen[bytes]:
        settings = {
            "FLWR_HOME": str(self.folder / "flower"),
            "FLWR_TELEMETRY_ENABLED": "0",
            "FLWR_DISABLE_UPDATE_CHECK": "1",
            "FLWR_SUPEREXEC_TASK_POLL_INTERVAL": "0.25",
            "PATH": f"{_BIN}{os.pathsep}{os.environ.get('PATH', '')}",
            "PYTHONPATH": str(_ROOT),
            "NO_PROXY": "127.0.0.1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        program = command[0] if Path(command[0]).is_absolute() else str(_BIN / command[0])
        with (self.folder / f"{log}.log").open("ab") as out:
            return subprocess.Popen(
                [program, *command[1:]],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=os.environ | settings,
                start_new_session=True,  # Ctrl-C reaches this process alone, which then stops them in order
            )


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
