"""Stand in for a store of cells, for tests of the engine: all its cells are quick."""

from typing import Any


class StandIn:
    def __init__(self) -> None:
        self.took: dict[Any, float] = {}

    def seconds(self, *cell: object) -> float:
        return 0.0

    def located(self, *cell: object) -> tuple["StandIn", tuple[object, ...]]:
        return self, cell
