"""Order the pages as one learns them, in three groups, whatever folder a page is in. No Streamlit here."""

from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
FIRST = "explorer"
GROUPS = {
    "Start": (FIRST, "privacy", "story"),
    "Explore": ("convergence", "bounds", "methods", "papers"),
    "Hospitals": ("providers", "differences", "planner", "your_data"),
}
_GROUP_OF_SECTION = {"explore": "Explore", "hospitals": "Hospitals", "learn": "Start"}  # for any other page


@cache
def menu() -> dict[str, list[Path]]:
    """Return the files of the pages by the group's title, in the menu's order.

    A page that GROUPS does not name follows in the group of its section, the folder that holds its folder.
    """
    files = {file.parent.name: file for file in sorted(HERE.glob("*/*/page.py"))}
    result = {group: [files[name] for name in names] for group, names in GROUPS.items()}
    listed = {name for names in GROUPS.values() for name in names}
    for name in sorted(files.keys() - listed):
        section = files[name].parents[1].name
        result[_GROUP_OF_SECTION[section]].append(files[name])
    return result


def title(page: Path) -> str:
    """Return a page's name in the menu, made of the folder's name; page: its page.py."""
    return page.parent.name.replace("_", " ").capitalize()


@cache
def titles() -> dict[str, str]:
    """Return the menu's word for each page, by its name in links."""
    return {page.parent.name: title(page) for pages in menu().values() for page in pages}
