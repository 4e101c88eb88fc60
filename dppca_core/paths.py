"""The folder of the tables, constants, recipes and results that come with the core."""

from pathlib import Path

_CORE = Path(__file__).resolve().parent
# A wheel holds the folder inside the package, a checkout beside it.
DATA = next(folder for folder in (_CORE / "data", _CORE.parent / "data") if folder.is_dir())
