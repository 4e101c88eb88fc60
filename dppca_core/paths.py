"""The folder of the tables, constants, recipes and results that come with the core."""

import json
from pathlib import Path
from typing import Any

_CORE = Path(__file__).resolve().parent
# A wheel holds the folder inside the package, a checkout beside it.
DATA = next(folder for folder in (_CORE / "data", _CORE.parent / "data") if folder.is_dir())


def stored_text(name: str) -> str:
    """Return the text of a file in the data folder, such as "papers/ge.yaml"."""
    return (DATA / name).read_text(encoding="utf-8")


def stored_json(name: str) -> Any:
    return json.loads(stored_text(name))
