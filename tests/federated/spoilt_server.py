"""The ServerApp, except that its clock runs out once only hospitals that died have not answered.

No test then waits for an answer that cannot come, and none needs a fast machine.
"""

import time
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace

from flwr.app import Context, Message
from flwr.serverapp import Grid, ServerApp

from examples.flower import apps

DIED = "died"  # written by spoilt_worker, which is not imported: it would start a ClientApp
server_app = ServerApp()


class HastyGrid:
    """Pass messages on, and count the hospitals that died among those that have not answered."""

    def __init__(self, grid: Grid, folder: Path) -> None:
        self._grid, self._folder, self._skipped = grid, folder, 0.0

    def __getattr__(self, name: str) -> object:
        return getattr(self._grid, name)

    def pull_messages(self, message_ids: Iterable[str]) -> list[Message]:
        asked = list(message_ids)
        replies = list(self._grid.pull_messages(asked))
        if len(asked) - len(replies) == len(list(self._folder.glob(f"*/{DIED}"))) > 0:
            self._skipped = 1e6
        return replies

    def seconds(self) -> float:
        return time.perf_counter() + self._skipped


@server_app.main()
def work(grid: Grid, context: Context) -> None:
    agenda = Path(str(context.run_config["agenda"]))
    hasty = HastyGrid(grid, agenda.parents[1])
    apps.time = SimpleNamespace(perf_counter=hasty.seconds, monotonic=time.monotonic, sleep=time.sleep)
    apps.work(hasty, context)
