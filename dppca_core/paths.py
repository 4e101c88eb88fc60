"""The folder of the tables, constants, recipes and results that come with the core."""

from pathlib import Path

_CORE = Path(__file__).resolve().parent
# In a wheel they are inside the package, in a checkout beside it.
DATA = next(folder for folder in (_CORE / "data", _CORE.parent / "data") if folder.is_dir())
