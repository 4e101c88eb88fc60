"""Order the pages in the menu, whatever folder a page is in. No Streamlit here."""

from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
FIRST = "explorer"
STATISTICIANS = "For statisticians"
# Pages without a group stand in the row of the menu; a group is a drop-down at its end.
GROUPS = {
    "": (FIRST, "story", "privacy", "providers", "planner", "your_data", "classroom"),
    STATISTICIANS: ("convergence", "bounds", "methods", "papers", "who_sees_what"),
}
_TITLES = {"providers": "Should we join?", "planner": "How many patients?", "classroom": "Class"}


@cache
def menu() -> dict[str, list[Path]]:
    """Return the files of the pages by the group's title, in the menu's order.

    A page that GROUPS does not name follows in the row.
    """
    files = {file.parent.name: file for file in sorted(HERE.glob("*/*/page.py"))}
    result = {group: [files[name] for name in names] for group, names in GROUPS.items()}
    listed = {name for names in GROUPS.values() for name in names}
    result[""] += [files[name] for name in sorted(files.keys() - listed)]
    return result


def title(page: Path) -> str:
    """Return a page's name in the menu; page: its page.py."""
    name = page.parent.name
    return _TITLES.get(name, name.replace("_", " ").capitalize())


@cache
def titles() -> dict[str, str]:
    return {page.parent.name: title(page) for pages in menu().values() for page in pages}
